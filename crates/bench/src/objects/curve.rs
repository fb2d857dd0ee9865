//! Measures how long a number of threads take for a number of operations, and returns one sample.

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
pub enum Disturbance {
    /// Only the system interrupts threads.
    None,
    /// One running thread after another is paused for this time. The time between two pauses is random, on
    /// average a quarter of a pause.
    Pauses(Duration),
}

/// The result of one run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sample {
    /// All operations were done.
    Done {
        /// The time for all operations.
        wall: Duration,
        /// The longest operation, if operations were timed.
        longest: Option<Duration>,
    },
    /// The time limit passed before all operations were done.
    TimeUp {
        /// Number of operations done.
        done: u64,
    },
}

/// Takes a sample, for no longer than `limit`.
///
/// # Errors
/// Returns a message if threads do not return from the contestant, or cannot be paused.
pub fn measure(
    contestant: &Contestant,
    crew: &Crew,
    disturbance: Disturbance,
    limit: Duration,
    seed: u64,
) -> Result<Sample, String> {
    let mut sample = Err("the measurement did not begin".to_string());
    contestant.run(crew, &mut |stage| {
        let end = Instant::now() + limit;
        let all_done = match disturbance {
            Disturbance::None => Ok(stage.wait_for_all(end)),
            Disturbance::Pauses(pause) => with_pauses(stage, end, pause, Numbers::new(seed)),
        };
        sample = all_done.map(|all_done| match all_done {
            true => {
                Sample::Done { wall: stage.wall(), longest: crew.timed.then(|| stage.longest()) }
            }
            false => Sample::TimeUp { done: stage.done() },
        });
    })?;
    sample
}

/// Pauses threads until all operations are done, or until `end`. Returns `true` if all operations are done.
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
        stage.count_pause(id);
        let paused = pauser.pause(id);
        // Do nothing but sleep here: the paused thread may hold the lock of the stage or of the allocator.
        thread::sleep(pause.min(end.saturating_duration_since(Instant::now())));
        drop(paused);
        stage.count_pause(id);
    }
}

/// Chooses a thread that has a core, or had one a moment ago. A pause would have no effect on a thread without a
/// core.
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
