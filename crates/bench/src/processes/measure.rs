//! Rounds over workloads and contestants, and medians over rounds.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use super::{
    contestants::Contestant,
    death::{self, CROWDS},
    parked,
    race::Load,
    report::{Outcome, Report, Row},
    workloads::Workload,
};
use crate::{
    measure::{long_enough, made_of, median, time_and_spread},
    race::Sample,
    report::LeftOut,
    work::Work,
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
    /// How many holders are killed in each crowd.
    pub kills: usize,
    /// How long one who waits is watched, in milliseconds.
    pub watch_ms: u64,
}

type Samples = Result<Vec<Sample>, String>;

impl Plan {
    /// How many steps it has.
    pub fn steps(&self) -> usize {
        self.rounds * self.workloads.len() * self.contestants.len() + CROWDS.len() + 1
    }

    /// Measures, until `stop` says so, and tells before each step.
    pub fn run(&self, stop: &AtomicBool, mut begins: impl FnMut(String)) -> Result<Report, String> {
        // ORDERING: the flag orders nothing else.
        let stops = || stop.load(Relaxed);
        let none: Vec<Samples> = self.contestants.iter().map(|_| Ok(Vec::new())).collect();
        let mut samples = vec![none; self.workloads.len()];
        'rounds: for _ in 0..self.rounds {
            for (workload, samples) in self.workloads.iter().zip(&mut samples) {
                for (contestant, samples) in self.contestants.iter().zip(samples) {
                    if stops() {
                        break 'rounds;
                    }
                    begins(format!("{} {}", workload.name(), contestant.name));
                    self.take(workload, contestant, samples);
                }
            }
        }
        let outcome = |(workload, samples): (&Workload, Vec<Samples>)| {
            outcome(*workload, self.contestants.iter().zip(samples))
        };
        let mut report = Report {
            complete: !stops(),
            rounds: self.rounds,
            time_ms: self.time_ms,
            cores: thread::available_parallelism().map_or(1, |cores| cores.get()),
            workloads: self.workloads.iter().zip(samples).map(outcome).collect(),
            successions: Vec::new(),
            parked: None,
        };
        for crowd in CROWDS.into_iter().take_while(|_| !stops()) {
            begins(format!("killing holders, k = {}, {} wait", crowd.k, crowd.waiting));
            report.successions.push(death::measure(crowd, self.kills)?);
        }
        if !stops() {
            begins("watching one that waits".into());
            report.parked = Some(parked::measure(Duration::from_millis(self.watch_ms))?);
        }
        report.complete = report.parked.is_some();
        Ok(report)
    }

    /// Adds a sample; who cannot run once is not asked again.
    fn take(&self, workload: &Workload, contestant: &Contestant, samples: &mut Samples) {
        let Ok(so_far) = samples else { return };
        let load = |time| Load {
            processes: workload.processes,
            k: workload.k,
            inside: Work::of_nanos(workload.inside),
            outside: Work::of_nanos(workload.outside),
            time,
        };
        let time = Duration::from_millis(self.time_ms);
        match long_enough(time, |time| contestant.run(&load(time)), Sample::nanos) {
            Ok(sample) => so_far.push(sample),
            Err(why) => *samples = Err(why),
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
    outcome.rows.sort_by(|one, other| one.ns.total_cmp(&other.ns));
    outcome
}

/// Medians; none if half of the rounds saw no passage.
fn row(contestant: &Contestant, samples: &[Sample]) -> Option<Row> {
    let (ns, spread) = time_and_spread(samples.iter().map(Sample::nanos))?;
    let fairness = median(samples.iter().filter_map(Sample::fairness).collect())?;
    let Contestant { name, order, after_death, .. } = *contestant;
    Some(Row { contestant: name, order, after_death, ns, spread, fairness })
}
