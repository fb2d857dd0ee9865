//! Rounds over workloads and contestants, and medians over rounds.
//!
//! A round goes through all workloads, and in each through all contestants. What disturbs the
//! machine for some seconds then hits neighbours alike, and few of a contestant's rounds.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use crate::{
    contestants::Contestant,
    race::{Load, Sample, Watch},
    report::{LeftOut, Outcome, P99, PERCENTILES, Report, Row},
    work::Work,
    workloads::Workload,
};

/// What to measure.
#[derive(Debug)]
pub struct Plan {
    /// The workloads.
    pub workloads: Vec<Workload>,
    /// The contestants.
    pub contestants: Vec<Contestant>,
    /// How long each runs in each round, in milliseconds.
    pub time_ms: u64,
    /// How many rounds.
    pub rounds: usize,
}

/// What is about to run.
#[derive(Debug)]
pub struct Step<'a> {
    /// The round, from 0.
    pub round: usize,
    /// The workload.
    pub workload: &'a Workload,
    /// The contestant.
    pub contestant: &'a Contestant,
}

/// Who makes no passage in this time does not make any.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

/// What a contestant did in a workload, round by round.
type Samples = Result<Vec<Sample>, String>;

impl Plan {
    /// How many steps it has.
    pub fn steps(&self) -> usize {
        self.rounds * self.workloads.len() * self.contestants.len()
    }

    /// Measures, until `stop` says so, and tells before each step.
    pub fn run(&self, stop: &AtomicBool, mut begins: impl FnMut(Step<'_>)) -> Report {
        let none: Vec<Samples> = self.contestants.iter().map(|_| Ok(Vec::new())).collect();
        let mut samples = vec![none; self.workloads.len()];
        let mut complete = true;
        'rounds: for round in 0..self.rounds {
            for (workload, samples) in self.workloads.iter().zip(&mut samples) {
                for (contestant, samples) in self.contestants.iter().zip(samples) {
                    // ORDERING: the flag orders nothing else.
                    if stop.load(Relaxed) {
                        complete = false;
                        break 'rounds;
                    }
                    begins(Step { round, workload, contestant });
                    self.take(workload, contestant, samples);
                }
            }
        }
        let outcome = |(workload, samples): (&Workload, Vec<Samples>)| {
            outcome(*workload, self.contestants.iter().zip(samples))
        };
        Report {
            complete,
            rounds: self.rounds,
            time_ms: self.time_ms,
            cores: thread::available_parallelism().map_or(1, |cores| cores.get()),
            workloads: self.workloads.iter().zip(samples).map(outcome).collect(),
        }
    }

    /// Adds a sample; who cannot run once is not asked again.
    fn take(&self, workload: &Workload, contestant: &Contestant, samples: &mut Samples) {
        let Ok(so_far) = samples else { return };
        let load = |time| Load {
            threads: workload.threads,
            k: workload.k,
            inside: Work::of_nanos(workload.inside),
            outside: Work::of_nanos(workload.outside),
            time,
        };
        let watch = if workload.measures_waits() { Watch::Waits } else { Watch::Nothing };
        let time = Duration::from_millis(self.time_ms);
        match long_enough(time, |time| contestant.run(&load(time), watch), Sample::nanos) {
            Ok(sample) => so_far.push(sample),
            Err(why) => *samples = Err(why),
        }
    }
}

/// What `run` finds in this time; or in a longer one, if nobody made a passage: a busy machine may keep all
/// of them off the cores for a time that is short.
pub(crate) fn long_enough<S>(
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

fn outcome<'a>(
    workload: Workload,
    samples: impl Iterator<Item = (&'a Contestant, Samples)>,
) -> Outcome {
    let mut outcome = Outcome { workload, rows: Vec::new(), left_out: Vec::new() };
    for (contestant, samples) in samples {
        match made_of(samples, |samples| row(contestant, samples)) {
            Ok(row) => outcome.rows.push(row),
            Err(why) => outcome.left_out.push(LeftOut { contestant: contestant.name, why }),
        }
    }
    // Waits by the 99th percentile, which is where contestants differ; all else by time.
    let rank = |row: &Row| row.waits.map_or(row.ns, |waits| waits[P99]);
    outcome.rows.sort_by(|one, other| rank(one).total_cmp(&rank(other)));
    outcome
}

/// Medians; none if half of the rounds saw no passage.
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

/// What `row` makes of a contestant's samples, or why there is nothing to be made.
pub(crate) fn made_of<S, R>(
    samples: Result<Vec<S>, String>,
    row: impl FnOnce(&[S]) -> Option<R>,
) -> Result<R, String> {
    samples.and_then(|samples| match samples.is_empty() {
        true => Err("it did not come to that".into()),
        false => row(&samples).ok_or_else(|| "not one passage in the time".into()),
    })
}

/// The median of the times of rounds, and how far they lie from it at most, as a part of it; none if half
/// of the rounds saw no passage.
pub(crate) fn time_and_spread(nanos: impl Iterator<Item = Option<f64>>) -> Option<(f64, f64)> {
    let nanos: Vec<f64> = nanos.map(|nanos| nanos.unwrap_or(f64::INFINITY)).collect();
    let ns = median(nanos.clone()).filter(|ns| ns.is_finite())?;
    let seen = nanos.iter().filter(|nanos| nanos.is_finite());
    Some((ns, seen.map(|nanos| (nanos - ns).abs() / ns).fold(0.0, f64::max)))
}

/// The middle one, or the mean of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
        assert_eq!(median(vec![]), None);
    }
}
