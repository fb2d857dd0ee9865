//! The time that a number of threads take for a number of operations: one sample.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    contestants::Contestant,
    heap::Numbers,
    preempt::Pauser,
    stage::{Crew, Stage},
};

/// Disturbances during the measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weather {
    /// By the system only.
    Calm,
    /// Again and again one of those that run is paused, for so long. Between two pauses lies a time
    /// that is random, and a quarter of it on average.
    Pauses(Duration),
}

/// Result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sample {
    /// All operations were done in this time.
    Done(Duration),
    /// The time was up before all operations were done.
    TimeUp {
        /// Number of operations done.
        done: u64,
    },
}

/// Takes a sample, for no longer than `limit`. An error if threads do not come back.
pub fn measure(
    contestant: &Contestant,
    crew: &Crew,
    weather: Weather,
    limit: Duration,
    seed: u64,
) -> Result<Sample, String> {
    let mut sample = Err("it did not begin".to_string());
    contestant.run(crew, &mut |stage| {
        let end = Instant::now() + limit;
        let all_done = match weather {
            Weather::Calm => Ok(stage.wait_for_all(end)),
            Weather::Pauses(pause) => with_pauses(stage, end, pause, Numbers::new(seed)),
        };
        sample = all_done.map(|all_done| match all_done {
            true => Sample::Done(stage.wall()),
            false => Sample::TimeUp { done: stage.done() },
        });
    })?;
    sample
}

/// Pauses threads until all is done, or until `end`. Whether all is.
fn with_pauses(
    stage: &Stage,
    end: Instant,
    pause: Duration,
    mut numbers: Numbers,
) -> Result<bool, String> {
    let mut pauser = Pauser::new().map_err(|error| format!("threads cannot be paused: {error}"))?;
    let longest_gap = pause.as_micros().max(2) as u64 / 2;
    loop {
        let gap = Duration::from_micros(numbers.below(longest_gap));
        let next = (Instant::now() + gap).min(end);
        if stage.wait_for_all(next) {
            return Ok(true);
        }
        if Instant::now() >= end {
            return Ok(false);
        }
        let Some(id) = running(stage, &pauser, &mut numbers) else { continue };
        let paused = pauser.pause(id);
        // Nothing else meanwhile: the stage's lock, or the allocator's, may be the thread's that is paused.
        thread::sleep(pause.min(end.saturating_duration_since(Instant::now())));
        drop(paused);
    }
}

/// One of those that have a core, or had one a moment ago: who has none has none to lose.
fn running(stage: &Stage, pauser: &Pauser, numbers: &mut Numbers) -> Option<u32> {
    const MOMENT: Duration = Duration::from_micros(100);
    let times = || {
        let ids = stage.ids().into_iter().flatten();
        ids.filter_map(|id| Some((id, pauser.ran_for(id)?))).collect::<Vec<_>>()
    };
    let before = times();
    thread::sleep(MOMENT);
    let mut now = times();
    now.retain(|(id, time)| before.iter().any(|(one, before)| one == id && before < time));
    let index = numbers.below(now.len().max(1) as u64) as usize;
    now.get(index).map(|(id, _)| *id)
}
