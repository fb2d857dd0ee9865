//! The command line of the benchmark of threads.

use std::path::PathBuf;

use clap::{Args, value_parser};

use super::{
    bars,
    contestants::{self, Camp, Contestant},
    measure::Plan,
    workloads,
};
use crate::common::select::select;

/// The longest work, in nanoseconds. Work of more than one millisecond would hide the cost of the semaphore.
const LONGEST_WORK: u64 = 1_000_000;

/// The options of the benchmark of threads.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Less time and fewer rounds: about ten seconds, and rougher figures
    #[arg(long)]
    pub quick: bool,
    /// Run only the floor and the contestants whose name contains one of these texts
    #[arg(long, value_name = "TEXT", num_args = 1..)]
    pub only: Vec<String>,
    /// Run only these workloads: alone, contended, oversubscribed, latency, ready, many, cancel, hand-over, crowd, or a
    /// single one such as alone-k4
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub workload: Vec<String>,
    /// Run the algorithms of the papers as well
    #[arg(long)]
    pub papers: bool,
    /// Measure `Hall` against its performance goals (bars), and print one table: what is measured, the bar, and the
    /// ratios to tokio, async-lock and the floor
    #[arg(long, conflicts_with_all = ["only", "workload", "papers"])]
    pub bars: bool,
    /// Time for which each contestant runs in each round, in milliseconds [default: 200; with --quick 40]
    #[arg(long, value_name = "MS", value_parser = value_parser!(u64).range(1..=60_000))]
    pub time: Option<u64>,
    /// Number of rounds; the tables show medians over them [default: 5; with --quick 3]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..=1_000))]
    pub rounds: Option<u64>,
    /// Nanoseconds of work inside the critical section, in workloads that include work
    #[arg(long, value_name = "NS", default_value_t = 100)]
    #[arg(value_parser = value_parser!(u64).range(..=LONGEST_WORK))]
    pub inside: u64,
    /// Nanoseconds of work outside the critical section, in workloads that include work
    #[arg(long, value_name = "NS", default_value_t = 100)]
    #[arg(value_parser = value_parser!(u64).range(..=LONGEST_WORK))]
    pub outside: u64,
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
    /// Returns a message if a text of `only` occurs in no contestant's name, or if a name of `workload` is unknown.
    pub fn plan(&self) -> Result<Plan, String> {
        let (time_ms, rounds) = if self.quick { (40, 3) } else { (200, 5) };
        let mut workloads = workloads::all(self.inside, self.outside);
        if self.bars {
            workloads.retain(bars::needs);
        }
        Ok(Plan {
            workloads: workloads::select(workloads, &self.workload)?,
            contestants: self.contestants()?,
            time_ms: self.time.unwrap_or(time_ms),
            rounds: self.rounds.unwrap_or(rounds) as usize,
        })
    }

    /// Returns the floor and the requested contestants.
    fn contestants(&self) -> Result<Vec<Contestant>, String> {
        let mut field = contestants::field();
        if self.bars {
            field.retain(|one| bars::CONTESTANTS.contains(&one.name));
        }
        match self.papers {
            true => field.extend(contestants::papers()),
            false => self.check_papers(&field)?,
        }
        let field = select(field, &self.only, |one| one.name, |one| one.camp == Camp::Floor);
        field.map_err(|why| if self.papers { why } else { why + ", and more with --papers" })
    }

    /// Returns an error if a name occurs only among the papers, but `--papers` is not given.
    fn check_papers(&self, field: &[Contestant]) -> Result<(), String> {
        let is_in = |all: &[Contestant], text: &str| all.iter().any(|one| one.name.contains(text));
        let papers = contestants::papers();
        let only_there = |text: &&String| !is_in(field, text) && is_in(&papers, text);
        match self.only.iter().find(only_there) {
            Some(text) => Err(format!("`{text}` is an algorithm of a paper: add --papers")),
            None => Ok(()),
        }
    }
}
