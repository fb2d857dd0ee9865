//! `hallpass resize`: changes the number of slots while the hall is in use.

use std::process::ExitCode;

use clap::Args as ClapArgs;

use crate::{
    location::{Error, LocationArgs},
    run::parse_slots,
};

#[derive(ClapArgs)]
#[command(after_help = "Holders of removed slots keep them until they exit.")]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// The name of the hall
    #[arg(value_name = "NAME")]
    name: String,
    /// The new number of slots
    #[arg(value_name = "K", value_parser = parse_slots, allow_negative_numbers = true)]
    slots: usize,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    args.location.open()?.resize(&args.name, args.slots)?;
    Ok(ExitCode::SUCCESS)
}
