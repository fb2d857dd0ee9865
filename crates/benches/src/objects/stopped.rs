//! What others get done while some are stopped inside their operation: one sample.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{contestants::Contestant, stage::Crew};

/// How long threads run before anything counts, as a part of the time that is measured.
const WARM_UP: u32 = 5;

/// Operations in a second of the threads that are not stopped; none if those who were to be stopped did
/// not come to it within `limit`, though others went on. An error if threads do not come back.
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
        let (begun, before) = (Instant::now(), stage.done());
        thread::sleep(time);
        let done = stage.done() - before;
        // One operation each may have been done before, and not yet counted.
        let done = if done <= crew.threads as u64 { 0 } else { done };
        // If nobody goes on, others cannot stop inside either.
        if all_stopped || done == 0 {
            rate = Some(done as f64 / begun.elapsed().as_secs_f64());
        }
    })?;
    Ok(rate)
}
