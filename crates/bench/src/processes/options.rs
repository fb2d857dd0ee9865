//! The command line of the benchmark of processes.

use clap::{Args, value_parser};

use super::{
    contestants::{Contestant, HALLPASS, field},
    measure::Plan,
    workloads,
};
use crate::common::select::select;

/// The options of the benchmark of processes.
#[derive(Clone, Debug, Default, Args)]
pub struct Options {
    /// Less time and fewer rounds: about ten seconds, and rougher figures
    #[arg(long)]
    pub quick: bool,
    /// Run only hallpass and the contestants whose name contains one of these texts
    #[arg(long, value_name = "TEXT", num_args = 1..)]
    pub only: Vec<String>,
    /// Time for which each contestant runs in each round, in milliseconds [default: 200; with --quick 40]
    #[arg(long, value_name = "MS", value_parser = value_parser!(u64).range(1..=60_000))]
    pub time: Option<u64>,
    /// Number of rounds; the tables show medians over them [default: 5; with --quick 3]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..=1_000))]
    pub rounds: Option<u64>,
    /// Number of holders to kill for each number of slots and waiters [default: 500; with --quick 100]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..=100_000))]
    pub kills: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Nanoseconds of work inside and outside the critical section, in workloads with several processes.
const WORK: u64 = 100;

impl Options {
    /// Returns the plan for these options. Fails if `only` matches no contestant.
    pub fn plan(&self) -> Result<Plan, String> {
        let (time_ms, rounds, kills, watch_ms) =
            if self.quick { (40, 3, 100, 2_000) } else { (200, 5, 500, 10_000) };
        Ok(Plan {
            workloads: workloads::all(WORK, WORK),
            contestants: self.contestants()?,
            time_ms: self.time.unwrap_or(time_ms),
            rounds: self.rounds.unwrap_or(rounds) as usize,
            kills: self.kills.unwrap_or(kills) as usize,
            watch_ms,
        })
    }

    fn contestants(&self) -> Result<Vec<Contestant>, String> {
        select(field(), &self.only, |one| one.name, |one| one.name == HALLPASS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hallpass_always_runs_and_an_unknown_name_is_an_error() {
        let only = |text: &str| Options { only: vec![text.into()], ..Options::default() }.plan();
        let names = |plan: Plan| plan.contestants.iter().map(|one| one.name).collect::<Vec<_>>();
        assert_eq!(only("sysv").map(names), Ok(vec!["hallpass", "sysv-undo"]));
        let error = only("sisv").map(names).expect_err("there is none");
        assert!(error.contains("`sisv`") && error.contains("sysv-undo"), "{error}");
    }
}
