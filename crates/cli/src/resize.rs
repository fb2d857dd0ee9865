//! `hallpass resize`: changes how many may be in at once, while people are in.

use std::process::ExitCode;

use clap::Args as ClapArgs;

use crate::location::{Error, LocationArgs};

/// Who holds a slot that is no more survive_kill it until it leaves.
#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// The hall
    #[arg(value_name = "NAME")]
    name: String,
    /// How many may be in at once from now on
    #[arg(value_name = "K")]
    slots: usize,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    args.location.open()?.resize(&args.name, args.slots)?;
    Ok(ExitCode::SUCCESS)
}
