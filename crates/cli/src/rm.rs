//! `hallpass rm`: removes halls.

use std::process::ExitCode;

use clap::Args as ClapArgs;

use crate::{
    halls::Complaints,
    place::{Error, Location},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: Location,
    /// Remove them even if somebody holds a slot or waits for one, or if they are damaged; on etcd, who
    /// holds one is stopped
    #[arg(short, long)]
    force: bool,
    /// The halls
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    let place = args.location.place()?;
    let mut complaints = Complaints::default();
    for name in args.names {
        if let Err(error) = place.remove(&name, args.force) {
            complaints.about(&error);
        }
    }
    Ok(complaints.exit_code())
}
