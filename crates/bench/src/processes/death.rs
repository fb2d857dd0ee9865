//! From the death of a holder to its successor being in.
//!
//! Some processes hold all slots and some wait. Again and again one who is in is killed by SIGKILL; the
//! time is taken just before, and by the successor as soon as it is in. Then another one comes to wait.

use std::{
    collections::VecDeque,
    io,
    path::Path,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use hallpass_processes::{HallDir, SharedHall};
use serde::Serialize;

use super::{clock::now, folder, memory::Shared, process::Process};

/// Maximum number of processes at once.
const MOST: usize = 64;
const NAME: &str = "death";

/// The processes that are present.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Crowd {
    /// Number of slots, all of them held.
    pub k: usize,
    /// Number of waiters.
    pub waiting: usize,
}

/// All that are measured.
pub const CROWDS: [Crowd; 4] = [
    Crowd { k: 1, waiting: 1 },
    Crowd { k: 1, waiting: 20 },
    Crowd { k: 4, waiting: 1 },
    Crowd { k: 4, waiting: 20 },
];

/// Result, in nanoseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Successions {
    /// The processes that were present.
    #[serde(flatten)]
    pub crowd: Crowd,
    /// Number of killed holders.
    pub kills: usize,
    /// Half of the successors were in after so long.
    pub median: u64,
    /// Of a hundred, ninety-nine.
    pub p99: u64,
    /// All.
    pub max: u64,
}

/// When each process got in; 0 if it did not.
type Entered = [AtomicU64; MOST];

/// Those who are there.
struct Scene<'a> {
    folder: &'a Path,
    crowd: Crowd,
    entered: &'a Entered,
    hall: SharedHall,
    inside: VecDeque<(usize, Process)>,
    waiting: Vec<(usize, Process)>,
}

/// Kills this many holders, one after the other.
pub fn measure(crowd: Crowd, kills: usize) -> Result<Successions, String> {
    let failed = |error: io::Error| error.to_string();
    let folder = folder().map_err(failed)?;
    let entered: Shared<Entered> =
        Shared::new([const { AtomicU64::new(0) }; MOST]).map_err(failed)?;
    let hall = HallDir::at(folder.path()).open(NAME, crowd.k).map_err(|error| error.to_string())?;
    let (inside, waiting) = (VecDeque::new(), Vec::new());
    let (folder, entered) = (folder.path(), &*entered);
    let mut scene = Scene { folder, crowd, entered, hall, inside, waiting };
    for index in 0..crowd.k {
        scene.comes(index)?;
        scene.successor()?;
    }
    for index in crowd.k..crowd.k + crowd.waiting {
        scene.comes(index)?;
    }
    let times: Result<Vec<u64>, String> = (0..kills).map(|_| scene.succession()).collect();
    let mut times = times?;
    times.sort_unstable();
    let at = |part: f64| times[((times.len() as f64 * part) as usize).min(times.len() - 1)];
    Ok(Successions { crowd, kills, median: at(0.5), p99: at(0.99), max: at(1.0) })
}

impl Scene<'_> {
    /// Another process comes, and is waited for until it waits, if it has to.
    fn comes(&mut self, index: usize) -> Result<(), String> {
        self.entered[index].store(0, SeqCst);
        let process = Process::new(|| {
            let hall = HallDir::at(self.folder).open(NAME, self.crowd.k).expect("it was made");
            let _pass = hall.acquire().expect("it is not closed");
            self.entered[index].store(now(), SeqCst);
            loop {
                thread::park();
            }
        });
        self.waiting.push((index, process.map_err(|error| error.to_string())?));
        let full = self.inside.len() == self.crowd.k;
        until(|| !full || self.hall.waiting() == self.waiting.len())?;
        // It is in the queue; now it goes to sleep.
        thread::sleep(Duration::from_micros(300));
        Ok(())
    }

    /// One of those who waited is in.
    fn successor(&mut self) -> Result<u64, String> {
        let is_in = |(index, _): &(usize, Process)| self.entered[*index].load(SeqCst) != 0;
        until(|| self.waiting.iter().any(is_in))?;
        let place = self.waiting.iter().position(is_in).expect("it was seen");
        let (index, process) = self.waiting.remove(place);
        self.inside.push_back((index, process));
        Ok(self.entered[index].load(SeqCst))
    }

    /// Kills the holder that entered first. Returns the time until its successor is in.
    fn succession(&mut self) -> Result<u64, String> {
        let (index, process) = self.inside.pop_front().expect("somebody is in");
        let killed = now();
        process.kill();
        let entered = self.successor()?;
        drop(process);
        self.comes(index)?;
        Ok(entered.saturating_sub(killed))
    }
}

/// Waits for a limited time, without taking a core from the measured processes.
fn until(f: impl Fn() -> bool) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs(20);
    while !f() {
        if Instant::now() > end {
            return Err("a slot was not handed on".into());
        }
        thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}
