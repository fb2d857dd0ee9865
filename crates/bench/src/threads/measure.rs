//! Rounds over workloads and contestants, and medians over rounds.

use std::time::Duration;

use super::{
    contestants::Contestant,
    race::{Load, Observe},
    report::{P99, PERCENTILES, Report, Row},
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
}

impl Plan {
    fn rounds(&self) -> Rounds<'_, Workload, Contestant> {
        Rounds { count: self.rounds, workloads: &self.workloads, contestants: &self.contestants }
    }

    /// Returns the number of [steps](Steps) that [`run`](Plan::run) makes.
    pub fn steps(&self) -> usize {
        self.rounds().steps()
    }

    /// Measures step by step, and returns the report.
    pub fn run(&self, steps: &mut Steps<'_>) -> Report {
        let title = |workload: &Workload, contestant: &Contestant| {
            format!("{} {}", workload.name(), contestant.name)
        };
        let sample =
            |workload: &Workload, contestant: &Contestant| self.sample(workload, contestant);
        let samples = self.rounds().run(steps, title, sample);
        // If waits are measured, rank by their 99th percentile, in which contestants differ most. Otherwise rank
        // by time.
        let rank = |row: &Row| row.waits.map_or(row.ns, |waits| waits[P99]);
        Report {
            complete: !steps.stopped(),
            rounds: self.rounds,
            time_ms: self.time_ms,
            cores: cores(),
            workloads: self.rounds().outcomes(samples, |one| one.name, row, rank),
        }
    }

    fn sample(&self, workload: &Workload, contestant: &Contestant) -> Result<Sample, String> {
        let load = |time| Load {
            threads: workload.threads,
            k: workload.k,
            inside: Work::of_nanos(workload.inside),
            outside: Work::of_nanos(workload.outside),
            time,
        };
        if workload.group.is_for_tasks() {
            let time = Duration::from_millis(self.time_ms);
            return contestant.run_tasks(workload.group, workload.k, time);
        }
        let observe = if workload.measures_waits() { Observe::Waits } else { Observe::Nothing };
        let time = Duration::from_millis(self.time_ms);
        long_enough(time, |time| contestant.run(&load(time), observe), Sample::nanos)
    }
}

/// Returns the medians, or `None` if at least half of the rounds had no passage.
fn row(contestant: &Contestant, samples: &[Sample]) -> Option<Row> {
    let (ns, spread) = time_and_spread(samples.iter().map(Sample::nanos))?;
    let fairness = median(samples.iter().filter_map(Sample::fairness).collect())?;
    let wait = |percentile: f64| {
        let of =
            |sample: &Sample| Some(sample.waits.as_ref()?.value_at_percentile(percentile) as f64);
        median(samples.iter().filter_map(of).collect())
    };
    let mut waits = Some([0.0; PERCENTILES.len()]);
    for (index, (_, percentile)) in PERCENTILES.into_iter().enumerate() {
        waits = waits.zip(wait(percentile)).map(|(mut waits, wait)| {
            waits[index] = wait;
            waits
        });
    }
    let Contestant { name, camp, order, .. } = *contestant;
    Some(Row { contestant: name, camp, order, ns, spread, fairness, waits })
}
