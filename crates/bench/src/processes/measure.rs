//! Runs every contestant on every workload in several rounds, and computes medians over the rounds.

use std::time::Duration;

use super::{
    contestants::Contestant,
    death::{self, CROWDS},
    parked,
    race::Load,
    report::{Report, Row},
    workloads::Workload,
};
use crate::common::{
    Sample, cores,
    rounds::{Rounds, Steps, long_enough},
    statistics::{median, time_and_spread},
    work::Work,
};

/// A measurement to make.
#[derive(Debug)]
pub struct Plan {
    /// The workloads to run.
    pub workloads: Vec<Workload>,
    /// The contestants to measure.
    pub contestants: Vec<Contestant>,
    /// Time for which each contestant runs in each round, in milliseconds.
    pub time_ms: u64,
    /// Number of rounds.
    pub rounds: usize,
    /// Number of holders that are killed in each of the [`CROWDS`].
    pub kills: usize,
    /// Time for which a waiter is observed, in milliseconds.
    pub watch_ms: u64,
}

impl Plan {
    fn rounds(&self) -> Rounds<'_, Workload, Contestant> {
        Rounds { count: self.rounds, workloads: &self.workloads, contestants: &self.contestants }
    }

    /// Returns the number of [steps](Steps) that [`run`](Plan::run) makes.
    pub fn steps(&self) -> usize {
        self.rounds().steps() + CROWDS.len() + 1
    }

    /// Runs all measurements.
    pub fn run(&self, steps: &mut Steps<'_>) -> Result<Report, String> {
        let title = |workload: &Workload, contestant: &Contestant| {
            format!("{} {}", workload.name(), contestant.name)
        };
        let sample =
            |workload: &Workload, contestant: &Contestant| self.sample(workload, contestant);
        let samples = self.rounds().run(steps, title, sample);
        let mut report = Report {
            complete: false,
            rounds: self.rounds,
            time_ms: self.time_ms,
            cores: cores(),
            workloads: self.rounds().outcomes(samples, |one| one.name, row, |row| row.ns),
            successions: Vec::new(),
            parked: None,
        };
        for crowd in CROWDS {
            if steps.begin(|| format!("killing holders, k = {}, {} wait", crowd.k, crowd.waiting)) {
                report.successions.push(death::measure(crowd, self.kills)?);
            }
        }
        if steps.begin(|| "watching a waiter".into()) {
            report.parked = Some(parked::measure(Duration::from_millis(self.watch_ms))?);
        }
        report.complete = report.parked.is_some();
        Ok(report)
    }

    fn sample(&self, workload: &Workload, contestant: &Contestant) -> Result<Sample, String> {
        let load = |time| Load {
            processes: workload.processes,
            k: workload.k,
            inside: Work::of_nanos(workload.inside),
            outside: Work::of_nanos(workload.outside),
            time,
        };
        let time = Duration::from_millis(self.time_ms);
        long_enough(time, |time| contestant.run(&load(time)), Sample::nanos)
    }
}

/// Returns the medians, or `None` if at least half of the rounds had no passage.
fn row(contestant: &Contestant, samples: &[Sample]) -> Option<Row> {
    let (ns, spread) = time_and_spread(samples.iter().map(Sample::nanos))?;
    let fairness = median(samples.iter().filter_map(Sample::fairness).collect())?;
    let Contestant { name, order, after_death, .. } = *contestant;
    Some(Row { contestant: name, order, after_death, ns, spread, fairness })
}
