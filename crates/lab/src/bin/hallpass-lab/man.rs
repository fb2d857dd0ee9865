//! `hallpass-lab man`: writes a manual page for each command.

use std::{fs, path::PathBuf, process::ExitCode};

use clap::{Args as ClapArgs, CommandFactory};
use hallpass_lab::program::Result;

use crate::Cli;

#[derive(ClapArgs)]
pub struct Args {
    /// Write the pages to this directory
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub fn run(args: Args) -> Result {
    let wrong = |error| format!("cannot write to {}: {error}", args.folder.display());
    fs::create_dir_all(&args.folder).map_err(wrong)?;
    let command = Cli::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, &args.folder).map_err(wrong)?;
    Ok(ExitCode::SUCCESS)
}
