//! Checks a tiny run of the benchmark of processes, and its report.

use std::{sync::atomic::AtomicBool, time::Duration};

use hallpass_bench::{
    common::{rounds::Steps, work::Work},
    processes::{
        contestants::{FLOOR, HALLPASS, POSIX, SYSV, field},
        death::{self, CROWDS},
        measure::Plan,
        race::Load,
        table, workloads,
    },
};

/// Returns a plan for a short run, with few kills and a short observation of waiters.
fn plan() -> Plan {
    let workloads = workloads::all(10, 10);
    Plan { workloads, contestants: field(), time_ms: 5, rounds: 2, kills: 3, watch_ms: 20 }
}

#[test]
fn every_contestant_runs_or_is_left_out_with_a_reason() {
    let report = plan()
        .run(&mut Steps::new(&AtomicBool::new(false), &mut |_| {}))
        .expect("it can be measured");
    assert!(report.complete && !report.is_empty());
    let (table, json) = (table::table(&report), report.to_json());
    assert_eq!(report.successions.len(), CROWDS.len());
    for (index, outcome) in report.workloads.iter().enumerate() {
        for contestant in &field() {
            let row = outcome.row(contestant.name);
            assert!(row.is_some() || outcome.workload.k > 1, "{contestant:?}, {outcome:?}");
        }
        for name in [FLOOR, HALLPASS, POSIX, SYSV] {
            let rows = json["workloads"][index]["contestants"].as_array().expect("rows");
            let row = rows.iter().find(|row| row["contestant"] == name).expect("it ran");
            assert!(row["to_posix"].as_f64().is_some() && row["over_sysv"].as_f64().is_some());
        }
        assert!(table.contains(&format!("{}: ", outcome.workload.name())), "{table}");
    }
    assert!(table.contains("left out (it has only one slot): robust-mutex, flock, ofd-lock"));
}

#[test]
fn the_report_of_a_stopped_measurement_says_that_it_was_stopped() {
    let stop = AtomicBool::new(false);
    let mut announce = |what: String| {
        stop.fetch_or(what.ends_with(POSIX), std::sync::atomic::Ordering::SeqCst);
    };
    let report = plan().run(&mut Steps::new(&stop, &mut announce));
    let report = report.expect("it can be measured");
    assert!(!report.complete && !report.is_empty() && report.parked.is_none());
    assert!(table::table(&report).contains("stopped before the end"));
}

#[test]
fn every_contestant_makes_passages() {
    let (inside, outside) = (Work::NONE, Work::of_nanos(100));
    for contestant in &field() {
        let time = Duration::from_millis(200);
        let load = Load { processes: 3, k: 1, inside, outside, time };
        let sample = contestant.run(&load).expect("every contestant can have one slot");
        assert_eq!(sample.passages.len(), 3, "{contestant:?}");
        assert!(sample.passages.iter().sum::<u64>() > 0, "{contestant:?}");
    }
}

#[test]
fn the_time_from_a_kill_to_the_next_holder_is_measured() {
    for crowd in CROWDS {
        let seen = death::measure(crowd, 5).expect("it can be measured");
        assert!(0 < seen.median && seen.median <= seen.p99 && seen.p99 <= seen.max, "{seen:?}");
    }
}
