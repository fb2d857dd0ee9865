//! `hallpass rm`: removes halls.

use std::process::ExitCode;

use clap::Args as ClapArgs;

use crate::{
    halls::ErrorReport,
    location::{Error, LocationArgs},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// Remove halls even if they are in use or damaged; with --on, hallpass ends the commands of their holders
    #[arg(short, long)]
    force: bool,
    /// The names of the halls
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    let halls = args.location.open()?;
    let mut errors = ErrorReport::default();
    for name in args.names {
        if let Err(error) = halls.remove(&name, args.force) {
            errors.about(&error);
        }
    }
    Ok(errors.exit_code())
}
