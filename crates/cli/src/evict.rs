//! `hallpass evict`: takes a slot away from a holder whose machine is known to be dead.

use std::process::ExitCode;

use clap::Args as ClapArgs;

use crate::location::{Error, LocationArgs};

const AFTER: &str = "\
Use this command only if the holder has certainly ended, for example because its machine is switched off. If the \
holder still runs, hallpass ends it a moment later, and until then two commands may have the slot. Without this \
command, the slot of a dead machine becomes free after at most about twice the ttl. A \
holder of several slots (--take) loses all of them.";

#[derive(ClapArgs)]
#[command(after_help = AFTER)]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// The name of the hall
    #[arg(value_name = "NAME")]
    name: String,
    /// The slot, as `hallpass status` shows it
    #[arg(value_name = "SLOT")]
    slot: usize,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    args.location.open()?.evict(&args.name, args.slot)?;
    Ok(ExitCode::SUCCESS)
}
