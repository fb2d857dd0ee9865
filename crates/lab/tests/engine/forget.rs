//! Checks that merging states that differ only in stale values changes no verdict, and that wrong rules about stale
//! values are noticed. A value is stale if no process can read it before a process overwrites it.

use std::sync::atomic::AtomicBool;

use hallpass_algorithms::StaleRule;
use hallpass_lab::{
    check::{Property, Question, Report, check},
    machine::{Machine, build},
    schedule::MemoryModel,
    space::{Contradiction, Forgetful, Normal, Sequential, Stale},
    tables::Tables,
    trace,
};

use super::support::{State, explore_all, explore_some, sequential, successors};
use crate::common::resources;

/// Returns the space of all states, with normal forms.
fn full<'a>(machine: &'a dyn Machine, tables: &'a Tables) -> Sequential<'a> {
    Sequential { normal: Normal::of(machine, tables), ..sequential(tables) }
}

/// Checks that the representative of `state`, the state into which `state` is merged, makes the same steps as `state`,
/// to the same representatives.
fn check_lockstep(full: &Sequential<'_>, merged: &Forgetful<'_>, state: &State) {
    let representative = merged.representative(*state);
    let expected: Vec<_> = successors(full, state)
        .into_iter()
        .map(|(agent, next)| (agent, merged.representative(next)))
        .collect();
    assert_eq!(successors(merged, &representative), expected);
    for p in 0..full.tables.n {
        assert_eq!(full.tables.code(state, p), full.tables.code(&representative, p));
    }
}

#[test]
fn a_state_and_its_representative_make_the_same_steps() {
    for (id, n, k, most) in [
        ("zehavi", 2, 1, u64::MAX),
        ("zehavi@quadratic", 2, 1, 50_000),
        ("zehavi", 3, 1, 30_000),
        ("zehavi", 3, 2, 30_000),
    ] {
        let machine = build(id, n, k).unwrap();
        let tables = Tables::new(&*machine).unwrap();
        let space = full(&*machine, &tables);
        let stale = Stale::of(&*machine, &tables).unwrap();
        let merged = Forgetful::new(full(&*machine, &tables), stale);
        let explored = explore_some(&space, most.min(1 << 26));
        for id in explored.ids() {
            check_lockstep(&space, &merged, &explored.store.get(id));
        }
        // Random runs get further away from the initial states.
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..5 {
            let mut state = explored.store.get(0);
            for _ in 0..2000 {
                check_lockstep(&space, &merged, &state);
                let next = successors(&space, &state);
                state = next[random.usize(..next.len())].1;
            }
        }
        assert_eq!(merged.contradiction(), None, "{id}");
    }
}

#[test]
fn wrong_rules_are_noticed() {
    let machine = build("zehavi", 2, 1).unwrap();
    let tables = Tables::new(&*machine).unwrap();
    for rule in machine.stale_rules() {
        // This rule says that the value is always stale.
        let wrong = StaleRule { unless_all_set: Vec::new(), ..rule };
        let stale = Stale::new(std::slice::from_ref(&wrong), |_, _, _| true, &tables).unwrap();
        let merged = Forgetful::new(full(&*machine, &tables), stale);
        explore_all(&merged);
        let Contradiction { var, .. } = merged.contradiction().expect("the rule is wrong");
        assert_eq!(var, wrong.var.index(), "{wrong:?}");
    }
}

fn answer(question: &Question) -> Result<Report, String> {
    let stop = AtomicBool::new(false);
    check(question, &resources(1 << 26, 4 << 30, &stop)).map_err(|error| error.to_string())
}

fn question(id: &str, n: usize, k: usize) -> Question {
    let mut question = Question::everything(id, n, k);
    question.properties.retain(|&property| property != Property::Invariants);
    question
}

/// Compares the verdicts with and without merging.
fn compare(question: &Question) {
    let name = &question.algorithm;
    let full = answer(question).unwrap();
    let merged = answer(&Question { forget: true, ..question.clone() }).unwrap();
    assert!(merged.states < full.states, "{name}: {} of {}", merged.states, full.states);
    for &property in &question.properties {
        let [one, other] = [&full, &merged].map(|report| report.outcome(property));
        assert_eq!(one.verdict, other.verdict, "{name}: {}", property.name());
        assert_eq!(one.resilience, other.resilience, "{name}: {}", property.name());
        assert_eq!(one.bound, other.bound, "{name}: {}", property.name());
        if let Some(run) = &other.run {
            trace::confirm(run).unwrap_or_else(|why| panic!("{name}: {}: {why}", property.name()));
        }
    }
}

#[test]
fn verdicts_stay_the_same_without_stale_values() {
    compare(&question("zehavi", 2, 1));
    compare(
        &Question { compact: true, ..question("zehavi", 2, 1) }
            .only(vec![Property::Exclusion, Property::Starvation]),
    );
}

#[test]
fn wrong_variants_keep_their_violations_or_are_refused() {
    let mut merged = 0;
    for variant in ["no-ignore", "no-discover", "no-compete", "no-order", "no-allow", "no-cancel"] {
        let question = question(&format!("zehavi:{variant}"), 2, 1);
        match answer(&Question { forget: true, ..question.clone() }) {
            Ok(_) => {
                compare(&question);
                merged += 1;
            }
            Err(why) => assert!(why.contains("leave out --forget"), "{why}"),
        }
    }
    assert!(merged > 0);
}

#[test]
fn forgetting_is_refused_where_it_is_not_supported() {
    let refuse = |question: Question| answer(&Question { forget: true, ..question }).unwrap_err();
    assert!(refuse(Question::everything("zehavi", 2, 1)).contains("does not work for invariants"));
    assert!(refuse(question("am-fig3", 2, 1)).contains("no rules about stale values"));
    let exclusion = question("zehavi@quadratic", 2, 1).only(vec![Property::Exclusion]);
    let buffers = Question { memory: MemoryModel::StoreBuffers, ..exclusion };
    assert!(refuse(buffers).contains("neither with --symmetry nor with --tso"));
}
