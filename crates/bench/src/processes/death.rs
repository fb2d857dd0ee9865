//! Measures the time from the kill of a holder until its successor has the slot.
//!
//! Some processes hold all slots, and others wait. The benchmark repeatedly kills a holder by SIGKILL. It takes
//! the time just before the kill, and the successor takes the time as soon as it has the slot. Then a new
//! process joins the queue.

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

/// The measured crowds.
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
    /// The median over all kills.
    pub median: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The maximum.
    pub max: u64,
}

/// The time at which each process got a slot; 0 if it has none.
type Entered = [AtomicU64; MOST];

/// The hall and the processes that use it.
struct Experiment<'a> {
    folder: &'a Path,
    crowd: Crowd,
    entered: &'a Entered,
    hall: SharedHall,
    holders: VecDeque<(usize, Process)>,
    waiting: Vec<(usize, Process)>,
}

/// Kills this many holders, one after the other.
pub fn measure(crowd: Crowd, kills: usize) -> Result<Successions, String> {
    let failed = |error: io::Error| error.to_string();
    let folder = folder().map_err(failed)?;
    let entered: Shared<Entered> =
        Shared::new([const { AtomicU64::new(0) }; MOST]).map_err(failed)?;
    let hall = HallDir::at(folder.path()).open(NAME, crowd.k).map_err(|error| error.to_string())?;
    let (holders, waiting) = (VecDeque::new(), Vec::new());
    let (folder, entered) = (folder.path(), &*entered);
    let mut experiment = Experiment { folder, crowd, entered, hall, holders, waiting };
    for index in 0..crowd.k {
        experiment.start(index)?;
        experiment.successor()?;
    }
    for index in crowd.k..crowd.k + crowd.waiting {
        experiment.start(index)?;
    }
    let times: Result<Vec<u64>, String> = (0..kills).map(|_| experiment.succession()).collect();
    let mut times = times?;
    times.sort_unstable();
    let at = |part: f64| times[((times.len() as f64 * part) as usize).min(times.len() - 1)];
    Ok(Successions { crowd, kills, median: at(0.5), p99: at(0.99), max: at(1.0) })
}

impl Experiment<'_> {
    /// Starts a process. If all slots are held, returns when the process waits.
    fn start(&mut self, index: usize) -> Result<(), String> {
        self.entered[index].store(0, SeqCst);
        let process = Process::new(|| {
            let hall =
                HallDir::at(self.folder).open(NAME, self.crowd.k).expect("the hall was created");
            let _pass = hall.acquire().expect("nobody closes the hall");
            self.entered[index].store(now(), SeqCst);
            loop {
                thread::park();
            }
        });
        self.waiting.push((index, process.map_err(|error| error.to_string())?));
        let full = self.holders.len() == self.crowd.k;
        let joined = || !full || self.hall.waiting() == self.waiting.len();
        until(joined, "a new process did not join the queue")?;
        // The process has joined the queue. Give it time to go to sleep.
        thread::sleep(Duration::from_micros(300));
        Ok(())
    }

    /// Waits until a waiter has got a slot. Returns the time at which the waiter got it.
    fn successor(&mut self) -> Result<u64, String> {
        let has_slot = |(index, _): &(usize, Process)| self.entered[*index].load(SeqCst) != 0;
        until(|| self.waiting.iter().any(has_slot), "no waiter got a slot")?;
        let position = self.waiting.iter().position(has_slot).expect("a waiter has got a slot");
        let (index, process) = self.waiting.remove(position);
        self.holders.push_back((index, process));
        Ok(self.entered[index].load(SeqCst))
    }

    /// Kills the holder that entered first. Returns the time until its successor has the slot.
    fn succession(&mut self) -> Result<u64, String> {
        let (index, process) = self.holders.pop_front().expect("all slots are held");
        let killed = now();
        process.kill();
        let entered = self.successor()?;
        drop(process);
        self.start(index)?;
        Ok(entered.saturating_sub(killed))
    }
}

/// Waits until `f` holds. Fails with the reason `otherwise` after 20 s. Sleeps in between, so that the measured
/// processes have the cores.
fn until(f: impl Fn() -> bool, otherwise: &str) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs(20);
    while !f() {
        if Instant::now() > end {
            return Err(format!("{otherwise} within 20 s"));
        }
        thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}
