//! One suite for the whole registry. Sound algorithms keep their promises at small sizes, wrong variants are rejected,
//! and the interpreter confirms every run that the checker reports.

use std::{
    iter,
    sync::{Mutex, atomic::AtomicBool},
    thread,
};

use hallpass_algorithms::registry::{ENTRIES, Entry, NAMES, Standing};
use hallpass_lab::{
    atlas::{AtlasModel, Listed, Manifest, Resilience},
    check::{Outcome, Property, Question, Report, Resources, Verdict, check},
    graph::Bound,
    schedule::{Finding, MemoryModel, Schedule},
    trace,
};

use crate::common::resources;

fn ask(question: &Question) -> Report {
    let stop = AtomicBool::new(false);
    let resources = Resources { threads: 2, ..resources(4_000_000, 4 << 30, &stop) };
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

/// The maximum number of states of a model for which this suite checks everything. CI also runs the
/// atlas, which explores larger models, compares the same results and confirms the same runs.
const MAX_STATES: u64 = 100_000;

/// The sizes at which the suite checks sound algorithms.
const SIZES: [(usize, usize); 2] = [(2, 1), (3, 2)];

#[test]
fn sound_algorithms_keep_their_promises() {
    let manifest = Manifest::standard().expect("the built-in manifest");
    let mut checked = 0;
    for entry in ENTRIES.iter().filter(|entry| entry.standing == Standing::Sound) {
        let of_entry = |model: &&AtlasModel| {
            let plain = model.algorithm.replacen(NAMES, "", 1);
            plain == entry.id && SIZES.contains(&(model.n, model.k))
        };
        let is_usual = |model: &&AtlasModel| {
            let small = model.states.is_some_and(|states| states <= MAX_STATES);
            small && model.contention() == model.n && model.memory == MemoryModel::Sequential
        };
        for model in manifest.models.iter().filter(of_entry).filter(is_usual) {
            keeps_its_promises(entry, model);
            checked += 1;
        }
    }
    assert!(checked >= 80, "only {checked} models of sound algorithms are small enough");
}

fn keeps_its_promises(entry: &Entry, model: &AtlasModel) {
    let (id, k) = (model.id(), model.k);
    let everything = Question::everything(&model.algorithm, model.n, k);
    let report = ask(&Question { initial: model.initial, ..everything });
    assert_eq!(report.verdict(), Verdict::Holds, "{id}");
    assert_eq!(Some(report.states), model.states, "{id}");
    if entry.promises_everybody {
        survives(entry, model, &report, Property::Starvation);
    }
    survives(entry, model, &report, Property::Deadlock);
    if entry.promises_exit && entry.counts_steps {
        assert!(matches!(report.outcome(Property::Exit).bound, Some(Bound::Most(_))), "{id}");
    }
    confirm_all(&report);
}

/// Checks the smallest number of stopped processes that can violate `property`. It must be larger than the number of
/// stopped processes that the algorithm promises to survive, and it must equal the number in the atlas.
fn survives(entry: &Entry, model: &AtlasModel, report: &Report, property: Property) {
    let what = format!("{} {}", model.id(), property.name());
    let found = report.outcome(property).resilience;
    assert!(found.is_none_or(|found| found > entry.crashes(model.k)), "{what}: {found:?}");
    let listed = Listed::ALL.into_iter().find(|listed| listed.property() == Some(property));
    let expected = listed.and_then(|listed| model.check.get(&listed)?.resilience);
    match expected.unwrap_or_else(|| panic!("{what}: the atlas lists no resilience")) {
        Resilience::Crashes(count) => assert_eq!(found, Some(count), "{what}"),
        Resilience::Unlimited => assert_eq!(found, None, "{what}"),
    }
}

/// Checks that every wrong variant has a model with a violated property, or a known run if such a model
/// would be too large.
#[test]
fn wrong_variants_are_rejected() {
    let manifest = Manifest::standard().expect("the built-in manifest");
    let wrong = ENTRIES.iter().filter(|entry| entry.standing != Standing::Sound);
    let wrong = Mutex::new(wrong);
    let next = || wrong.lock().expect("no panic while held").next();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| iter::from_fn(next).for_each(|entry| is_rejected(entry, &manifest)));
        }
    });
}

fn is_rejected(entry: &Entry, manifest: &Manifest) {
    let Some((model, listed)) = manifest.rejection(entry.id) else {
        let promised = |(run, listed): (Schedule, Listed)| {
            let promised = Question::everything(entry.id, run.n, run.k).promised;
            listed.property().is_some_and(|property| promised.contains(&property))
        };
        let id = entry.id;
        assert!(
            manifest.known_runs(id).any(promised),
            "nothing shows that {id} is wrong: add a model at which a promised property is violated, \
             or a [[run]], to the atlas.toml of its folder"
        );
        return;
    };
    let mut question = model.check_question();
    // The atlas pins the other results of large models. So this test looks only for the violation.
    let is_large = model.states.is_none_or(|states| states > MAX_STATES);
    if let (true, Some(property)) = (is_large, listed.property()) {
        question = question.only(vec![property]);
    }
    let report = ask(&question);
    let outcome = report.properties.get(listed.name());
    let found = outcome.map(|outcome| outcome.verdict);
    assert_eq!(found, Some(Verdict::Violated), "{} {}", model.id(), listed.name());
    assert_eq!(report.verdict(), Verdict::Violated, "{}", model.id());
    confirm_all(&report);
}

#[test]
fn the_number_of_threads_does_not_change_results() {
    let question = Question::everything("am-fig3", 4, 2);
    let stop = AtomicBool::new(false);
    let with = |threads| {
        let resources = Resources { threads, ..resources(1 << 30, 4 << 30, &stop) };
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
            continue; // there may be several cycles in which the first process never enters
        }
        assert_eq!(length(&outcome.run), length(&other.run), "{name}");
    }
}

#[test]
fn a_limit_makes_the_verdict_partial_and_keeps_violations() {
    let mut question = Question::everything("am-fig3", 4, 2);
    let stop = AtomicBool::new(false);
    let mut resources = resources(20_000, 4 << 30, &stop);
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
fn store_buffers_can_violate_exclusion() {
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

/// Store buffers and mishaps cannot be explored together yet. The check must not leave one
/// of them out silently.
#[test]
fn store_buffers_are_refused_for_an_algorithm_with_mishaps() {
    let question = Question::everything("etcd-expiry:trusting", 2, 1);
    assert_eq!(ask(&question).verdict(), Verdict::Violated);
    let buffered = Question { memory: MemoryModel::StoreBuffers, ..question };
    let stop = AtomicBool::new(false);
    let resources = resources(1000, 1 << 20, &stop);
    let error = check(&buffered, &resources).expect_err("mishaps would be left out");
    assert!(error.to_string().contains("has mishaps"), "{error}");
}

/// If a model leaves out steps of the algorithm, the number of steps that it takes in a section is too small.
#[test]
fn numbers_of_steps_are_refused_for_a_model_that_leaves_out_steps() {
    let question = Question::everything("shared-reduced", 2, 1);
    assert!(!question.properties.contains(&Property::Exit));
    assert_eq!(ask(&question).verdict(), Verdict::Holds);
    let compact = ask(&Question { compact: true, ..question.clone() });
    assert_eq!(compact.verdict(), Verdict::Holds);
    assert_eq!(compact.outcome(Property::Starvation).resilience, Some(1));
    let stop = AtomicBool::new(false);
    let resources = resources(1000, 1 << 20, &stop);
    let error = check(&question.only(vec![Property::Exit]), &resources).expect_err("no number");
    assert!(error.to_string().contains("leaves out steps"), "{error}");
}

#[test]
fn the_hall_of_threads_is_explored_with_store_buffers() {
    let question = Question {
        memory: MemoryModel::StoreBuffers,
        ..Question::everything("hall", 2, 1).only(vec![Property::Exclusion])
    };
    let report = ask(&question);
    assert!(report.states > ask(&Question::everything("hall", 2, 1)).states);
    assert_eq!(report.verdict(), Verdict::Holds);
}

#[test]
fn runs_with_store_buffers_show_what_the_check_found() {
    // The cycle of the run with unbounded bypass leaves a store in its buffer. In the run for `fife-strong`, a waiter
    // is enabled because the store of another process reaches memory eventually.
    let selected = vec![Property::Fife, Property::FifeStrong, Property::Bypass];
    let question = Question {
        memory: MemoryModel::StoreBuffers,
        ..Question::everything("am-fig3", 3, 2).only(selected)
    };
    let report = ask(&question);
    assert_eq!(report.outcome(Property::Bypass).bound, Some(Bound::Unbounded));
    confirm_all(&report);
}

#[test]
fn a_full_store_buffer_makes_the_result_partial() {
    let with_buffers =
        |id| Question { memory: MemoryModel::StoreBuffers, ..Question::everything(id, 2, 1) };
    let capped = ask(&with_buffers("omori-excl"));
    assert!(capped.buffer_capacity.is_some() && !capped.is_complete());
    assert_eq!(capped.to_json()["complete"], false);
    let claims_too_much = |(_, outcome): (_, &Outcome)| outcome.verdict == Verdict::Holds;
    assert!(!capped.properties.iter().any(claims_too_much), "{:?}", capped.properties);
    let exact = ask(&with_buffers("am-fig2"));
    assert!(exact.buffer_capacity.is_none() && exact.is_complete());
}

#[test]
fn a_contention_limit_reduces_the_states() {
    let mut question = Question::everything("am-fig3-nested", 3, 1);
    question.contention = 1;
    let alone = ask(&question);
    assert_eq!(alone.verdict(), Verdict::Holds);
    // A process without contention never waits. So it cannot starve, and it takes the fast path.
    assert_eq!(alone.outcome(Property::Starvation).resilience, None);
    question.contention = 3;
    assert!(ask(&question).states > alone.states);
}

/// Checks the maximum number of times that a process is overtaken. It is 0 if and only if the algorithm is
/// FIFE, and it may be unbounded.
#[test]
fn overtakings_are_counted_over_all_runs() {
    let bypass = |id: &str, n, k| {
        let properties = vec![Property::Fife, Property::Bypass];
        let report = ask(&Question::everything(id, n, k).only(properties));
        let fife = report.outcome(Property::Fife).verdict;
        let outcome = report.outcome(Property::Bypass).clone();
        let bound = outcome.bound.expect("the property was asked for");
        assert_eq!(fife == Verdict::Holds, bound == Bound::Most(0), "{id}");
        if let Some(run) = &outcome.run {
            trace::confirm(run).unwrap_or_else(|why| panic!("{id}: {why}"));
        }
        (outcome.verdict, bound)
    };
    assert_eq!(bypass("hall", 2, 1), (Verdict::Holds, Bound::Most(0)));
    assert_eq!(bypass("hall-bypass", 2, 1), (Verdict::Holds, Bound::Most(1)));
    assert_eq!(bypass("hall-bypass2", 2, 1), (Verdict::Holds, Bound::Most(2)));
    assert_eq!(bypass("hall-bypass:free", 2, 1), (Verdict::Violated, Bound::Unbounded));
    // This question allows one overtaking, and two occur.
    let strict = Question {
        bypass: Some(1),
        ..Question::everything("hall-bypass2", 2, 1).only(vec![Property::Bypass])
    };
    assert_eq!(ask(&strict).outcome(Property::Bypass).verdict, Verdict::Violated);
}

#[test]
fn a_run_shows_as_many_overtakings_as_it_says() {
    let question = Question::everything("hall-bypass2", 2, 1).only(vec![Property::Bypass]);
    let run = ask(&question).outcome(Property::Bypass).run.clone().expect("a run shows it");
    let Finding::Bypass { victim, times: Some(2), at } = run.finding else {
        panic!("{:?}", run.finding);
    };
    let with = |finding| trace::confirm(&Schedule { finding, ..run.clone() });
    let error = with(Finding::Bypass { victim, times: Some(3), at }).expect_err("two are shown");
    assert_eq!(error, format!("process {victim} is overtaken 2 times, not 3"));
    assert!(with(Finding::Bypass { victim, times: Some(2), at: at - 1 }).is_err());
    assert!(with(Finding::Bypass { victim: 1 - victim, times: Some(2), at }).is_err());
    assert!(with(Finding::Bypass { victim, times: None, at }).is_err());
}
