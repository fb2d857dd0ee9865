//! The report as text.

use std::fmt::Write as _;

use super::{
    handover::{BAR, Handover},
    herd::{self, Herd},
    idle::Idle,
    race::{Race, Succession},
    report::Report,
};
use crate::common::{
    quartiles::Quartiles,
    text::{columns, duration, short, unless_complete, with_heading},
};

/// Returns a table for each part. Below the tables of hand-overs, herds and races, lines say whether the results are as
/// expected.
pub fn table(report: &Report) -> String {
    let mut text = String::new();
    if !report.handovers.is_empty() {
        text.push_str("time from a release until the successor has the slot: median (quartiles)\n");
        text.push_str(&columns(&handovers(&report.handovers), 1));
        // The number of stores on which the hand-over to another connection takes at most `BAR` writes.
        let good = report.handovers.iter().filter(|one| one.holds()).count();
        let all = report.handovers.len();
        let _ = writeln!(
            text,
            "  hand-over to another connection in at most {BAR} writes: {good} of {all}\n"
        );
    }
    if !report.idle.is_empty() {
        text.push_str("requests, connections and CPU time of commands that wait on one machine\n");
        text.push_str(&columns(&idle(&report.idle), 1));
        text.push('\n');
    }
    if !report.herds.is_empty() {
        text.push_str(
            "events of etcd, or transactions of PostgreSQL, per release: median (quartiles)\n",
        );
        text.push_str(&columns(&herds(&report.herds), 1));
        let flat = yes(herd::is_flat(&report.herds));
        let _ = writeln!(text, "  independent of the number of waiters: {flat}");
        let steady = yes(herd::is_steady(&report.herds));
        let _ = writeln!(text, "  independent of the number of earlier releases: {steady}\n");
    }
    if !report.races.is_empty() {
        text.push_str(
            "passages per second of commands that do nothing, k = 1: median (quartiles)\n",
        );
        text.push_str(&columns(&races(&report.races), 1));
        let good = report.races.iter().filter(|race| race.ratio.median >= 1.0).count();
        let all = report.races.len();
        let _ = writeln!(text, "  hallpass run at least as fast: {good} of {all}\n");
    }
    if !report.successions.is_empty() {
        text.push_str("from the end of a command to the start of the next: median (quartiles)\n");
        text.push_str(&columns(&successions(&report.successions), 2));
        text.push('\n');
    }
    if !report.behaviours.is_empty() {
        text.push_str("what happens to a command when things go wrong\n");
        text.push_str(&columns(&behaviours(report), 5));
        text.push('\n');
    }
    text.push_str(&footnote(report));
    text
}

pub(super) fn footnote(report: &Report) -> String {
    let Report { cores, rounds, load, .. } = report;
    let load: Vec<_> = load.iter().map(|load| load.to_string()).collect();
    let partly = unless_complete(report.complete);
    format!(
        "{cores} cores, load {}; {rounds} rounds, contestants take turns{partly}\n",
        load.join(", ")
    )
}

fn spread(quartiles: Quartiles, show: impl Fn(f64) -> String) -> String {
    let Quartiles { lower, median, upper } = quartiles;
    format!("{} ({} .. {})", show(median), show(lower), show(upper))
}

fn yes(good: bool) -> &'static str {
    if good { "yes" } else { "no" }
}

/// Returns a line for each store, with these columns, among others:
///
/// - `x write`: the time of the hand-over to another connection, as a multiple of the time of a write;
/// - `start without a hall`: the time to start the command without a hall;
/// - `x write without start`: the time of the hand-over to the command minus the time of its start, as a multiple of
///   the time of a write.
fn handovers(handovers: &[Handover]) -> Vec<Vec<String>> {
    let line = |one: &Handover| {
        [
            one.setting.to_string(),
            spread(one.write, duration),
            spread(one.connection, duration),
            short(one.in_writes()),
            spread(one.command, duration),
            duration(one.start.median),
            short(one.command_in_writes()),
        ]
    };
    let heading = [
        "cluster",
        "one write",
        "to another connection",
        "x write",
        "to a command of hallpass run",
        "start without a hall",
        "x write without start",
    ];
    with_heading(heading, handovers.iter().map(line))
}

fn idle(idle: &[Idle]) -> Vec<Vec<String>> {
    let line = |one: &Idle| {
        let counts = [one.waiting, one.connections].map(|count| count.to_string());
        let [waiting, connections] = counts;
        let cpu = format!("{:.3} s", one.cpu);
        [
            one.setting.to_string(),
            waiting,
            short(one.requests),
            connections,
            one.busiest.to_string(),
            cpu,
        ]
    };
    let heading =
        ["store", "waiting", "requests/s", "connections", "to the busiest member", "CPU/s"];
    with_heading(heading, idle.iter().map(line))
}

fn herds(herds: &[Herd]) -> Vec<Vec<String>> {
    let line = |one: &Herd| {
        let events = spread(one.events, |count| count.to_string());
        let counts = [one.early, one.late].map(|count| count.to_string());
        let [early, late] = counts;
        [one.setting.to_string(), one.k.to_string(), one.waiting.to_string(), events, early, late]
    };
    with_heading(
        ["store", "k", "waiting", "events", "first half", "second half"],
        herds.iter().map(line),
    )
}

fn races(races: &[Race]) -> Vec<Vec<String>> {
    let line = |one: &Race| {
        let show = |quartiles| spread(quartiles, short);
        let [ours, theirs, ratio] = [one.ours, one.theirs, one.ratio].map(show);
        [one.setting.to_string(), one.loops.to_string(), ours, theirs, ratio]
    };
    let heading = ["cluster", "loops", "hallpass run", "etcdctl lock", "ratio"];
    with_heading(heading, races.iter().map(line))
}

fn successions(successions: &[Succession]) -> Vec<Vec<String>> {
    let line = |one: &Succession| {
        [
            one.setting.to_string(),
            one.wrapper.name().to_string(),
            one.loops.to_string(),
            spread(one.time, duration),
            one.overlaps.to_string(),
        ]
    };
    let heading = ["cluster", "wrapper", "loops", "time", "overlaps"];
    with_heading(heading, successions.iter().map(line))
}

/// Returns a line for each trial. For each wrapper, it shows whether the wrapper behaved as expected, and what the
/// benchmark observed.
fn behaviours(report: &Report) -> Vec<Vec<String>> {
    let lines = report.behaviours.chunk_by(|one, other| one.trial == other.trial).map(|both| {
        let cell = |index: usize, show: &dyn Fn(bool, &str) -> String| {
            both.get(index).map_or("-".into(), |one| show(one.good, &one.seen))
        };
        let good = |index| cell(index, &|good, _| yes(good).into());
        let seen = |index| cell(index, &|_, seen| seen.into());
        [both[0].trial.expectation().to_string(), good(0), good(1), seen(0), seen(1)]
    });
    with_heading(
        ["", "hallpass run", "etcdctl lock", "observed: hallpass", "observed: etcdctl"],
        lines,
    )
}
