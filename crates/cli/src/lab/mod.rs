//! `hallpass lab`.

mod atlas;
mod check;
mod list;
mod objects;
pub mod options;
mod papers;
mod plot;
mod replay;
mod rmr;
mod show;
mod timestamps;

use std::{error::Error, process::ExitCode};

use clap::Subcommand;

/// Exit status: everything asked for holds.
pub const HOLDS: u8 = 0;
/// Exit status: something is violated.
pub const VIOLATED: u8 = 1;
/// Exit status: the question cannot be asked like that.
pub const BAD_USAGE: u8 = 2;
/// Exit status: nothing was found, but not everything was seen.
pub const PARTIAL: u8 = 3;

#[derive(Subcommand)]
pub enum Command {
    /// Check an algorithm: every interleaving, one shared access a step
    Check(check::Args),
    /// Count remote memory references: the worst passage over all schedules
    Rmr(rmr::Args),
    /// Draw the worst passage against the number of processes
    Plot(plot::Args),
    /// Step through a run that a check or a count has found, and confirm what it shows
    Replay(replay::Args),
    /// List the algorithms: paper, figure, primitives, claims
    List(list::Args),
    /// Check a timestamp system: that every run is one of UCTSS, and what the papers state
    Timestamps(timestamps::Args),
    /// Check shared objects: the universal construction, linearizable and wait-free
    Objects(objects::Args),
    /// Run the atlas: models with expected verdicts, states and remote references
    Atlas(atlas::Args),
    /// Write the papers' claims with their verdicts, and the runs that refute some
    Papers(papers::Args),
}

pub type Result = std::result::Result<ExitCode, Box<dyn Error>>;

pub fn run(command: Command) -> Result {
    match command {
        Command::Check(args) => check::run(args),
        Command::Rmr(args) => rmr::run(args),
        Command::Plot(args) => plot::run(args),
        Command::Replay(args) => replay::run(args),
        Command::List(args) => list::run(args),
        Command::Timestamps(args) => timestamps::run(args),
        Command::Objects(args) => objects::run(args),
        Command::Atlas(args) => atlas::run(args),
        Command::Papers(args) => papers::run(args),
    }
}
