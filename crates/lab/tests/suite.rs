//! One suite over the whole registry: sound algorithms hold, wrong variants are rejected, and the interpreter
//! confirms every run that the explorer reports.

use std::{
    iter,
    sync::{Mutex, atomic::AtomicBool},
    thread,
};

use hallpass_algorithms::registry::{ENTRIES, Entry, Standing};
use hallpass_lab::{
    check::{Property, Question, Report, Resources, Verdict, check},
    graph::Bound,
    schedule::MemoryModel,
    space::Initial,
    trace,
};

fn ask(question: &Question) -> Report {
    let stop = AtomicBool::new(false);
    let resources = Resources {
        states: 4_000_000,
        bytes: 4 << 30,
        threads: 2,
        stop: &stop,
        phase: &|_| (),
        progress: &|_| (),
    };
    check(question, &resources).expect("a valid question")
}

fn confirm_all(report: &Report) {
    let question = &report.question;
    for (name, outcome) in &report.properties {
        if let Some(run) = &outcome.run {
            let what = format!("{} n={} k={} {name}", question.algorithm, question.n, question.k);
            trace::confirm(run).unwrap_or_else(|why| panic!("{what}: {why}"));
            let string = trace::encode(run).expect("the run is valid");
            assert_eq!(trace::decode(&string).as_ref(), Ok(run), "{what}");
        }
    }
}

/// Whether the check takes minutes or more.
fn is_large(id: &str, n: usize) -> bool {
    let large = ["afek", "zehavi", "choi", "choi-wide", "choi-narrow"];
    id.contains('@')
        || n > 2 && large.contains(&id)
        || n > 2 && ["hall", "shared", "etcd"].iter().any(|family| id.starts_with(family))
}

#[test]
fn sound_algorithms_hold() {
    for entry in ENTRIES.iter().filter(|entry| entry.standing == Standing::Sound) {
        let named = entry.nameable.then(|| format!("{}+names", entry.id));
        for id in std::iter::once(entry.id.to_string()).chain(named) {
            for (n, k) in [(2, 1), (3, 2)] {
                if is_large(entry.id, n) || k > entry.max_k {
                    continue; // the atlas covers it
                }
                let mut question = Question::everything(&id, n, k);
                if n > 2 && id.contains("fig9") {
                    question.initial = Initial::Smallest; // the atlas covers the rest
                }
                let report = ask(&question);
                assert_eq!(report.verdict(), Verdict::Holds, "{id} n={n} k={k}");
                let least = Some(entry.crashes(k) + 1);
                // One of two users of a hall may be a clock, and then no process keeps another one out.
                let compete = entry.nameable || n > 2;
                if compete && entry.promises_everybody {
                    assert_eq!(report.outcome(Property::Starvation).resilience, least, "{id}");
                }
                if compete {
                    assert_eq!(report.outcome(Property::Deadlock).resilience, least, "{id}");
                }
                if entry.promises_exit {
                    assert!(matches!(report.outcome(Property::Exit).bound, Some(Bound::Most(_))));
                }
                confirm_all(&report);
            }
        }
    }
}

/// Each wrong variant with its smallest size and a property that it violates.
const REJECTED: &[(&str, usize, usize, Property)] = &[
    ("am-fig3-fast:printed", 4, 1, Property::Exclusion),
    ("am-fig3:no-outer", 3, 1, Property::Exclusion),
    ("am-fig3:no-release", 2, 1, Property::Deadlock),
    ("am-fig3:exit-swapped", 2, 1, Property::Starvation),
    ("am-fig3:no-second-look", 2, 1, Property::Starvation),
    ("am-fig3:look-first", 2, 1, Property::Starvation),
    ("am-fig3:no-take", 2, 1, Property::Exclusion),
    ("am-fig8:no-outer", 3, 1, Property::Exclusion),
    ("am-fig8:read-not-set", 2, 1, Property::Starvation),
    ("am-fig8:no-initialise", 2, 1, Property::Exclusion),
    ("am-fig8:no-pretending", 2, 1, Property::Exclusion),
    ("am-fig8:queue-swapped", 2, 1, Property::Exclusion),
    ("am-fig9:one-instance", 3, 1, Property::Exclusion),
    ("am-fig9:no-guard", 2, 1, Property::Starvation),
    ("am-fig9:no-second-flag", 2, 1, Property::Starvation),
    ("am-fig9:one-flag", 2, 1, Property::Starvation),
    ("am-fig9:late-second-flag", 2, 1, Property::Starvation),
    ("am-fig3+names:read-only", 3, 2, Property::Names),
    ("am-fig3+names:never-freed", 2, 1, Property::Names),
    ("turnstile:no-compare", 2, 1, Property::Exclusion),
    ("turnstile:no-number", 2, 1, Property::Starvation),
    ("turnstile:no-exit", 2, 1, Property::Deadlock),
    ("hall:no-count", 2, 1, Property::Deadlock),
    ("hall:early-count", 3, 2, Property::Fife),
    ("hall:no-take", 2, 1, Property::Exclusion),
    ("hall:barge", 3, 1, Property::Starvation),
    ("hall-sleep:no-ring", 2, 1, Property::Deadlock),
    ("hall-sleep:no-news", 3, 1, Property::Deadlock),
    ("hall-sleep:deaf", 2, 1, Property::Deadlock),
    ("hall-timeout:blind", 3, 1, Property::Invariants),
    ("hall-resize:forgiving", 3, 2, Property::Invariants),
    ("hall-sleep-barging:no-call", 2, 1, Property::Deadlock),
    ("shared:no-ring", 2, 1, Property::Deadlock),
    ("shared:no-service", 2, 1, Property::Deadlock),
    ("shared:unannounced", 2, 1, Property::Fife),
    ("shared-mortal:no-second-look", 2, 1, Property::Starvation),
    ("shared-mortal:not-mine", 2, 1, Property::Starvation),
    ("etcd:barging", 3, 2, Property::Fife),
    ("etcd:blind", 3, 2, Property::Starvation),
    ("etcd:selfish", 3, 1, Property::Invariants),
    ("etcd:quiet", 4, 2, Property::Invariants),
    ("etcd-expiry:trusting", 2, 1, Property::Exclusion),
    ("etcd-expiry:generous", 2, 1, Property::Exclusion),
    ("etcd-mortal:idle", 2, 1, Property::Deadlock),
    ("etcd-mortal:dreaming", 3, 1, Property::Deadlock),
    ("etcd-unheard:twice", 2, 1, Property::Invariants),
    ("etcd-timeout:careless", 3, 1, Property::Deadlock),
    ("choi-bounded:ageless", 3, 2, Property::Starvation),
    ("choi:printed", 3, 2, Property::Deadlock),
    ("choi:printed-wait", 3, 2, Property::Starvation),
    ("choi:no-previous", 3, 2, Property::Starvation),
    ("choi:descending", 3, 2, Property::Invariants),
    ("choi:one-ahead", 2, 1, Property::Exclusion),
    ("choi:one-behind", 2, 1, Property::Deadlock),
    ("omori-gtex:printed", 4, 1, Property::Exclusion),
    ("omori-excl:no-turn", 2, 1, Property::Exclusion),
    ("omori-excl:turn-first", 2, 1, Property::Exclusion),
    ("omori-excl:off-by-one", 2, 1, Property::Exclusion),
    ("omori-excl:count-kept", 2, 1, Property::Deadlock),
    ("omori-excl:no-first-level", 3, 1, Property::Exclusion),
    ("omori-excl:no-reset", 2, 1, Property::Deadlock),
    ("omori-gtex:no-root", 4, 1, Property::Exclusion),
    ("omori-gtex:leaf-as-inner", 3, 1, Property::Exclusion),
    ("afek:printed", 2, 1, Property::Exclusion),
    ("afek:no-label", 2, 1, Property::Exclusion),
    ("afek:late-flag", 2, 1, Property::Exclusion),
    ("afek:one-too-many", 2, 1, Property::Exclusion),
    ("zehavi:one-cell", 2, 1, Property::Exclusion),
    ("zehavi:no-ignore", 2, 1, Property::Exclusion),
    ("zehavi:no-discover", 2, 1, Property::Exclusion),
    ("zehavi:no-compete", 2, 1, Property::Deadlock),
    ("zehavi:no-order", 2, 1, Property::Deadlock),
    ("zehavi:no-cancel", 2, 1, Property::Exclusion),
    ("zehavi:no-delete", 2, 1, Property::Exclusion),
    ("zehavi:no-label", 2, 1, Property::Exclusion),
    ("zehavi:no-retreat", 2, 1, Property::Deadlock),
    ("zehavi:late-reveal", 2, 1, Property::Deadlock),
];

/// Wrong variants that fail only at sizes that are too large to explore. by_hand.rs and choi.rs replay a run of
/// each.
const ELSEWHERE: &[&str] = &[
    "afek:no-second-label",
    "afek:everybody-counts",
    "afek:no-second-look",
    "zehavi:no-allow",
    "choi:printed-check",
    "choi:once",
    "choi:own-cell",
    "choi:write",
];

#[test]
fn wrong_variants_are_rejected() {
    let wrong = ENTRIES.iter().filter(|entry| entry.standing != Standing::Sound);
    let wrong = Mutex::new(wrong.filter(|entry| !ELSEWHERE.contains(&entry.id)));
    let next = || wrong.lock().expect("no panic while held").next();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| iter::from_fn(next).for_each(is_rejected));
        }
    });
}

fn is_rejected(entry: &Entry) {
    let rejected = REJECTED.iter().find(|(id, ..)| *id == entry.id);
    let (id, n, k, property) =
        *rejected.unwrap_or_else(|| panic!("{} is missing in REJECTED", entry.id));
    let mut question = Question::everything(id, n, k);
    if n > 2 && id.contains("fig9") {
        question.initial = Initial::Smallest;
    }
    if n > 3 {
        question = question.only(vec![property]); // millions of states
    }
    let report = ask(&question);
    let violated = report.properties.iter().filter(|(_, it)| it.verdict == Verdict::Violated);
    let found: Vec<_> = violated.map(|(name, _)| name).collect();
    assert_eq!(report.outcome(property).verdict, Verdict::Violated, "{id}: {found:?}");
    assert_eq!(report.verdict(), Verdict::Violated, "{id}");
    confirm_all(&report);
}

#[test]
fn the_number_of_threads_does_not_change_results() {
    let question = Question::everything("am-fig3", 4, 2);
    let stop = AtomicBool::new(false);
    let with = |threads| {
        let resources = Resources {
            states: 1 << 30,
            bytes: 4 << 30,
            threads,
            stop: &stop,
            phase: &|_| (),
            progress: &|_| (),
        };
        check(&question, &resources).expect("a valid question")
    };
    let (one, three) = (with(1), with(3));
    confirm_all(&three);
    assert_eq!((one.states, one.transitions, one.depth), (321_208, 1_284_832, 47));
    assert_eq!((one.states, one.transitions), (three.states, three.transitions));
    assert_eq!(one.depth, three.depth);
    for (name, outcome) in &one.properties {
        let other = &three.properties[name];
        assert_eq!(outcome.verdict, other.verdict, "{name}");
        assert_eq!(outcome.resilience, other.resilience, "{name}");
        assert_eq!(outcome.bound, other.bound, "{name}");
        // The length of a shortest run does not depend on the thread that finds it.
        let length = |run: &Option<hallpass_lab::schedule::Schedule>| {
            run.as_ref().map(|run| run.stem.len() + run.cycle.len())
        };
        if name.starts_with("fife") {
            continue; // several cycles may keep the first process out
        }
        assert_eq!(length(&outcome.run), length(&other.run), "{name}");
    }
}

#[test]
fn a_limit_makes_the_verdict_partial_and_keeps_violations() {
    let mut question = Question::everything("am-fig3", 4, 2);
    let stop = AtomicBool::new(false);
    let mut resources = Resources {
        states: 20_000,
        bytes: 4 << 30,
        threads: 1,
        stop: &stop,
        phase: &|_| (),
        progress: &|_| (),
    };
    let report = check(&question, &resources).expect("a valid question");
    assert!(!report.is_complete());
    assert_eq!(report.verdict(), Verdict::Partial);
    assert_eq!(report.outcome(Property::Exclusion).verdict, Verdict::Partial);
    confirm_all(&report);
    question.algorithm = "am-fig3:no-outer".into();
    resources.states = 2_000;
    let report = check(&question, &resources).expect("a valid question");
    assert!(!report.is_complete());
    assert_eq!(report.outcome(Property::Exclusion).verdict, Verdict::Violated);
    confirm_all(&report);
}

#[test]
fn store_buffers_violate_exclusion() {
    for (id, verdict) in [
        ("am-fig2", Verdict::Holds),
        ("am-fig3", Verdict::Violated),
        ("am-fig8", Verdict::Violated),
        ("omori-naive", Verdict::Violated),
        ("omori-excl", Verdict::Violated),
        ("omori-gtex", Verdict::Violated),
    ] {
        let question =
            Question { memory: MemoryModel::StoreBuffers, ..Question::everything(id, 2, 1) };
        let report = ask(&question);
        assert_eq!(report.outcome(Property::Exclusion).verdict, verdict, "{id}");
        confirm_all(&report);
    }
}

#[test]
fn a_contention_limit_reduces_the_states() {
    let mut question = Question::everything("am-fig3-nested", 3, 1);
    question.contention = 1;
    let alone = ask(&question);
    assert_eq!(alone.verdict(), Verdict::Holds);
    // A process without contention never waits, so it cannot starve, and takes the fast path.
    assert_eq!(alone.outcome(Property::Starvation).resilience, None);
    question.contention = 3;
    assert!(ask(&question).states > alone.states);
}
