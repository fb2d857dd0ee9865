//! `hallpass-lab`, which `hallpass lab` runs: checks and measures k-exclusion algorithms.
#![forbid(unsafe_code)]

mod ask;
mod atlas;
mod check;
mod completions;
mod explore;
mod list;
mod man;
mod new;
mod objects;
mod options;
mod papers;
mod plot;
mod progress;
mod replay;
mod rmr;
mod show;
mod suggest;
mod timestamps;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hallpass_lab::program;

const AFTER: &str = "\
An algorithm for k-exclusion lets at most K of N processes into their critical sections. `hallpass-lab list` lists the \
algorithms. `hallpass-lab check am-fig3 -n 3 -k 2` checks one of them.";

/// Runs, checks and measures k-exclusion algorithms
#[derive(Parser)]
#[command(name = "hallpass-lab", version, after_help = AFTER)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check an algorithm: every interleaving, one shared access per step
    Check(check::Args),
    /// Answer questions about whole runs: statements of the paper, order of entry, time, averages
    Ask(ask::Args),
    /// Count remote memory references: the worst passage over all schedules
    Rmr(rmr::Args),
    /// Draw the worst passage against the number of processes
    Plot(plot::Args),
    /// Step through a run that `check`, `ask` or `rmr` found, and confirm what the run shows
    Replay(replay::Args),
    /// Play an algorithm step by step, in the browser
    Explore(explore::Args),
    /// List the algorithms: paper, figure, primitives, bounds
    List(list::Args),
    /// Write a new algorithm to start from: a file, or a crate
    New(new::Args),
    /// Check a timestamp system: every run is a run of UCTSS (the unbounded system), and the
    /// papers' statements hold
    Timestamps(timestamps::Args),
    /// Check shared objects: the universal construction, linearizable and wait-free
    Objects(objects::Args),
    /// Run the atlas: models with expected verdicts, state counts and remote references
    Atlas(atlas::Args),
    /// Write the papers' statements with their verdicts, and a page for each run behind a verdict
    Papers(papers::Args),
    /// Print completions for a shell
    Completions(completions::Args),
    /// Write manual pages
    Man(man::Args),
}

fn main() -> ExitCode {
    program::finish(run(Cli::parse().command))
}

fn run(command: Command) -> program::Result {
    match command {
        Command::Check(args) => check::run(args),
        Command::Ask(args) => ask::run(args),
        Command::Rmr(args) => rmr::run(args),
        Command::Plot(args) => plot::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Explore(args) => explore::run(args),
        Command::List(args) => list::run(args),
        Command::New(args) => new::run(args),
        Command::Timestamps(args) => timestamps::run(args),
        Command::Objects(args) => objects::run(args),
        Command::Atlas(args) => atlas::run(args),
        Command::Papers(args) => papers::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }
}
