//! The report as text.

use std::fmt::Write as _;

use super::report::{Outcome, PERCENTILES, Report, Row};
use crate::common::{
    ranking::{self, Measured},
    text::{columns, duration, left_out, short, unless_complete},
};

/// Returns one table for each workload, and a line on how the figures were measured.
pub fn table(report: &Report) -> String {
    let mut text = String::new();
    for outcome in report.workloads.iter().filter(|outcome| !outcome.rows.is_empty()) {
        let _ = writeln!(text, "{}: {}", outcome.workload.name(), outcome.workload);
        text.push_str(&columns(&lines(outcome), 2));
        text.push_str(&warnings(outcome));
        text.push_str(&left_out(&outcome.left_out));
        text.push('\n');
    }
    text.push_str(&footnote(report));
    text
}

/// Returns one line on how the figures were measured.
pub fn footnote(report: &Report) -> String {
    let partly = unless_complete(report.complete);
    let plural = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let (cores, rounds) = (plural(report.cores, "core"), plural(report.rounds, "round"));
    let time = report.time_ms;
    format!("{cores}; medians of {rounds} of {time} ms, contestants take turns{partly}\n")
}

/// Returns the heading and one line for each contestant.
fn lines(outcome: &Outcome) -> Vec<Vec<String>> {
    let waits = outcome.workload.measures_waits();
    let mut heading = vec!["contestant".to_string(), "order".into()];
    match waits {
        true => heading.extend(PERCENTILES.iter().map(|(name, _)| name.to_string())),
        false => heading.extend(["ns/passage", "spread", "x floor", "x tokio"].map(String::from)),
    }
    if outcome.workload.has_rivalry() {
        heading.push("min/mean".into());
    }
    let line = |row: &Row| {
        let ratio = |ratio: Option<f64>| ratio.map_or("-".into(), short);
        let mut line = vec![row.contestant.to_string(), row.order.name().into()];
        match row.waits.filter(|_| waits) {
            Some(waits) => line.extend(waits.map(duration)),
            None => line.extend([
                format!("{:.1}", row.ns),
                format!("{:.0} %", row.spread * 100.0),
                ratio(outcome.to_floor(row)),
                ratio(outcome.to_tokio(row)),
            ]),
        }
        if outcome.workload.has_rivalry() {
            line.push(format!("{:.2}", row.fairness));
        }
        line
    };
    std::iter::once(heading).chain(outcome.rows.iter().map(line)).collect()
}

/// Returns warnings about contestants that cannot be ranked because their measurements overlap. Workloads that
/// measure waits get no warnings: they are ranked by a percentile, and the report has no spread for it.
fn warnings(outcome: &Outcome) -> String {
    if outcome.workload.measures_waits() {
        return String::new();
    }
    let measured =
        |row: &Row| Measured { contestant: row.contestant, median: row.ns, spread: row.spread };
    ranking::warnings(&outcome.rows.iter().map(measured).collect::<Vec<_>>())
}
