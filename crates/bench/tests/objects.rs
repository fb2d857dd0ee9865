//! Tiny runs on shared objects, and their reports. The runs are too short for meaningful figures.

use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    time::Duration,
};

use hallpass_bench::{
    common::rounds::Steps,
    objects::{
        contestants::{Contestant, Kind, field},
        curve::{self, Disturbance, Sample},
        heap::{Heap, Op, Ops},
        measure::Plan,
        memory, plot,
        report::Part,
        stage::Crew,
        stopped, table,
    },
};
use hallpass_objects::Object;

const LONG: Duration = Duration::from_secs(60);

fn contestant(name: &str) -> Contestant {
    field().into_iter().find(|one| one.name == name).expect("it competes")
}

fn plan(parts: Vec<Part>) -> Plan {
    Plan {
        parts,
        contestants: field(),
        threads: vec![1, 3, 33],
        operations: 2_000,
        size: 5,
        rounds: 2,
        limit: Duration::from_secs(2),
        pause: Duration::from_millis(2),
        active: 2,
        time: Duration::from_millis(10),
        memory_operations: 1_000,
    }
}

#[test]
fn every_contestant_answers_as_a_heap_does() {
    for size in [0, 1, 20] {
        let mut ops = Ops::new(7);
        let mut script: Vec<Op> = (0..100).map(|_| ops.next()).collect();
        // Equal elements are kept separately, and `pop` of an empty queue returns `None`.
        script.extend([Op::Push(3), Op::Push(3), Op::Push(0)]);
        script.extend([Op::Pop; 25]);
        let mut heap = Heap::of_size(size);
        let expected: Vec<_> = script.iter().map(|op| heap.apply(op)).collect();
        assert_eq!(expected.last(), Some(&None));
        for contestant in field() {
            assert_eq!(contestant.answers(size, &script), expected, "{contestant:?}");
        }
    }
}

#[test]
fn every_contestant_is_in_every_table_and_in_the_json() {
    let plan = plan(vec![Part::Plain, Part::Stopped]);
    let mut steps = 0;
    let report = plan
        .run(&mut Steps::new(&AtomicBool::new(false), &mut |_| steps += 1))
        .expect("all threads return");
    assert_eq!(steps, plan.steps());
    assert!(report.complete && !report.is_empty());
    let (text, json) = (table::table(&report), report.to_json());
    for (index, contestant) in field().iter().enumerate() {
        let name = contestant.name;
        let lines = text.lines().filter(|line| line.split_whitespace().next() == Some(name));
        assert!(lines.count() >= 2, "{name} in\n{text}");
        assert_eq!(json["figures"][0]["curves"][index]["contestant"], name);
        let points = json["figures"][0]["curves"][index]["points"].as_array().expect("points");
        assert_eq!(points.len(), 3);
        let alone = points[0]["ms"].as_f64();
        assert!(alone.is_some_and(|ms| ms > 0.0), "{name} alone");
        if contestant.max_threads().is_some_and(|max| max < 33) {
            assert_eq!(points[2]["why"], "it supports at most 32 threads");
        }
        assert_eq!(json["stopped"][index]["contestant"], name);
    }
    assert!(text.contains("plain, 33 threads: best k is "), "{text}");
    assert!(
        text.contains("plain, longest total time / shortest total time: resilient-1 "),
        "{text}"
    );
    assert!(text.contains("std-mutex stops"), "{text}");
    let names: Vec<String> =
        plot::plots(&report).expect("plots").into_iter().map(|it| it.0).collect();
    assert_eq!(names, ["figure-10.svg", "stopped.svg"]);
    assert_eq!(names, plot::names(&plan.parts));
}

/// Returns `true` if two threads complete operations while this many others are stopped in an operation. Tries longer
/// and longer times, because the machine may be busy.
fn others_continue(contestant: &Contestant, stopped: usize) -> bool {
    let crew = Crew { threads: 2, victims: stopped, operations: None, size: 10, timed: false };
    (5..12).any(|power| {
        let rate = stopped::measure(contestant, &crew, Duration::from_millis(1 << power), LONG);
        rate.expect("all threads return").is_some_and(|rate| rate > 0.0)
    })
}

#[test]
fn a_resilient_object_tolerates_k_minus_one_stopped_threads() {
    for contestant in &field() {
        match contestant.kind {
            Kind::Resilient { k: 1 } | Kind::Lock | Kind::SpinLock => {}
            Kind::Resilient { k } => assert!(others_continue(contestant, k - 1), "{contestant:?}"),
            Kind::WaitFree { .. } | Kind::LockFree => {
                assert!(others_continue(contestant, 3), "{contestant:?}");
            }
        }
    }
}

#[test]
fn a_thread_that_stops_while_it_holds_a_lock_blocks_all_others() {
    let crew = Crew { threads: 2, victims: 1, operations: None, size: 10, timed: false };
    let time = Duration::from_millis(30);
    for name in ["resilient-1", "mcs-yield", "std-mutex", "parking-lot"] {
        assert_eq!(stopped::measure(&contestant(name), &crew, time, LONG), Ok(Some(0.0)), "{name}");
    }
    // The second victim never reaches the point at which it would stop, because the first one holds the lock.
    let crew = Crew { victims: 2, ..crew };
    let limit = Duration::from_secs(2);
    let rate = stopped::measure(&contestant("std-mutex"), &crew, time, limit);
    assert_eq!(rate, Ok(Some(0.0)));
}

#[test]
fn a_measurement_that_does_not_end_is_stopped_at_its_time_limit() {
    for contestant in &field() {
        let crew =
            Crew { threads: 6, victims: 0, operations: Some(u64::MAX / 2), size: 10, timed: false };
        let limit = Duration::from_millis(20);
        let sample = curve::measure(contestant, &crew, Disturbance::None, limit, 0);
        assert!(matches!(sample, Ok(Sample::TimeUp { .. })), "{contestant:?}: {sample:?}");
    }
    let report = Plan { operations: u64::MAX / 2, threads: vec![2], ..plan(vec![Part::Plain]) };
    let report = Plan { limit: Duration::from_millis(20), ..report };
    let report = report
        .run(&mut Steps::new(&AtomicBool::new(false), &mut |_| {}))
        .expect("all threads return");
    let text = table::table(&report);
    assert!(text.contains("  std-mutex did not finish "), "{text}");
    assert!(text.contains("resilient-2 did not always finish"), "{text}");
}

#[test]
fn the_report_of_a_stopped_measurement_says_that_it_was_stopped() {
    let stop = AtomicBool::new(false);
    let mut announce = |what: String| {
        stop.fetch_or(what.ends_with("resilient-4"), SeqCst);
    };
    let report = plan(vec![Part::Plain]).run(&mut Steps::new(&stop, &mut announce));
    let report = report.expect("all threads return");
    assert!(!report.complete && !report.is_empty());
    assert!(table::table(&report).contains("stopped before the end"));
}

#[cfg(target_os = "linux")]
#[test]
fn paused_threads_do_all_their_operations() {
    // Spin locks take minutes if other programs use the machine.
    for contestant in field().iter().filter(|one| one.kind != Kind::SpinLock) {
        let crew =
            Crew { threads: 2, victims: 0, operations: Some(30_000), size: 10, timed: false };
        let disturbance = Disturbance::Pauses(Duration::from_millis(1));
        let sample = curve::measure(contestant, &crew, disturbance, LONG, 1);
        assert!(matches!(sample, Ok(Sample::Done { .. })), "{contestant:?}: {sample:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_recorded_after_each_tenth_unless_all_threads_are_blocked() {
    let crew = Crew { threads: 2, victims: 1, operations: None, size: 10, timed: false };
    let never = AtomicBool::new(false);
    let seen = memory::measure(&contestant("skip-list"), &crew, 1_000, LONG, &never);
    let seen = seen.expect("all threads return");
    assert!(seen.finished && seen.resident_kib.len() == 11, "{seen:?}");
    assert!(seen.resident_kib.iter().all(|kib| *kib > 0) && seen.growth_kib().is_some());
    let limit = Duration::from_millis(200);
    let stops = memory::measure(&contestant("std-mutex"), &crew, 1_000, limit, &never);
    let stops = stops.expect("all threads return");
    assert!(!stops.finished && stops.resident_kib.len() < 11, "{stops:?}");
}
