//! The performance goals of halls on clusters (*bars*), in one table.

use super::{
    handover,
    herd::{self, Herd},
    idle::{Idle, MOST_CONNECTIONS, MOST_CPU, MOST_REQUESTS},
    report::{Part, Report},
    setting::Engine,
    table::footnote,
};
use crate::common::text::{columns, short, with_heading};

/// The parts that the table needs.
pub const PARTS: [Part; 3] = [Part::Handover, Part::Idle, Part::Herd];

/// The numbers of waiters when a slot is released.
pub const HERDS: [usize; 2] = [10, 200];

/// The numbers of commands that wait on etcd and on PostgreSQL.
pub const WAITING: [usize; 2] = [300, 200];

/// The limit on the time of a hand-over to a command, as a multiple of that with an earlier version. Runs of the same
/// version differ by less.
const TO_BEFORE: f64 = 1.15;

/// A line of the table: the store, the bar, the measured value, and whether the value meets the bar.
type Line = [String; 4];

/// Returns the table: one line for each bar and store.
pub fn table(report: &Report) -> String {
    let lines = handovers(report).chain(report.idle.iter().flat_map(idle)).chain(herds(report));
    let heading = ["store", "bar", "measured", "met"];
    columns(&with_heading(heading, lines), 3) + &footnote(report)
}

fn line(store: impl ToString, bar: String, measured: String, met: bool) -> Line {
    [store.to_string(), bar, measured, if met { "yes" } else { "NO" }.into()]
}

fn handovers(report: &Report) -> impl Iterator<Item = Line> {
    report.handovers.iter().flat_map(|one| {
        let bar = format!("hand-over: at most {} x one write", handover::BAR);
        let first = line(one.setting, bar, short(one.in_writes()), one.holds());
        let second = one.to_before().map(|ratio| {
            let bar = format!("hand-over to a command: at most {TO_BEFORE} x --before");
            line(one.setting, bar, short(ratio), ratio <= TO_BEFORE)
        });
        [first].into_iter().chain(second)
    })
}

fn idle(one: &Idle) -> Vec<Line> {
    let Idle { setting, waiting, requests, connections, busiest, cpu } = one;
    let cpu = {
        let bar = format!("{waiting} waiting commands: at most {MOST_CPU} CPU seconds/s");
        line(setting, bar, format!("{cpu:.3}"), *cpu <= MOST_CPU)
    };
    match setting.engine {
        Engine::Etcd => {
            let bar = format!("{waiting} waiting commands: at most {MOST_REQUESTS} requests/s");
            let load = line(setting, bar, short(*requests), *requests <= MOST_REQUESTS);
            let bar = "connections: at most half to one member".into();
            let spread = format!("{busiest} of {connections}");
            let spread = line(setting, bar, spread, busiest * 2 <= *connections);
            let several = setting.members > 1;
            [load, cpu].into_iter().chain(several.then_some(spread)).collect()
        }
        Engine::Postgres => {
            let bar = format!("{waiting} waiting commands: at most {MOST_CONNECTIONS} connections");
            let met = *connections <= MOST_CONNECTIONS;
            vec![line(setting, bar, connections.to_string(), met), cpu]
        }
    }
}

fn herds(report: &Report) -> impl Iterator<Item = Line> {
    let same = |one: &Herd, other: &Herd| (one.setting, one.k) == (other.setting, other.k);
    report.herds.chunk_by(same).map(|group| {
        let unit = match group[0].setting.engine {
            Engine::Etcd => "events",
            Engine::Postgres => "transactions",
        };
        let waiting: Vec<_> = group.iter().map(|herd| herd.waiting.to_string()).collect();
        let events: Vec<_> = group.iter().map(|herd| herd.events.median.to_string()).collect();
        let bar = format!(
            "{unit} per release, k = {}: the same with {}",
            group[0].k,
            waiting.join(" and ")
        );
        line(group[0].setting, bar, events.join(" and "), herd::is_flat(group))
    })
}
