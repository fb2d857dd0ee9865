//! `hallpass list`: lists the halls, one line each.

use std::process::ExitCode;

use clap::Args as ClapArgs;
use serde_json::json;

use crate::{
    halls::{self, ErrorReport},
    location::{Error, LocationArgs},
    output::{json_line, outln},
    snapshot::{self, Users},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print only the names, one on each line
    #[arg(long, conflicts_with = "json")]
    names: bool,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    let halls = args.location.open()?;
    let names = halls.names()?;
    if args.names {
        for name in names {
            outln!("{}", snapshot::printable(&name));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut users = Users::default();
    let mut errors = ErrorReport::default();
    let mut objects = Vec::new();
    let mut rows = vec![["NAME", "SLOTS", "HELD", "WAITING", ""].map(str::to_string)];
    for (name, hall) in halls::look(&halls, names, &mut users) {
        match hall {
            Ok(hall) => {
                objects.push(hall.summary());
                let numbers = [hall.status.slots, hall.held(), hall.status.waiters.len()];
                let [slots, held, waiting] = numbers.map(|number| number.to_string());
                let closed = if hall.status.closed { "  closed" } else { "" };
                rows.push([snapshot::printable(&name), slots, held, waiting, closed.into()]);
            }
            Err(error) => {
                errors.about(&error);
                objects.push(snapshot::unreadable(&name, &error));
            }
        }
    }
    if args.json {
        outln!("{}", json_line(&json!({ "place": halls.shown(), "halls": objects })));
    } else if rows.len() > 1 {
        let widest = rows.iter().map(|[name, ..]| console::measure_text_width(name)).max();
        for [name, slots, held, waiting, closed] in rows {
            let name = console::pad_str(&name, widest.unwrap_or(0), console::Alignment::Left, None);
            outln!("{name}  {slots:>5}  {held:>4}  {waiting:>7}{closed}");
        }
    }
    Ok(errors.exit_code())
}
