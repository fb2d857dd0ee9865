//! Rounds over workloads and contestants.
//!
//! Each round runs every contestant on every workload. So a disturbance of some seconds affects neighbouring
//! contestants alike, and only a few rounds of each contestant.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use serde::Serialize;

/// The steps of a measurement. A step is a part that is announced before it runs, such as one contestant on one
/// workload in one round. After a stop, no step runs.
pub struct Steps<'a> {
    stop: &'a AtomicBool,
    announce: &'a mut dyn FnMut(String),
}

impl fmt::Debug for Steps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps").field("stop", self.stop).finish_non_exhaustive()
    }
}

impl<'a> Steps<'a> {
    /// Creates steps. `announce` is called before each step, and no step runs after `stop` is set.
    pub fn new(stop: &'a AtomicBool, announce: &'a mut dyn FnMut(String)) -> Self {
        Steps { stop, announce }
    }

    /// Announces the next step. Returns `false` if it must not run.
    #[must_use]
    pub fn begin(&mut self, what: impl FnOnce() -> String) -> bool {
        let may_run = !self.stopped();
        if may_run {
            (self.announce)(what());
        }
        may_run
    }

    /// Returns `true` if the measurement was stopped.
    pub fn stopped(&self) -> bool {
        // ORDERING: Relaxed, because no other access depends on the flag.
        self.stop.load(Relaxed)
    }

    /// Returns the flag, for a long step that has to check it.
    pub(crate) fn stop_flag(&self) -> &'a AtomicBool {
        self.stop
    }
}

/// A contestant that did not run.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// Name of the contestant.
    pub contestant: &'static str,
    /// The reason why the contestant did not run.
    pub why: String,
}

/// One workload with the contestants that ran in it.
#[derive(Clone, Debug)]
pub struct Outcome<Workload, Row> {
    /// The workload that ran.
    pub workload: Workload,
    /// The contestants that ran, the best first.
    pub rows: Vec<Row>,
    /// The contestants that did not run.
    pub left_out: Vec<LeftOut>,
}

/// A contestant's samples of a workload, round by round, or the reason why it cannot run.
pub type Samples<S> = Result<Vec<S>, String>;

/// The workloads and contestants of a measurement. Each round combines every workload with every contestant.
#[derive(Debug)]
pub struct Rounds<'a, W, C> {
    /// Number of rounds.
    pub count: usize,
    /// The workloads to run in each round.
    pub workloads: &'a [W],
    /// The contestants to run in each workload.
    pub contestants: &'a [C],
}

impl<W: Copy, C> Rounds<'_, W, C> {
    /// Returns the number of steps: one for each contestant on each workload in each round.
    pub fn steps(&self) -> usize {
        self.count * self.workloads.len() * self.contestants.len()
    }

    /// Takes a sample in each step. If a contestant cannot run on a workload, it is not run there again.
    pub fn run<S: Clone>(
        &self,
        steps: &mut Steps<'_>,
        title: impl Fn(&W, &C) -> String,
        sample: impl Fn(&W, &C) -> Result<S, String>,
    ) -> Vec<Vec<Samples<S>>> {
        let none: Vec<Samples<S>> = self.contestants.iter().map(|_| Ok(Vec::new())).collect();
        let mut samples = vec![none; self.workloads.len()];
        for _ in 0..self.count {
            for (workload, samples) in self.workloads.iter().zip(&mut samples) {
                for (contestant, samples) in self.contestants.iter().zip(samples) {
                    if !steps.begin(|| title(workload, contestant)) {
                        break;
                    }
                    let Ok(so_far) = samples else { continue };
                    match sample(workload, contestant) {
                        Ok(sample) => so_far.push(sample),
                        Err(why) => *samples = Err(why),
                    }
                }
            }
        }
        samples
    }

    /// Summarises the samples of [`run`](Self::run): a row for each contestant that ran, sorted by
    /// `rank`, and the reason for each contestant that did not run.
    pub fn outcomes<S, R>(
        &self,
        samples: Vec<Vec<Samples<S>>>,
        name: impl Fn(&C) -> &'static str,
        row: impl Fn(&C, &[S]) -> Option<R>,
        rank: impl Fn(&R) -> f64,
    ) -> Vec<Outcome<W, R>> {
        let outcome = |(workload, samples): (&W, Vec<Samples<S>>)| {
            let mut outcome = Outcome { workload: *workload, rows: vec![], left_out: vec![] };
            for (contestant, samples) in self.contestants.iter().zip(samples) {
                match summarise(samples, |samples| row(contestant, samples)) {
                    Ok(row) => outcome.rows.push(row),
                    Err(why) => {
                        outcome.left_out.push(LeftOut { contestant: name(contestant), why });
                    }
                }
            }
            outcome.rows.sort_by(|one, other| rank(one).total_cmp(&rank(other)));
            outcome
        };
        self.workloads.iter().zip(samples).map(outcome).collect()
    }
}

fn summarise<S, R>(samples: Samples<S>, row: impl FnOnce(&[S]) -> Option<R>) -> Result<R, String> {
    samples.and_then(|samples| match samples.is_empty() {
        true => Err("the run was stopped before this contestant".into()),
        false => row(&samples).ok_or_else(|| "no passage within the time limit".into()),
    })
}

/// A contestant that makes no passage in a run of at least this length counts as blocked.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

/// Runs for `time`. If there was no passage, runs again for twice the time, until a run has a passage or takes at least
/// half a second. (On a busy machine, a contestant may have no core for a short time.)
pub fn long_enough<S>(
    mut time: Duration,
    run: impl Fn(Duration) -> Result<S, String>,
    nanos: impl Fn(&S) -> Option<f64>,
) -> Result<S, String> {
    loop {
        match run(time) {
            Ok(sample) if nanos(&sample).is_none() && time < LONG_ENOUGH => time *= 2,
            result => return result,
        }
    }
}
