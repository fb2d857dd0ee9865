//! The program `hallpass`. It is a library so that the fuzz targets of this project can call its parsers. Programs use
//! the crate `hallpass` instead.
#![deny(unsafe_code)]

mod cancel;
mod close;
mod completions;
mod demo;
mod evict;
mod follow;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod halls;
mod jobserver;
mod keeper;
mod list;
mod location;
mod log;
mod looks;
mod man;
mod metrics;
mod output;
mod programs;
mod reap;
mod resize;
mod rm;
mod run;
mod signals;
mod snapshot;
mod status;
mod table;
mod tally;
mod time;
mod top;
mod users;
mod wait;

use std::{
    env,
    io::{self, ErrorKind, Write},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use output::say;
use programs::Program;

/// Exit status: the command line is wrong, or the output cannot be written.
const USAGE_ERROR: i32 = 2;

const AFTER: &str = "\
A hall admits at most K holders at a time. Each holder has a slot: a number from 0 to K-1 that no other holder has. \
`hallpass run -k 4 gpu -- CMD` creates the hall gpu with 4 slots if it does not exist, waits for a slot, and runs CMD \
while it holds the slot.";

#[derive(Parser)]
#[command(name = "hallpass", version, about, long_about = None, after_help = AFTER)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a command in a slot: at most K at once, first come, first served
    Run(Box<run::Args>),
    /// Show the holders and waiters of halls
    Status(status::Args),
    /// List the halls
    List(list::Args),
    /// Show the holders and waiters of halls, live
    Top(top::Args),
    /// Release slots of dead processes
    Reap(reap::Args),
    /// Change the number of slots
    Resize(resize::Args),
    /// Stop admitting processes to a hall
    Close(close::CloseArgs),
    /// Stop admitting processes to a hall, and wait until all holders have left
    Drain(close::DrainArgs),
    /// With --on: take a slot away from a holder whose machine is known to be dead
    Evict(evict::Args),
    /// Print the state of halls, and wait and hold times, for Prometheus
    Metrics(metrics::Args),
    /// Remove halls
    Rm(rm::Args),
    /// Make waiters leave the queue
    Cancel(cancel::Args),
    /// Wait until halls are empty, or until the given processes have left them
    Wait(wait::Args),
    /// Show past runs: how long they waited and ran, and their exit status
    Log(log::Args),
    /// Run a build whose parallel jobs take slots of a hall, for make, cargo and ninja
    Jobserver(Box<jobserver::Args>),
    /// Watch real processes compete for slots on this machine, for about ten seconds
    Demo(demo::Args),
    /// The command that a worker of the demo runs
    #[command(name = demo::VISIT, hide = true)]
    DemoVisit,
    /// Print shell completions
    Completions(completions::Args),
    /// Write manual pages
    Man(man::Args),
    /// Check and measure k-exclusion algorithms (runs hallpass-lab)
    Lab(programs::Args),
    /// Measure semaphores side by side (runs hallpass-bench)
    Bench(programs::Args),
}

/// Runs the program: reads the command line of this process, and returns the exit status.
pub fn main() -> ExitCode {
    if let Some(descriptors) = keeper::called() {
        return keeper::run(descriptors);
    }
    if let Some(pair) = run::waker::called() {
        return run::waker::run(pair);
    }
    // Users may call `hallpass run` thousands of times for short commands. Building the parser for all subcommands
    // would take longer than the rest of such a call.
    if let Some(args) = run::Args::of_command_line() {
        return run::run(args);
    }
    let command = match Cli::try_parse() {
        Ok(Cli { command }) => command,
        Err(error) => return print_usage_error(&error),
    };
    match command {
        Command::Run(args) => run::run(*args),
        Command::Status(args) => halls::finish(status::run(args)),
        Command::List(args) => halls::finish(list::run(args)),
        Command::Top(args) => halls::finish(top::run(args)),
        Command::Reap(args) => halls::finish(reap::run(args)),
        Command::Resize(args) => halls::finish(resize::run(args)),
        Command::Close(args) => halls::finish(close::close(args)),
        Command::Drain(args) => halls::finish(close::drain(args)),
        Command::Evict(args) => halls::finish(evict::run(args)),
        Command::Metrics(args) => halls::finish(metrics::run(args)),
        Command::Rm(args) => halls::finish(rm::run(args)),
        Command::Cancel(args) => halls::finish(cancel::run(args)),
        Command::Wait(args) => halls::finish(wait::run(args)),
        Command::Log(args) => halls::finish(log::run(args)),
        Command::Jobserver(args) => jobserver::run(*args),
        Command::Demo(args) => demo::run(args),
        Command::DemoVisit => demo::visit(),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
        Command::Lab(args) => Program::Lab.exec(args),
        Command::Bench(args) => Program::Bench.exec(args),
    }
}

/// Prints the error in the command line, or the help or version that the user asked for.
fn print_usage_error(error: &clap::Error) -> ExitCode {
    let printed = error.print().and_then(|()| io::stdout().flush());
    let is_written = match printed {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => true,
        Err(error) => {
            say(format_args!("cannot write the output: {error}"));
            false
        }
    };
    let of_run = env::args_os().nth(1).is_some_and(|word| word == "run" || word == "jobserver");
    match error.exit_code() {
        0 if is_written => ExitCode::SUCCESS,
        // The caller could mistake a status below `OWN_FAILURE` for that of CMD.
        _ if of_run => ExitCode::from(run::OWN_FAILURE),
        code => ExitCode::from(code.max(USAGE_ERROR) as u8),
    }
}
