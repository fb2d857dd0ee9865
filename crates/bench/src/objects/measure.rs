//! Rounds over contestants and numbers of threads, and medians over rounds.
//!
//! A round goes through all numbers of threads, and for each number through all contestants. So a disturbance of
//! some seconds affects all contestants that are compared with each other.

use std::time::Duration;

use super::{
    contestants::{Contestant, Kind},
    curve::{self, Disturbance, Sample},
    memory::{self, Memory},
    report::{Curve, Figure, Kept, Part, Point, Report},
    stage::Crew,
    stopped,
};
use crate::common::{
    cores,
    rounds::Steps,
    statistics::{median, time_and_spread},
};

/// A measurement to make.
#[derive(Debug)]
pub struct Plan {
    /// The parts to measure.
    pub parts: Vec<Part>,
    /// The contestants to measure.
    pub contestants: Vec<Contestant>,
    /// The numbers of threads, for the curves.
    pub threads: Vec<usize>,
    /// Number of operations that the threads share.
    pub operations: u64,
    /// Initial number of elements in the queue.
    pub size: usize,
    /// Number of rounds.
    pub rounds: usize,
    /// Time limit of one measurement.
    pub limit: Duration,
    /// Length of a pause.
    pub pause: Duration,
    /// Number of threads whose operations count while others are stopped.
    pub active: usize,
    /// Length of one measurement with stopped threads.
    pub time: Duration,
    /// Number of operations during which memory is watched.
    pub memory_operations: u64,
}

impl Plan {
    /// Returns the number of [steps](Steps) that [`run`](Plan::run) makes.
    pub fn steps(&self) -> usize {
        let steps = |part: &Part| match part {
            Part::Plain | Part::Paused => self.rounds * self.threads.len() * self.contestants.len(),
            Part::Stopped => self.rounds * self.cases().len(),
            Part::Memory => self.watched().count(),
        };
        self.parts.iter().map(steps).sum()
    }

    /// Measures step by step, and returns the report.
    ///
    /// # Errors
    /// Returns a message if threads did not return from a contestant. Then nothing else can be measured.
    pub fn run(&self, steps: &mut Steps<'_>) -> Result<Report, String> {
        let mut report = Report {
            complete: true,
            cores: cores(),
            rounds: self.rounds,
            operations: self.operations,
            size: self.size,
            limit_s: self.limit.as_secs_f64(),
            pause_ms: self.pause.as_secs_f64() * 1e3,
            active: self.active,
            time_ms: self.time.as_secs_f64() * 1e3,
            figures: Vec::new(),
            stopped: Vec::new(),
            memory_operations: self.memory_operations,
            memory: Vec::new(),
        };
        for part in &self.parts {
            match part {
                Part::Plain | Part::Paused => report.figures.push(self.figure(*part, steps)?),
                Part::Stopped => report.stopped = self.stopped(steps)?,
                Part::Memory => report.memory = self.memory(steps)?,
            }
        }
        report.complete = !steps.stopped();
        Ok(report)
    }

    fn figure(&self, part: Part, steps: &mut Steps<'_>) -> Result<Figure, String> {
        let disturbance = match part {
            Part::Paused => Disturbance::Pauses(self.pause),
            _ => Disturbance::None,
        };
        // The first index is the number of threads, the second the contestant.
        let mut samples = vec![vec![Vec::new(); self.contestants.len()]; self.threads.len()];
        for round in 0..self.rounds {
            for (threads, samples) in self.threads.iter().zip(&mut samples) {
                for (contestant, samples) in self.contestants.iter().zip(samples) {
                    let title = || format!("{} {threads} threads {}", part.name(), contestant.name);
                    if !steps.begin(title) {
                        break;
                    }
                    let gave_up = |sample: &Sample| matches!(sample, Sample::TimeUp { .. });
                    if !supports(contestant, *threads) || samples.iter().any(gave_up) {
                        continue;
                    }
                    let operations = Some(self.operations);
                    let (threads, timed) = (*threads, part == Part::Paused);
                    let crew = Crew { threads, victims: 0, operations, size: self.size, timed };
                    let seed = round as u64;
                    let sample = curve::measure(contestant, &crew, disturbance, self.limit, seed)?;
                    samples.push(sample);
                }
            }
        }
        let curve = |(index, contestant): (usize, &Contestant)| {
            let at = |(threads, samples): (&usize, &Vec<Vec<Sample>>)| {
                point(contestant, *threads, &samples[index])
            };
            let points = self.threads.iter().zip(&samples).map(at).collect();
            Curve { contestant: contestant.name, kind: contestant.kind, points }
        };
        let curves = self.contestants.iter().enumerate().map(curve).collect();
        Ok(Figure { part, curves })
    }

    /// Returns pairs of the index of a contestant and a number of stopped threads: none, one, and as many as the
    /// contestant tolerates, if these are more than one.
    fn cases(&self) -> Vec<(usize, usize)> {
        let of = |(index, contestant): (usize, &Contestant)| {
            let most = contestant.tolerates().filter(|most| *most > 1);
            [Some(0), Some(1), most].into_iter().flatten().map(move |victims| (index, victims))
        };
        self.contestants.iter().enumerate().flat_map(of).collect()
    }

    fn stopped(&self, steps: &mut Steps<'_>) -> Result<Vec<Kept>, String> {
        let cases = self.cases();
        let mut rates = vec![Vec::new(); cases.len()];
        for _ in 0..self.rounds {
            for ((index, victims), rates) in cases.iter().zip(&mut rates) {
                let contestant = &self.contestants[*index];
                if !steps.begin(|| format!("{victims} stopped {}", contestant.name)) {
                    break;
                }
                let crew = self.crew(*victims);
                if supports(contestant, self.active + victims) {
                    rates.extend(stopped::measure(contestant, &crew, self.time, self.limit)?);
                }
            }
        }
        let rate = |index: usize, victims: usize| {
            let case = cases.iter().position(|case| *case == (index, victims))?;
            median(rates[case].clone())
        };
        let kept = |(index, contestant): (usize, &Contestant)| {
            let without = rate(index, 0)?;
            let most = contestant.tolerates().filter(|most| *most > 1);
            Some(Kept {
                contestant: contestant.name,
                kind: contestant.kind,
                without,
                one: rate(index, 1),
                most_stopped: most,
                most: most.and_then(|most| rate(index, most)),
            })
        };
        Ok(self.contestants.iter().enumerate().filter_map(kept).collect())
    }

    /// Returns the contestants whose memory is watched, each with a number of stopped threads that it
    /// tolerates.
    fn watched(&self) -> impl Iterator<Item = (&Contestant, usize)> {
        self.contestants.iter().filter_map(|contestant| {
            let stopped = match contestant.kind {
                Kind::Resilient { k } => k - 1,
                Kind::WaitFree { .. } | Kind::LockFree => 1,
                Kind::Lock | Kind::SpinLock => 0,
            };
            (stopped > 0).then_some((contestant, stopped))
        })
    }

    fn memory(&self, steps: &mut Steps<'_>) -> Result<Vec<Memory>, String> {
        let mut seen = Vec::new();
        for (contestant, stopped) in self.watched() {
            if !steps.begin(|| format!("memory {}", contestant.name)) {
                break;
            }
            let crew = self.crew(stopped);
            if supports(contestant, self.active + stopped) {
                seen.push(memory::measure(
                    contestant,
                    &crew,
                    self.memory_operations,
                    self.limit,
                    steps.stop_flag(),
                )?);
            }
        }
        Ok(seen)
    }

    fn crew(&self, victims: usize) -> Crew {
        Crew { threads: self.active, victims, operations: None, size: self.size, timed: false }
    }
}

/// Returns whether the contestant supports this many threads.
fn supports(contestant: &Contestant, threads: usize) -> bool {
    contestant.max_threads().is_none_or(|max| threads <= max)
}

/// Returns the medians, or the reason why there are none.
fn point(contestant: &Contestant, threads: usize, samples: &[Sample]) -> Point {
    let fails = |done: Option<u64>, why: &str| {
        let why = Some(why.to_string());
        Point { threads, ms: None, spread: None, longest_ms: None, done, why }
    };
    if let Some(max) = contestant.max_threads().filter(|max| threads > *max) {
        return fails(None, &format!("it supports at most {max} threads"));
    }
    let done = samples.iter().find_map(|sample| match sample {
        Sample::TimeUp { done } => Some(*done),
        Sample::Done { .. } => None,
    });
    if done.is_some() {
        return fails(done, "it did not finish in time");
    }
    let nanos = samples.iter().map(|sample| match sample {
        Sample::Done { wall, .. } => Some(wall.as_nanos() as f64),
        Sample::TimeUp { .. } => None,
    });
    match time_and_spread(nanos) {
        Some((ns, spread)) => {
            let longest = samples.iter().filter_map(|sample| match sample {
                Sample::Done { longest, .. } => longest.map(|time| time.as_secs_f64() * 1e3),
                Sample::TimeUp { .. } => None,
            });
            let (ms, spread) = (Some(ns / 1e6), Some(spread));
            let longest_ms = median(longest.collect());
            Point { threads, ms, spread, longest_ms, done: None, why: None }
        }
        None => fails(None, "it was not measured"),
    }
}
