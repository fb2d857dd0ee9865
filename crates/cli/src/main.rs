//! `hallpass`, the command.
#![forbid(unsafe_code)]

mod bench;
mod files;
mod lab;
mod output;
mod progress;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "hallpass", version, about, long_about = None)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run, check and measure k-exclusion algorithms
    #[command(subcommand)]
    Lab(lab::Command),
    /// Measure semaphores side by side: time for each passage, fairness, waits
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let Cli { command } = Cli::parse();
    let result = match command {
        Command::Lab(command) => lab::run(command),
        Command::Bench(args) => bench::run(args),
    };
    result.unwrap_or_else(|error| {
        output::say(format_args!("{error}"));
        ExitCode::from(lab::BAD_USAGE)
    })
}
