//! `hallpass reap`: frees what the dead hold, without waiting for anybody to come by.

use std::process::ExitCode;

use clap::Args as ClapArgs;

use crate::{
    halls::{self, Complaints},
    output::outln,
    people::printable,
    place::{Error, Location},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: Location,
    /// The halls [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    let place = args.location.place()?;
    let mut complaints = Complaints::default();
    for name in halls::chosen(&place, args.names)? {
        match place.reap(&name) {
            Ok(dead) => outln!("{}: {dead} dead", printable(&name)),
            Err(error) => complaints.about(&error),
        }
    }
    Ok(complaints.exit_code())
}
