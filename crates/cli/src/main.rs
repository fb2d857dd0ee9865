//! `hallpass`, the command.
#![deny(unsafe_code)]

mod completions;
mod demo;
mod halls;
mod keeper;
mod list;
mod location;
mod man;
mod output;
mod people;
mod programs;
mod reap;
mod resize;
mod rm;
mod run;
mod signals;
mod status;
mod time;
mod top;
mod users;

use std::{env, process::ExitCode};

use clap::{Parser, Subcommand};
use programs::Program;

#[derive(Parser)]
#[command(name = "hallpass", version, about, long_about = None)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a command in a slot: at most K at once, the rest wait their turn
    Run(Box<run::Args>),
    /// Show who holds the slots and who waits
    Status(status::Args),
    /// List the halls
    List(list::Args),
    /// Show who holds the slots and who waits, live
    Top(top::Args),
    /// Free what the dead hold
    Reap(reap::Args),
    /// Change how many may be in at once
    Resize(resize::Args),
    /// Remove halls
    Rm(rm::Args),
    /// Watch real processes compete for slots on this machine, for ten seconds
    Demo(demo::Args),
    /// What a worker of the demo runs
    #[command(name = demo::VISIT, hide = true)]
    DemoVisit,
    /// Print completions for a shell
    Completions(completions::Args),
    /// Write manual pages
    Man(man::Args),
    /// Run, check and measure k-exclusion algorithms
    Lab(programs::Args),
    /// Measure semaphores side by side: time for each passage, fairness, waits
    Bench(programs::Args),
}

fn main() -> ExitCode {
    if let Some(descriptors) = keeper::called() {
        return keeper::run(descriptors);
    }
    // Thousands of short commands may be run in a hall, and describing all of ours to the parser
    // takes longer than the rest of it.
    if let Some(args) = run::Args::of_command_line() {
        return run::run(args);
    }
    let command = match Cli::try_parse() {
        Ok(Cli { command }) => command,
        Err(error) => return misread(&error),
    };
    match command {
        Command::Run(args) => run::run(*args),
        Command::Status(args) => halls::finish(status::run(args)),
        Command::List(args) => halls::finish(list::run(args)),
        Command::Top(args) => halls::finish(top::run(args)),
        Command::Reap(args) => halls::finish(reap::run(args)),
        Command::Resize(args) => halls::finish(resize::run(args)),
        Command::Rm(args) => halls::finish(rm::run(args)),
        Command::Demo(args) => demo::run(args),
        Command::DemoVisit => demo::visit(),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
        Command::Lab(args) => Program::Lab.exec(args),
        Command::Bench(args) => Program::Bench.exec(args),
    }
}

/// Says what is wrong with the command line, or the help or version that was asked for.
fn misread(error: &clap::Error) -> ExitCode {
    // Whoever closed the pipe does not want to hear of it.
    let _ = error.print();
    let of_run = env::args_os().nth(1).is_some_and(|word| word == "run");
    match error.exit_code() {
        0 => ExitCode::SUCCESS,
        // The statuses below belong to the command that did not run.
        _ if of_run => ExitCode::from(run::OWN_FAILURE),
        code => ExitCode::from(code as u8),
    }
}
