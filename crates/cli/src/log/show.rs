//! `hallpass log`: shows past runs.

use std::{collections::HashMap, process::ExitCode, time::Duration};

use clap::Args as ClapArgs;
use serde_json::json;

use super::{Entry, file};
use crate::{
    location::{Error, Location, LocationArgs, hide_on_machine},
    output::{json_line, outln},
    snapshot::printable,
    time, users,
};

const AFTER: &str = "\
The log does not contain runs with --no-fork, runs with --no-log, or runs whose hallpass was killed by SIGKILL.";

#[derive(ClapArgs)]
#[command(after_help = AFTER, mut_args(hide_on_machine))]
pub struct Args {
    #[command(flatten)]
    location: LocationArgs,
    /// Show only the latest N runs
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    lines: usize,
    /// Print a JSON object for each run
    #[arg(long)]
    json: bool,
    /// The name of the hall
    #[arg(value_name = "NAME")]
    name: String,
}

pub fn run(args: Args) -> Result<ExitCode, Error> {
    let Location::Machine(dir) = args.location.location()? else {
        return Err(Error::Options(
            "log is for halls of this machine, and halls on etcd or PostgreSQL have no log: use --dir or --system, or \
             unset HALLPASS_ON".into(),
        ));
    };
    // Fails with a clear message if there is no such hall.
    let hall = dir.open_existing(&args.name)?;
    let entries = file::read(hall.path()).map_err(|error| {
        Error::Options(format!("cannot read the log of {}: {error}", hall.path().display()))
    })?;
    let latest = &entries[entries.len().saturating_sub(args.lines)..];
    if args.json {
        for line in objects(latest) {
            outln!("{line}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    for line in table(latest) {
        outln!("{line}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the entries as JSON objects, one on each line.
pub fn objects(entries: &[Entry]) -> impl Iterator<Item = String> {
    entries.iter().map(|entry| json_line(&json!(entry)))
}

/// Returns the entries as lines of a table. Returns no lines if there are no entries.
pub fn table(entries: &[Entry]) -> Vec<String> {
    if entries.is_empty() {
        return Vec::new();
    }
    let mut names: HashMap<u32, String> = HashMap::new();
    let mut rows =
        vec![["END", "USER", "SLOT", "WAITED", "RAN", "STATUS", "COMMAND"].map(String::from)];
    for entry in entries {
        let name = || users::name_of(entry.uid).unwrap_or_else(|| entry.uid.to_string());
        let user = names.entry(entry.uid).or_insert_with(name).clone();
        let slots: Vec<_> = entry.slots.iter().map(usize::to_string).collect();
        rows.push([
            printable(&entry.end),
            printable(&user),
            slots.join(","),
            shown(entry.waited),
            shown(entry.ran),
            entry.status.to_string(),
            printable(&entry.command),
        ]);
    }
    let widths: [usize; 6] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| console::measure_text_width(&row[column]));
        cells.max().unwrap_or_default()
    });
    let line = |row: &[String; 7]| {
        let pad = |column: usize| {
            let gap = widths[column] - console::measure_text_width(&row[column]);
            match column {
                // Times and names are aligned to the left, numbers to the right.
                0 | 1 => format!("{}{:gap$}", row[column], ""),
                _ => format!("{:gap$}{}", "", row[column]),
            }
        };
        let cells: Vec<_> = (0..6).map(pad).chain([row[6].clone()]).collect();
        cells.join("  ")
    };
    rows.iter().map(line).collect()
}

/// Formats a number of seconds. It may be any number, because another program may have written it to the log.
fn shown(seconds: f64) -> String {
    match seconds {
        0.0..10.0 => format!("{seconds:.1}s"),
        _ => time::short(Duration::try_from_secs_f64(seconds).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_aligned_and_shows_no_control_characters() {
        let entry = |slots: Vec<usize>, ran: f64, command: &str| Entry {
            end: "2026-11-16T10:00:00.000Z".into(),
            pid: 1,
            uid: u32::MAX - 7,
            slots,
            waited: 0.25,
            ran,
            status: 137,
            command: command.into(),
        };
        let lines = table(&[entry(vec![0], 1.0, "ls"), entry(vec![1, 2], 3725.0, "a\x1b[2J")]);
        let expected = [
            "END                       USER        SLOT  WAITED    RAN  STATUS  COMMAND",
            "2026-11-16T10:00:00.000Z  4294967288     0    0.2s   1.0s     137  ls",
            "2026-11-16T10:00:00.000Z  4294967288   1,2    0.2s  1h02m     137  a\\u{1b}[2J",
        ];
        assert_eq!(lines, expected);
        assert_eq!(table(&[]), [""; 0]);
    }
}
