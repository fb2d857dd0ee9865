//! Checks that the universal construction keeps its guarantees at small sizes, and that each wrong
//! variant is rejected. The numbers of states are pinned, so that a search that explores fewer states
//! fails. `hallpass-lab objects` runs the models that take longer.

use std::sync::atomic::AtomicBool;

use hallpass_lab::{
    check::Verdict,
    objects::{
        Question, Report, check,
        check::replay,
        normal::{Reduction, normalize},
        object::ObjectKind,
        observe::Violation,
        suite::{Case, Expected, SUITE},
        variants::WRONG,
    },
    space::Space,
};

use crate::common::resources;

fn ask(question: &Question) -> Report {
    let stop = AtomicBool::new(false);
    let resources = resources(2_000_000, 4 << 30, &stop);
    check(question, &resources).expect("a valid question")
}

#[test]
fn quick_models_give_the_expected_results() {
    // CI runs all models with `hallpass-lab objects`.
    let is_small = |case: &&Case| match case.expected {
        Expected::Holds(states, ..) => states <= 20_000,
        Expected::Violated(..) => case.quick,
    };
    for case in SUITE.iter().filter(is_small) {
        let report = ask(&case.question());
        assert!(
            case.expected.is_met(&report),
            "{case:?}: {} states, {:?}, {:?}",
            report.states,
            report.max_steps,
            report.violated.as_ref().map(|found| (found.violation, found.lines.len()))
        );
        assert!(report.copies as usize <= 3 * case.k);
        if let Some(found) = &report.violated {
            confirm(&case.question(), found.violation, &found.agents, found.cycle);
        }
    }
}

/// Asserts that the run shows `violation` without normal forms. If `violation` is `WaitFree`, asserts that
/// the run ends with a cycle.
fn confirm(question: &Question, violation: Violation, agents: &[usize], cycle: usize) {
    if violation != Violation::WaitFree {
        assert_eq!(replay(question, agents), Ok(Some(violation)), "{question:?}");
        return;
    }
    let runs = question.runs().expect("a valid question");
    let mut state = runs.start();
    let mut before = None;
    for (index, &agent) in agents.iter().enumerate() {
        if index == agents.len() - cycle {
            before = Some(state.clone());
        }
        runs.step(agent, &mut state, false).expect("the agent can move");
    }
    assert_eq!(before, Some(state), "the cycle ends where it began");
}

#[test]
fn the_suite_rejects_each_wrong_variant() {
    for variant in WRONG {
        let is_rejected = SUITE.iter().any(|case| {
            case.wrong == variant.name && matches!(case.expected, Expected::Violated(..))
        });
        assert!(is_rejected, "{variant:?}");
    }
}

/// Compares random runs with and without normal forms, step by step. The answers are the same, and the
/// normal form of one state is the other state.
#[test]
fn states_and_their_normal_forms_behave_the_same() {
    let mut random = fastrand::Rng::with_seed(4);
    for (kind, k) in [
        (ObjectKind::Counter, 2),
        (ObjectKind::Queue, 2),
        (ObjectKind::Register, 3),
        (ObjectKind::Stack, 4),
    ] {
        let normal = Question::new(kind, k).runs().expect("a valid question");
        let raw = Question { reduction: Reduction::Raw, ..Question::new(kind, k) }
            .runs()
            .expect("a valid question");
        let (mut one, mut other) = (raw.start(), normal.start());
        let mut agent = 0;
        for step in 0..100_000 {
            // Processes take their steps in bursts, so that some of them fall far behind.
            if random.u8(..8) == 0 {
                agent = random.usize(..raw.agents());
            }
            let records = [raw.step(agent, &mut one, false), normal.step(agent, &mut other, false)];
            let answers = records.map(|record| record.map(|record| record.returned));
            assert_eq!(answers[0], answers[1], "step {step}");
            if answers[0].is_none() {
                agent = random.usize(..raw.agents()); // the process of this agent is in the middle of another operation
                continue;
            }
            let mut form = one.0.clone();
            normalize(&mut form, &normal.variant, Reduction::Full);
            assert_eq!(form, other.0, "{kind:?}, step {step}");
            assert_eq!((&one.1, one.2), (&other.1, other.2));
            assert_eq!(one.2, None);
        }
    }
}

#[test]
fn full_reduction_gives_the_same_verdict_and_bounds() {
    let question = Question { operations: vec![2, 1], ..Question::new(ObjectKind::Counter, 2) };
    let full = ask(&question);
    let small = ask(&Question { reduction: Reduction::Small, ..question });
    assert_eq!((full.verdict(), small.verdict()), (Verdict::Holds, Verdict::Holds));
    assert_eq!((full.states, small.states), (25_621, 40_094));
    assert_eq!(full.max_steps, small.max_steps);
}
