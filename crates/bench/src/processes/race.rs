//! Runs processes on one semaphore for some time, and returns one sample.
//!
//! The warm-up begins when each process has made a passage, and the measuring time begins after the warm-up. A passage
//! counts if it begins during the measuring time.

use std::{
    io,
    sync::atomic::{
        AtomicU8, AtomicU64, AtomicUsize,
        Ordering::{Relaxed, SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use super::{contestants::ProcessSemaphore, folder, memory::Shared, process::Process};
use crate::common::{Padded, Sample, Semaphore, work::Work};

/// The maximum number of processes.
pub const MOST: usize = 64;

/// The load on the semaphore.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Number of processes.
    pub processes: usize,
    /// Number of slots.
    pub k: usize,
    /// Work inside the critical section.
    pub inside: Work,
    /// Work outside the critical section.
    pub outside: Work,
    /// Measuring time.
    pub time: Duration,
}

const WARMING: u8 = 0;
const MEASURING: u8 = 1;
const OVER: u8 = 2;

/// Memory that the processes share with their parent.
struct SharedState {
    /// ORDERING: Relaxed, because the phase only decides whether a passage counts and when a process stops. No other
    /// access depends on it.
    phase: Padded<AtomicU8>,
    running: Padded<AtomicUsize>,
    passages: [Padded<AtomicU64>; MOST],
}

/// Runs the processes.
pub fn run<S: ProcessSemaphore>(load: &Load) -> Result<Sample, String> {
    assert!(load.processes <= MOST, "at most {MOST} processes");
    let failed = |error: io::Error| error.to_string();
    let folder = folder().map_err(failed)?;
    let semaphore = S::make(load.k, folder.path())?;
    let state = Shared::new(SharedState {
        phase: Padded(AtomicU8::new(WARMING)),
        running: Padded::default(),
        passages: [const { Padded(AtomicU64::new(0)) }; MOST],
    });
    let state = state.map_err(failed)?;
    let process = |number| Process::new(|| passages(&semaphore.join(), load, number, &state));
    let processes: Vec<Process> =
        (0..load.processes).map(process).collect::<io::Result<_>>().map_err(failed)?;
    wait_for_all(&state, load.processes)?;
    thread::sleep((load.time / 5).min(Duration::from_millis(20)));
    let begun = Instant::now();
    state.phase.0.store(MEASURING, Relaxed);
    thread::sleep(load.time);
    state.phase.0.store(OVER, Relaxed);
    let wall = begun.elapsed();
    processes.into_iter().try_for_each(Process::wait)?;
    let passages = state.passages[..load.processes].iter();
    let passages = passages.map(|count| count.0.load(SeqCst)).collect();
    Ok(Sample { wall, passages, waits: None })
}

/// Waits until each process has made a passage. Fails if this takes more than 60 s.
fn wait_for_all(state: &SharedState, count: usize) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs(60);
    while state.running.0.load(SeqCst) < count {
        if Instant::now() > end {
            return Err("a process made no passage within 60 s".into());
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Makes passages until the time is over.
fn passages<S: Semaphore>(semaphore: &S, load: &Load, number: usize, state: &SharedState) {
    drop(semaphore.enter(number));
    state.running.0.fetch_add(1, SeqCst);
    let mut counted = 0;
    loop {
        let now = state.phase.0.load(Relaxed);
        if now == OVER {
            break;
        }
        let guard = semaphore.enter(number);
        load.inside.run();
        drop(guard);
        load.outside.run();
        counted += u64::from(now == MEASURING);
    }
    state.passages[number].0.store(counted, SeqCst);
}
