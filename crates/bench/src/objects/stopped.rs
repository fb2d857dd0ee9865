//! Measures throughput while some threads are stopped in an operation, and returns one sample.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{contestants::Contestant, stage::Crew};

/// The warm-up takes the measured time divided by this number.
const WARM_UP: u32 = 5;
/// If no thread completes an operation within this time, all threads count as blocked.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

/// Returns the operations per second of the threads that are not stopped, or `None` if the victims did not
/// stop within `limit` although others continued.
///
/// # Errors
/// Returns a message if threads do not return from the contestant.
pub fn measure(
    contestant: &Contestant,
    crew: &Crew,
    time: Duration,
    limit: Duration,
) -> Result<Option<f64>, String> {
    let mut rate = None;
    contestant.run(crew, &mut |stage| {
        thread::sleep(time / WARM_UP);
        let all_stopped = crew.victims == 0 || stage.stop_victims(crew.victims, limit);
        // Each thread may have completed one operation before the measurement and count it only now.
        let uncounted = if crew.victims > 0 { crew.threads as u64 } else { 0 };
        let (begun, before) = (Instant::now(), stage.done());
        let mut done = 0;
        // On a busy machine, the threads may have no core for a short time.
        while done == 0 && begun.elapsed() < LONG_ENOUGH.max(time) {
            thread::sleep(time);
            done = Some(stage.done() - before).filter(|done| *done > uncounted).unwrap_or(0);
        }
        // If all threads are blocked, no further victim can reach the point at which it stops.
        if all_stopped || done == 0 {
            rate = Some(done as f64 / begun.elapsed().as_secs_f64());
        }
    })?;
    Ok(rate)
}
