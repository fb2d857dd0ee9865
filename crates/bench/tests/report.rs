//! Checks a tiny run of the benchmark of threads, and its report.

use std::sync::atomic::AtomicBool;

use hallpass_bench::{
    common::rounds::Steps,
    threads::{
        bars,
        contestants::{Contestant, field, papers},
        measure::Plan,
        report::Report,
        table,
        workloads::{self, Workload},
    },
};

fn names(contestants: &[Contestant]) -> Vec<&'static str> {
    contestants.iter().map(|one| one.name).collect()
}

fn run(workloads: Vec<Workload>, contestants: Vec<Contestant>) -> Report {
    let plan = Plan { workloads, contestants, time_ms: 10, rounds: 2 };
    let mut steps = 0;
    let stop = AtomicBool::new(false);
    let report = plan.run(&mut Steps::new(&stop, &mut |_| steps += 1));
    assert_eq!(steps, plan.steps());
    report
}

#[test]
fn every_contestant_is_in_every_table_and_in_the_json() {
    let report = run(workloads::all(10, 10), field());
    assert!(report.complete);
    let table = table::table(&report);
    let json = report.to_json();
    let parts: Vec<&str> = table.split("\n\n").collect();
    assert_eq!(parts.len(), report.workloads.len() + 1, "one part each, and the last line");
    for (index, part) in parts[..report.workloads.len()].iter().enumerate() {
        let lines: Vec<Vec<&str>> =
            part.lines().map(|line| line.split_whitespace().collect()).collect();
        let outcome = &json["workloads"][index];
        assert_eq!(format!("{}:", outcome["workload"].as_str().expect("a name")), lines[0][0]);
        let ran = |contestant: &&Contestant| {
            let left_out = &report.workloads[index].left_out;
            left_out.iter().all(|one| one.contestant != contestant.name)
        };
        let field = field();
        let tasks = report.workloads[index].workload.group.is_for_tasks();
        assert_eq!(field.iter().filter(ran).count() < field.len(), tasks);
        for name in field.iter().filter(ran).map(|one| one.name) {
            assert!(lines[2..].iter().any(|line| line[0] == name), "{name} in\n{part}");
            let rows = outcome["contestants"].as_array().expect("rows");
            let row = rows.iter().find(|row| row["contestant"] == name).expect("it ran");
            assert!(row["ns"].as_f64().expect("a number") > 0.0);
            assert_eq!(row["to_floor"].as_f64().is_some(), !tasks);
            assert!(row["to_tokio"].as_f64().is_some());
            let fairness = row["fairness"].as_f64().expect("a number");
            assert!((0.0..=1.0).contains(&fairness));
            let latency = outcome["group"] == "latency";
            assert_eq!(row["waits_ns"]["p99.9"].as_f64().is_some(), latency, "{row}");
        }
    }
}

#[test]
fn a_contestant_that_cannot_run_is_left_out_with_a_reason() {
    let workloads = workloads::all(0, 0);
    let wide = workloads.into_iter().filter(|workload| workload.k == 1024).collect();
    let few: Vec<_> = papers().into_iter().take(2).collect();
    let expected = names(&few);
    let report = run(wide, few);
    let left_out: Vec<_> = report.workloads[0].left_out.iter().map(|one| one.contestant).collect();
    assert_eq!(left_out, expected);
    assert!(report.is_empty());
    let why = &report.workloads[0].left_out[0].why;
    assert_eq!(why, "built for at most n = 7 processes");
    assert!(table::table(&report).contains("2 rounds"));
}

#[test]
fn the_report_of_a_stopped_measurement_says_that_it_was_stopped() {
    let plan =
        Plan { workloads: workloads::all(0, 0), contestants: field(), time_ms: 10, rounds: 2 };
    let stop = AtomicBool::new(false);
    let mut announce = |step: String| {
        let enough = step.ends_with(" tokio");
        stop.fetch_or(enough, std::sync::atomic::Ordering::SeqCst);
    };
    let report = plan.run(&mut Steps::new(&stop, &mut announce));
    assert!(!report.complete && !report.is_empty());
    assert!(table::table(&report).contains("stopped before the end"));
}

/// The table of bars (performance goals) has a line for each workload and each contestant with bars. The line says
/// whether the contestant meets them.
#[test]
fn every_bar_is_in_one_table() {
    let workloads: Vec<_> = workloads::all(10, 10).into_iter().filter(bars::needs).collect();
    let contestants: Vec<_> =
        field().into_iter().filter(|one| bars::CONTESTANTS.contains(&one.name)).collect();
    assert_eq!(contestants.len(), bars::CONTESTANTS.len());
    let table = bars::table(&run(workloads, contestants));
    for work in ["alone-k1 ", "alone-k1024", "ready", "many", "cancel", "hand-over", "crowd-k4"] {
        let line = table.lines().find(|line| line.contains(work));
        let line = line.unwrap_or_else(|| panic!("{work} is missing in\n{table}"));
        assert!(line.contains(" yes ") || line.contains(" NO "), "{line}");
    }
    let oversubscribed = table.lines().filter(|line| line.contains("oversubscribed")).count();
    assert_eq!(oversubscribed, 2, "a fair hall and one with a limit on overtaking:\n{table}");
    assert!(table.contains("longest wait") && table.contains("hallpass-barging"), "{table}");
    assert!(table.contains("size of a hall: 128 bytes"), "{table}");
}
