//! `hallpass status`: shows the holders and waiters of halls.

use std::process::ExitCode;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::{
    halls::{self, ErrorReport},
    location::{Error, LocationArgs},
    output::outln,
    snapshot::{self, Users},
    table::table,
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// The halls [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    let halls = args.location.open()?;
    let names = halls::chosen(&halls, args.names)?;
    let mut users = Users::default();
    let mut errors = ErrorReport::default();
    let mut objects = Vec::new();
    for (name, hall) in halls::look(&halls, names, &mut users) {
        match hall {
            Ok(hall) if args.json => objects.push(hall.to_json()),
            Ok(hall) => {
                for line in table(&hall) {
                    outln!("{}", line.text);
                }
            }
            Err(error) => {
                errors.about(&error);
                objects.push(snapshot::unreadable(&name, &error));
            }
        }
    }
    if args.json {
        outln!("{}", json!({ "place": halls.shown(), "halls": objects }));
    }
    Ok(errors.exit_code())
}
