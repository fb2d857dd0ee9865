//! The cost of waiting.

use std::{
    fs, io,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use hallpass_processes::HallDir;
use serde::Serialize;

use super::{folder, memory::Shared, process::Process};

const NAME: &str = "parked";

/// Resources that a waiter used.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Parked {
    /// Observation time, in milliseconds.
    pub wall_ms: u64,
    /// CPU time that the waiter used, in nanoseconds.
    pub cpu_ns: u64,
    /// Number of times that the waiter was scheduled.
    pub runs: u64,
}

/// Observes a process that waits for a slot that never becomes free.
pub fn measure(time: Duration) -> Result<Parked, String> {
    let failed = |error: io::Error| error.to_string();
    let folder = folder().map_err(failed)?;
    let arrived: Shared<AtomicU64> = Shared::new(AtomicU64::new(0)).map_err(failed)?;
    let acquire_and_park = || {
        let hall = HallDir::at(folder.path()).open(NAME, 1).expect("the hall can be created");
        arrived.fetch_add(1, SeqCst);
        let _pass = hall.acquire().expect("nobody closes the hall");
        loop {
            thread::park();
        }
    };
    let wait_for_arrivals = |count| {
        let begun = Instant::now();
        while arrived.load(SeqCst) < count {
            if begun.elapsed() > Duration::from_secs(20) {
                return Err("a process did not start within 20 s".to_string());
            }
            thread::sleep(Duration::from_millis(1));
        }
        // The process needs a moment until it has the slot or sleeps.
        thread::sleep(Duration::from_millis(200));
        Ok(())
    };
    let _holder = Process::new(acquire_and_park).map_err(failed)?;
    wait_for_arrivals(1)?;
    let waiter = Process::new(acquire_and_park).map_err(failed)?;
    wait_for_arrivals(2)?;
    let used = || {
        let text = fs::read_to_string(format!("/proc/{}/schedstat", waiter.pid()));
        let numbers = text.map_err(|error| format!("schedstat: {error}"))?;
        let numbers: Vec<u64> = numbers.split_whitespace().flat_map(str::parse).collect();
        match numbers[..] {
            [cpu, _, runs] => Ok((cpu, runs)),
            _ => Err("schedstat has an unknown format".to_string()),
        }
    };
    let before = used()?;
    thread::sleep(time);
    let after = used()?;
    let wall_ms = time.as_millis() as u64;
    Ok(Parked { wall_ms, cpu_ns: after.0 - before.0, runs: after.1 - before.1 })
}
