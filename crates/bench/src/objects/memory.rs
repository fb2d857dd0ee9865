//! Memory in use while some threads are stopped in an operation and others continue for a long time.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{contestants::Contestant, stage::Crew};

/// The number of parts into which the operations are divided.
pub const PARTS: u64 = 10;

/// The memory in use during one run.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    /// The name of the contestant.
    pub contestant: &'static str,
    /// Number of threads that were stopped in an operation.
    pub stopped: usize,
    /// Memory in use at the beginning and after each tenth of the operations, in KiB; fewer values if the run
    /// did not finish.
    pub resident_kib: Vec<u64>,
    /// `true` if all operations were done.
    pub finished: bool,
}

impl Memory {
    /// Returns the growth after the first tenth, in KiB. The first tenth allocates what the run needs.
    pub fn growth_kib(&self) -> Option<i64> {
        let [_, first, .., last] = self.resident_kib[..] else { return None };
        Some(last as i64 - first as i64)
    }
}

/// Returns the resident memory of this process in KiB, if the system reports it.
pub fn resident_kib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Watches a crew until it has completed `operations` operations. Ends early if no thread completes an operation within
/// `limit`, or if `stop` is set.
///
/// # Errors
/// Returns a message if threads do not return from the contestant.
pub fn measure(
    contestant: &Contestant,
    crew: &Crew,
    operations: u64,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Memory, String> {
    const LOOK: Duration = Duration::from_millis(2);
    let (mut seen, mut finished) = (Vec::new(), false);
    contestant.run(crew, &mut |stage| {
        if !stage.stop_victims(crew.victims, limit) {
            return;
        }
        let first = stage.done();
        let (mut before, mut progress) = (0, Instant::now());
        seen.push(resident_kib().unwrap_or(0));
        // ORDERING: Relaxed, because no other access depends on the flag.
        while !finished && progress.elapsed() < limit && !stop.load(Relaxed) {
            thread::sleep(LOOK);
            let done = stage.done() - first;
            if done > before {
                (before, progress) = (done, Instant::now());
            }
            while seen.len() as u64 * operations <= done * PARTS && seen.len() as u64 <= PARTS {
                seen.push(resident_kib().unwrap_or(0));
            }
            finished = seen.len() as u64 > PARTS;
        }
    })?;
    let (contestant, stopped) = (contestant.name, crew.victims);
    Ok(Memory { contestant, stopped, resident_kib: seen, finished })
}
