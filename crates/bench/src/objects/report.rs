//! The report of the benchmark of objects.

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

use super::{contestants::Kind, findings::Findings, memory::Memory, preempt};

/// A part of the benchmark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Total time for each number of threads
    Plain,
    /// Total time for each number of threads while running threads are paused, one after the other
    Paused,
    /// Throughput while some threads are stopped permanently in an operation
    Stopped,
    /// Memory in use while some threads are stopped permanently in an operation
    Memory,
}

impl Part {
    /// Returns the parts that this system can measure.
    pub fn possible() -> Vec<Part> {
        let all = [Part::Plain, Part::Paused, Part::Stopped, Part::Memory];
        all.into_iter().filter(|part| part.is_possible()).collect()
    }

    /// Returns `true` if this system can measure the part.
    pub fn is_possible(self) -> bool {
        match self {
            Part::Plain | Part::Stopped => true,
            Part::Paused => preempt::POSSIBLE,
            Part::Memory => super::memory::resident_kib().is_some(),
        }
    }

    /// Returns the name of the part.
    pub fn name(self) -> &'static str {
        match self {
            Part::Plain => "plain",
            Part::Paused => "paused",
            Part::Stopped => "stopped",
            Part::Memory => "memory",
        }
    }
}

/// The result of one run of the benchmark of objects.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `true` if the measurement was not stopped early.
    pub complete: bool,
    /// Number of cores.
    pub cores: usize,
    /// Number of requested rounds.
    pub rounds: usize,
    /// Total number of operations, divided among the threads.
    pub operations: u64,
    /// Initial number of elements in the queue.
    pub size: usize,
    /// Time limit of one measurement, in seconds.
    pub limit_s: f64,
    /// Length of a pause, in milliseconds.
    pub pause_ms: f64,
    /// Number of threads that kept running while others were stopped.
    pub active: usize,
    /// Milliseconds for which the operations of the running threads were counted while others were stopped.
    pub time_ms: f64,
    /// Total times for each number of threads.
    pub figures: Vec<Figure>,
    /// Throughput while some threads were stopped.
    pub stopped: Vec<Kept>,
    /// Number of operations during which memory was watched.
    pub memory_operations: u64,
    /// Memory in use while some threads were stopped.
    pub memory: Vec<Memory>,
}

/// Total times for each number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// The part: with or without pauses.
    pub part: Part,
    /// One curve for each contestant.
    pub curves: Vec<Curve>,
}

/// The total times of one contestant.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// The name of the contestant.
    pub contestant: &'static str,
    /// The way in which threads share it.
    pub kind: Kind,
    /// One point for each number of threads, in ascending order.
    pub points: Vec<Point>,
}

/// The result for one number of threads. Figures are medians over rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Number of threads.
    pub threads: usize,
    /// Milliseconds for all operations, if all of them were completed.
    pub ms: Option<f64>,
    /// Largest distance of a round from the median, as a fraction of the median.
    pub spread: Option<f64>,
    /// Milliseconds of the longest operation, if operations were timed. Operations during which the thread
    /// itself was paused do not count. The time for which the thread had no core does not count either.
    pub longest_ms: Option<f64>,
    /// Number of operations done when the time was up.
    pub done: Option<u64>,
    /// The reason why `ms` is `None`.
    pub why: Option<String>,
}

/// Operations per second while some threads were stopped: medians over rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Kept {
    /// The name of the contestant.
    pub contestant: &'static str,
    /// The way in which threads share it.
    pub kind: Kind,
    /// Throughput with no thread stopped.
    pub without: f64,
    /// Throughput with one thread stopped.
    pub one: Option<f64>,
    /// Number of stopped threads that the contestant tolerates, if that is more than one.
    pub most_stopped: Option<usize>,
    /// Throughput with `most_stopped` threads stopped.
    pub most: Option<f64>,
}

impl Kept {
    /// Returns the throughput with one thread stopped, as a fraction of the throughput with none stopped.
    pub fn part_with_one(&self) -> Option<f64> {
        self.part(self.one)
    }

    /// Returns the throughput with the largest tolerated number of threads stopped, as a fraction of the
    /// throughput with none stopped.
    pub fn part_with_most(&self) -> Option<f64> {
        self.part(self.most)
    }

    fn part(&self, rate: Option<f64>) -> Option<f64> {
        rate.filter(|_| self.without > 0.0).map(|rate| rate / self.without)
    }
}

impl Curve {
    /// Returns the point with this many threads.
    pub fn at(&self, threads: usize) -> Option<&Point> {
        self.points.iter().find(|point| point.threads == threads)
    }

    /// Returns the milliseconds with this many threads, if the measurement finished.
    pub fn ms(&self, threads: usize) -> Option<f64> {
        self.at(threads)?.ms
    }
}

impl Figure {
    /// Returns the numbers of threads.
    pub fn threads(&self) -> Vec<usize> {
        let points = self.curves.first().map_or(&[][..], |curve| &curve.points);
        points.iter().map(|point| point.threads).collect()
    }

    /// Returns `true` if nothing was measured.
    pub fn is_empty(&self) -> bool {
        let empty = |point: &Point| point.ms.is_none() && point.done.is_none();
        self.curves.iter().flat_map(|curve| &curve.points).all(empty)
    }
}

impl Report {
    /// Returns the report as one JSON object, with the conclusions.
    pub fn to_json(&self) -> Value {
        let mut value = serde_json::to_value(self).unwrap_or(Value::Null);
        for (row, kept) in self.stopped.iter().enumerate() {
            value["stopped"][row]["part_with_one"] = json!(kept.part_with_one());
            value["stopped"][row]["part_with_most"] = json!(kept.part_with_most());
        }
        value["findings"] = json!(Findings::of(self));
        value
    }

    /// Returns `true` if nothing was measured.
    pub fn is_empty(&self) -> bool {
        let nothing_else = self.stopped.is_empty() && self.memory.is_empty();
        self.figures.iter().all(Figure::is_empty) && nothing_else
    }
}
