//! `hallpass reap`: releases slots of dead processes. Without it, the next newcomer would release them.

use std::process::ExitCode;

use clap::Args as ClapArgs;

use crate::{
    halls::{self, ErrorReport},
    location::{Error, LocationArgs},
    output::outln,
    snapshot::printable,
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// The halls [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    args.location.check_dir()?;
    let halls = args.location.open()?;
    let mut errors = ErrorReport::default();
    for name in halls::chosen(&halls, args.names)? {
        match halls.reap(&name) {
            Ok(dead) => outln!("{}: {dead} dead", printable(&name)),
            Err(error) => errors.about(&error),
        }
    }
    Ok(errors.exit_code())
}
