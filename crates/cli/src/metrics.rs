//! `hallpass metrics`: the state of halls in the text format of Prometheus.

use std::{collections::HashSet, process::ExitCode};

use clap::Args as ClapArgs;
use hallpass_common::Participant;

use crate::{
    halls::{self, ErrorReport},
    location::{Error, LocationArgs},
    output::outln,
    snapshot::{Users, View},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// The names of the halls [default: all halls]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// A number that is shown for each hall.
type Gauge = (&'static str, &'static str, fn(&View) -> f64);

const GAUGES: [Gauge; 7] = [
    ("hallpass_slots", "Number of slots", |hall| hall.status.slots as f64),
    ("hallpass_held", "Number of holders that are alive", |hall| hall.held() as f64),
    (
        "hallpass_vanished",
        "Number of holders that have vanished and whose slot is not free yet",
        |hall| (hall.status.holders.len() - hall.held()) as f64,
    ),
    ("hallpass_waiting", "Number of waiters", |hall| hall.status.waiters.len() as f64),
    ("hallpass_closed", "1 if the hall is closed", |hall| f64::from(u8::from(hall.status.closed))),
    ("hallpass_longest_hold_seconds", "How long the oldest holder has had its slot", |hall| {
        longest(hall, &hall.status.holders)
    }),
    ("hallpass_longest_wait_seconds", "How long the oldest waiter has waited", |hall| {
        longest(hall, &hall.status.waiters)
    }),
];

pub fn run(args: Args) -> Result<ExitCode, Error> {
    let halls = args.location.open()?;
    let mut names = halls::chosen(&halls, args.names)?;
    let mut known = HashSet::new();
    names.retain(|name| known.insert(name.clone())); // Prometheus rejects a series that comes twice
    let mut errors = ErrorReport::default();
    let mut seen = Vec::new();
    for (name, hall) in halls::look(&halls, names, &mut Users::default()) {
        match hall {
            Ok(hall) => seen.push((name, hall)),
            Err(error) => errors.about(&error),
        }
    }
    for (gauge, help, value) in GAUGES {
        outln!("# HELP {gauge} {help}.");
        outln!("# TYPE {gauge} gauge");
        for (name, hall) in &seen {
            outln!("{gauge}{{hall=\"{}\"}} {}", escaped(name), value(hall));
        }
    }
    Ok(errors.exit_code())
}

fn longest(hall: &View, participants: &[Participant]) -> f64 {
    let ages = participants.iter().map(|one| hall.age(one).as_secs_f64());
    ages.fold(0.0, f64::max)
}

/// Escapes the value of a label, as Prometheus reads it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn labels_are_escaped() {
        assert_eq!(escaped("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
    }
}
