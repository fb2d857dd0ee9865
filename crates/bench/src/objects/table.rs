//! The report as text.

use std::fmt::Write as _;

use super::{
    findings::Findings,
    memory::{Memory, PARTS},
    report::{Curve, Figure, Kept, Part, Point, Report},
};
use crate::common::{
    ranking::{self, Measured},
    text::{columns, duration, unless_complete},
};

/// The heading of the table of longest operations.
pub const LONGEST: &str =
    "longest operation of a thread that was not paused itself, without its waits for a core";

/// Returns a table for each part, the conclusions, and a line on how the figures were measured.
pub fn table(report: &Report) -> String {
    let mut text = String::new();
    for figure in report.figures.iter().filter(|figure| !figure.is_empty()) {
        let _ = writeln!(text, "{}: {}", figure.part.name(), about(figure.part, report));
        text.push_str(&columns(&curves(figure, report), 1));
        text.push_str(&longest(figure));
        text.push_str(&unfinished(figure, report));
        text.push_str(&warnings(figure));
        text.push('\n');
    }
    if !report.stopped.is_empty() {
        let active = report.active;
        let _ = writeln!(
            text,
            "stopped: operations per second of {active} threads while others are stopped in an operation"
        );
        text.push_str(&columns(&stopped(&report.stopped), 1));
        text.push('\n');
    }
    if !report.memory.is_empty() {
        let (count, active) = (report.memory_operations, report.active);
        let _ = writeln!(
            text,
            "memory: MiB in use over {count} operations of {active} threads while others are stopped in an operation"
        );
        text.push_str(&columns(&memory(&report.memory), 1));
        text.push('\n');
    }
    let findings = Findings::of(report).to_string();
    if !findings.is_empty() {
        text.push_str(&findings);
        text.push('\n');
    }
    text.push_str(&footnote(report));
    text
}

/// Returns a table of the longest operations, if operations were timed.
fn longest(figure: &Figure) -> String {
    let points = figure.curves.iter().flat_map(|curve| &curve.points);
    if points.filter_map(|point| point.longest_ms).next().is_none() {
        return String::new();
    }
    let counts = figure.threads().into_iter().map(|threads| threads.to_string());
    let heading = ["threads".to_string()].into_iter().chain(counts).collect();
    let cell = |point: &Point| point.longest_ms.map_or_else(|| "-".into(), |ms| duration(ms * 1e6));
    let line = |curve: &Curve| {
        let name = [curve.contestant.to_string()].into_iter();
        name.chain(curve.points.iter().map(cell)).collect()
    };
    let lines: Vec<_> = std::iter::once(heading).chain(figure.curves.iter().map(line)).collect();
    format!("  {LONGEST}:\n{}", columns(&lines, 1))
}

/// Returns warnings about contestants that cannot be ranked by their times with the most threads, because
/// their measurements overlap.
fn warnings(figure: &Figure) -> String {
    let Some(&threads) = figure.threads().last() else { return String::new() };
    let measured = |curve: &Curve| {
        let point = curve.at(threads)?;
        Some(Measured { contestant: curve.contestant, median: point.ms?, spread: point.spread? })
    };
    let mut ranking: Vec<_> = figure.curves.iter().filter_map(measured).collect();
    ranking.sort_by(|one, other| one.median.total_cmp(&other.median));
    let heading = format!("  with {threads} threads:\n");
    let warnings = ranking::warnings(&ranking);
    if warnings.is_empty() { warnings } else { heading + &warnings }
}

/// Returns the description of a figure.
pub fn about(part: Part, report: &Report) -> String {
    let Report { operations, pause_ms, .. } = report;
    match part {
        Part::Paused => format!(
            "total time for {operations} operations while running threads are paused for \
             {pause_ms} ms, one after the other"
        ),
        _ => format!("total time for {operations} operations, divided among the threads"),
    }
}

/// Returns one line on how the figures were measured.
pub fn footnote(report: &Report) -> String {
    let partly = unless_complete(report.complete);
    let Report { cores, rounds, size, .. } = report;
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    format!(
        "{cores} core{}; alternating push and pop on a priority queue of {size} items; medians of {rounds} \
         round{}, contestants take turns{partly}\n",
        plural(*cores),
        plural(*rounds)
    )
}

/// Returns the heading and one line for each contestant.
fn curves(figure: &Figure, report: &Report) -> Vec<Vec<String>> {
    let counts = figure.threads().into_iter().map(|threads| threads.to_string());
    let heading = ["threads".to_string()].into_iter().chain(counts).chain(["spread".to_string()]);
    let cell = |point: &Point| match (point.ms, point.done) {
        (Some(ms), _) => duration(ms * 1e6),
        (None, Some(_)) => format!("> {} s", report.limit_s),
        (None, None) => "-".into(),
    };
    let line = |curve: &Curve| {
        let spread = curve.points.iter().filter_map(|point| point.spread).fold(0.0, f64::max);
        let cells = curve.points.iter().map(cell);
        let name = [curve.contestant.to_string()].into_iter();
        name.chain(cells).chain([format!("{:.0} %", spread * 100.0)]).collect()
    };
    std::iter::once(heading.collect()).chain(figure.curves.iter().map(line)).collect()
}

/// Returns a line for each contestant that did not always finish.
fn unfinished(figure: &Figure, report: &Report) -> String {
    let (limit, all) = (report.limit_s, report.operations);
    let line = |curve: &Curve| {
        let case = |point: &Point| {
            point.done.map(|done| format!("{} threads ({done} operations)", point.threads))
        };
        let cases: Vec<String> = curve.points.iter().filter_map(case).collect();
        let name = curve.contestant;
        (!cases.is_empty()).then(|| {
            format!(
                "  {name} did not finish {all} operations in {limit} s with {}\n",
                cases.join(", ")
            )
        })
    };
    figure.curves.iter().filter_map(line).collect()
}

fn stopped(rows: &[Kept]) -> Vec<Vec<String>> {
    let heading =
        ["contestant", "none stopped", "one stopped", "kept", "k-1", "k-1 stopped", "kept"];
    let rate = |rate: Option<f64>| rate.map_or("-".into(), |rate| format!("{rate:.0}"));
    let line = |kept: &Kept| {
        vec![
            kept.contestant.to_string(),
            rate(Some(kept.without)),
            rate(kept.one),
            percent(kept.part_with_one()),
            kept.most_stopped.map_or("-".into(), |count| count.to_string()),
            rate(kept.most),
            percent(kept.part_with_most()),
        ]
    };
    let heading = heading.map(String::from).to_vec();
    std::iter::once(heading).chain(rows.iter().map(line)).collect()
}

/// Formats the share of the throughput that remains, or `stops` if it is zero.
pub fn percent(part: Option<f64>) -> String {
    match part {
        None => "-".into(),
        Some(0.0) => "stops".into(),
        Some(part) => format!("{:.0} %", part * 100.0),
    }
}

fn memory(rows: &[Memory]) -> Vec<Vec<String>> {
    let parts = (1..PARTS).map(|part| format!("{} %", part * 100 / PARTS));
    let heading = ["contestant", "stopped", "start"].map(String::from).into_iter();
    let heading = heading.chain(parts).chain(["end".to_string()]).collect();
    let line = |memory: &Memory| {
        let cell = |index: usize| match memory.resident_kib.get(index) {
            Some(kib) => format!("{:.1}", *kib as f64 / 1024.0),
            None => "-".into(),
        };
        let cells = (0..=PARTS as usize).map(cell);
        let first = [memory.contestant.to_string(), memory.stopped.to_string()];
        first.into_iter().chain(cells).collect()
    };
    std::iter::once(heading).chain(rows.iter().map(line)).collect()
}
