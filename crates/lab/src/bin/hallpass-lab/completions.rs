//! `hallpass-lab completions`: prints shell completions.

use std::process::ExitCode;

use clap::{Args as ClapArgs, CommandFactory};
use clap_complete::Shell;
use hallpass_lab::program::{Result, output::out};

use crate::Cli;

#[derive(ClapArgs)]
pub struct Args {
    /// The shell to print completions for
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(args: Args) -> Result {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hallpass-lab", &mut script);
    out!("{}", String::from_utf8_lossy(&script));
    Ok(ExitCode::SUCCESS)
}
