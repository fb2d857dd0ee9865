//! `hallpass reap`: releases slots of dead processes. Without this command, a newcomer or waiter releases them when no
//! other slot is free.

use std::process::ExitCode;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::{
    halls::{self, ErrorReport},
    location::{Error, LocationArgs},
    output::{json_line, outln},
    snapshot::{self, printable},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// The names of the halls [default: all halls]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    args.location.check_dir()?;
    let halls = args.location.open()?;
    let mut errors = ErrorReport::default();
    let mut objects = Vec::new();
    for name in halls::chosen(&halls, args.names)? {
        match halls.reap(&name) {
            Ok(dead) if args.json => objects.push(json!({ "name": name, "dead": dead })),
            Ok(dead) => outln!("{}: {dead} dead", printable(&name)),
            Err(error) => {
                errors.about(&error);
                objects.push(snapshot::unreadable(&name, &error));
            }
        }
    }
    if args.json {
        outln!("{}", json_line(&json!({ "place": halls.shown(), "halls": objects })));
    }
    Ok(errors.exit_code())
}
