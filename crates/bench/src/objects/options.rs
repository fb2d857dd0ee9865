//! The command line of the benchmark of objects.

use std::{path::PathBuf, time::Duration};

use clap::{Args, value_parser};

use super::{
    contestants::{Contestant, field},
    measure::Plan,
    report::Part,
};
use crate::common::select::select;

/// The options of the benchmark of objects.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Fewer operations and rounds: one to two minutes, and rougher figures
    #[arg(long)]
    pub quick: bool,
    /// Run only the contestants whose name contains one of these texts
    #[arg(long, value_name = "TEXT", num_args = 1..)]
    pub only: Vec<String>,
    /// Measure only these parts
    #[arg(long, value_name = "PART", num_args = 1.., value_enum)]
    pub part: Vec<Part>,
    /// Measure total times with each of these numbers of threads
    #[arg(long, value_name = "COUNT", num_args = 1.., default_values_t = [1, 2, 4, 8, 16, 32, 64])]
    #[arg(value_parser = value_parser!(u64).range(1..=1_000))]
    pub threads: Vec<u64>,
    /// Number of operations that the threads share [default: 400000; with --quick 50000]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..=1_000_000_000))]
    pub operations: Option<u64>,
    /// Initial number of elements in the queue
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    #[arg(value_parser = value_parser!(u64).range(..=1_000_000))]
    pub size: u64,
    /// Number of rounds; the tables show medians over them [default: 5; with --quick 3]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..=1_000))]
    pub rounds: Option<u64>,
    /// Time limit of one measurement, in seconds [default: 10; with --quick 3]
    #[arg(long, value_name = "S", value_parser = value_parser!(u64).range(1..=3_600))]
    pub limit: Option<u64>,
    /// Length of a pause in the part `paused`, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 20)]
    #[arg(value_parser = value_parser!(u64).range(1..=1_000))]
    pub pause: u64,
    /// Number of threads that work while other threads are stopped
    #[arg(long, value_name = "COUNT", default_value_t = 4)]
    #[arg(value_parser = value_parser!(u64).range(1..=56))]
    pub active: u64,
    /// Length of one measurement with stopped threads, in milliseconds [default: 300; with --quick 100]
    #[arg(long, value_name = "MS", value_parser = value_parser!(u64).range(1..=60_000))]
    pub time: Option<u64>,
    /// Number of operations during which memory is watched [default: 10000000; with --quick 500000]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(10..=1_000_000_000_000))]
    pub memory_operations: Option<u64>,
    /// Write the plots to this directory
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    pub out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

impl Options {
    /// Returns the measurement that these options describe.
    ///
    /// # Errors
    /// Returns a message if a text of `only` occurs in no contestant's name, or if this system cannot measure a
    /// requested part.
    pub fn plan(&self) -> Result<Plan, String> {
        let (operations, rounds, limit, time, memory) = match self.quick {
            true => (50_000, 3, 3, 100, 500_000),
            false => (400_000, 5, 10, 300, 10_000_000),
        };
        let mut threads: Vec<usize> = self.threads.iter().map(|count| *count as usize).collect();
        threads.sort_unstable();
        threads.dedup();
        Ok(Plan {
            parts: self.parts()?,
            contestants: self.contestants()?,
            threads,
            operations: self.operations.unwrap_or(operations),
            size: self.size as usize,
            rounds: self.rounds.unwrap_or(rounds) as usize,
            limit: Duration::from_secs(self.limit.unwrap_or(limit)),
            pause: Duration::from_millis(self.pause),
            active: self.active as usize,
            time: Duration::from_millis(self.time.unwrap_or(time)),
            memory_operations: self.memory_operations.unwrap_or(memory),
        })
    }

    fn parts(&self) -> Result<Vec<Part>, String> {
        let mut possible = Part::possible();
        if let Some(part) = self.part.iter().find(|part| !part.is_possible()) {
            return Err(format!("the part `{}` needs Linux", part.name()));
        }
        possible.retain(|part| self.part.is_empty() || self.part.contains(part));
        Ok(possible)
    }

    fn contestants(&self) -> Result<Vec<Contestant>, String> {
        select(field(), &self.only, |one| one.name, |_| false)
    }
}
