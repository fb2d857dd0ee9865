//! `hallpass status`: shows the holders and waiters of halls.

use std::{process::ExitCode, time::Duration};

use clap::Args as ClapArgs;
use serde_json::json;

use crate::{
    follow,
    halls::{self, ErrorReport},
    location::{Error, LocationArgs},
    output::{json_line, outln, say},
    snapshot::{self, Users, printable},
    table::table,
    time,
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// With --json: print a line for each event, such as joined, entered and left, until the reader closes the pipe
    #[arg(short, long, requires = "json")]
    follow: bool,
    /// With --follow: the time between two checks of the halls; what happens in between may be missed
    #[arg(short, long, value_name = "TIME", default_value = "0.2", value_parser = time::parse, requires = "follow")]
    delay: Duration,
    /// The names of the halls [default: all halls]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    args.location.check_dir()?;
    let halls = args.location.open()?;
    if args.follow {
        return follow::run(&halls, &args.names, args.delay);
    }
    let names = halls::chosen(&halls, args.names)?;
    if names.is_empty() && !args.json {
        say(format_args!("there are no halls in {}", printable(&halls.shown())));
    }
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
        outln!("{}", json_line(&json!({ "place": halls.shown(), "halls": objects })));
    }
    Ok(errors.exit_code())
}
