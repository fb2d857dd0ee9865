//! The report as text.

use std::fmt::Write as _;

use super::report::{Outcome, Report, Row};
use crate::common::{
    ranking::{self, Measured},
    text::{columns, duration, left_out, short, unless_complete},
};

/// Returns a table for each workload, a table of kills, and a line about waiting.
pub fn table(report: &Report) -> String {
    let mut text = String::new();
    for outcome in report.workloads.iter().filter(|outcome| !outcome.rows.is_empty()) {
        let _ = writeln!(text, "{}: {}", outcome.workload.name(), outcome.workload);
        text.push_str(&columns(&passages(outcome), 3));
        text.push_str(&warnings(outcome));
        text.push_str(&left_out(&outcome.left_out));
        text.push('\n');
    }
    if !report.successions.is_empty() {
        text.push_str("time from SIGKILL of a holder until its successor has the slot:\n");
        text.push_str(&columns(&successions(report), 0));
        text.push('\n');
    }
    if let Some(parked) = report.parked {
        let (seconds, cpu) = (parked.wall_ms as f64 / 1e3, duration(parked.cpu_ns as f64));
        let _ = writeln!(
            text,
            "a waiter that waits for {seconds} s uses {cpu} of CPU time; times scheduled: {}\n",
            parked.runs
        );
    }
    let partly = unless_complete(report.complete);
    let Report { cores, rounds, time_ms, .. } = report;
    let _ = writeln!(
        text,
        "{cores} cores; medians of {rounds} rounds of {time_ms} ms, contestants measured alternately{partly}"
    );
    text
}

/// Returns the heading and a line for each contestant.
fn passages(outcome: &Outcome) -> Vec<Vec<String>> {
    let rivalry = outcome.workload.has_rivalry();
    let mut heading = vec!["contestant", "order", "after a kill", "ns/passage", "spread"];
    heading.extend(["x posix-sem", "faster than sysv"]);
    if rivalry {
        heading.extend(["passages/s", "min/mean"]);
    }
    let line = |row: &Row| {
        let ratio = |ratio: Option<f64>| ratio.map_or("-".into(), short);
        let mut line = vec![
            row.contestant.to_string(),
            row.order.name().to_string(),
            row.after_death.to_string(),
            format!("{:.1}", row.ns),
            format!("{:.0} %", row.spread * 100.0),
            ratio(outcome.to_posix(row)),
            ratio(outcome.over_sysv(row)),
        ];
        if rivalry {
            line.extend([format!("{:.0}", 1e9 / row.ns), format!("{:.2}", row.fairness)]);
        }
        line
    };
    let heading = heading.into_iter().map(String::from).collect();
    std::iter::once(heading).chain(outcome.rows.iter().map(line)).collect()
}

fn successions(report: &Report) -> Vec<Vec<String>> {
    let heading = ["k", "waiting", "kills", "median", "p99", "max"].map(String::from).to_vec();
    let line = |one: &super::death::Successions| {
        let nanos = [one.median, one.p99, one.max].map(|nanos| duration(nanos as f64));
        let counts = [one.crowd.k, one.crowd.waiting, one.kills].map(|count| count.to_string());
        counts.into_iter().chain(nanos).collect()
    };
    std::iter::once(heading).chain(report.successions.iter().map(line)).collect()
}

/// Returns warnings about contestants that cannot be ranked because their measurements overlap.
fn warnings(outcome: &Outcome) -> String {
    let measured =
        |row: &Row| Measured { contestant: row.contestant, median: row.ns, spread: row.spread };
    ranking::warnings(&outcome.rows.iter().map(measured).collect::<Vec<_>>())
}
