//! `hallpass status`: who holds the slots of halls, and who waits.

use std::process::ExitCode;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::{
    halls::{self, Complaints},
    output::outln,
    people::{self, Users},
    place::{Error, Location},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: Location,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// The halls [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    let place = args.location.place()?;
    let names = halls::chosen(&place, args.names)?;
    let mut users = Users::default();
    let mut complaints = Complaints::default();
    let mut objects = Vec::new();
    for (name, hall) in halls::look(&place, names, &mut users) {
        match hall {
            Ok(hall) if args.json => objects.push(hall.to_json()),
            Ok(hall) => {
                for line in hall.table() {
                    outln!("{line}");
                }
            }
            Err(error) => {
                complaints.about(&error);
                objects.push(people::unreadable(&name, &error));
            }
        }
    }
    if args.json {
        outln!("{}", json!({ "place": place.shown(), "halls": objects }));
    }
    Ok(complaints.exit_code())
}
