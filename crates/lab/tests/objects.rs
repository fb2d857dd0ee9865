//! The universal construction keeps its promises at small sizes, and each wrong variant is rejected.
//! Numbers of states are pinned, so that a search that silently shrinks is noticed. What takes longer
//! is in docs/lab.md, as commands.

use std::sync::atomic::AtomicBool;

use hallpass_lab::{
    check::{Resources, Verdict},
    objects::{
        Question, Report, check,
        check::replay,
        normal::{Depth, normalize},
        observe::Fault,
        suite::{Expected, SUITE},
        toys::Kind,
        variants::WRONG,
    },
    space::Space,
};

fn ask(question: &Question) -> Report {
    let stop = AtomicBool::new(false);
    let resources = Resources {
        states: 2_000_000,
        bytes: 4 << 30,
        threads: 1,
        stop: &stop,
        phase: &|_| (),
        progress: &|_| (),
    };
    check(question, &resources).expect("the question makes sense")
}

#[test]
fn what_is_quick_is_as_expected() {
    for case in SUITE.iter().filter(|case| case.quick) {
        let report = ask(&case.question());
        assert!(
            case.expected.is_met(&report),
            "{case:?}: {} states, {:?}, {:?}",
            report.states,
            report.most_steps,
            report.violated.as_ref().map(|shown| (shown.fault, shown.lines.len()))
        );
        assert!(report.copies as usize <= 3 * case.k);
        if let Some(shown) = &report.violated {
            confirm(&case.question(), shown.fault, &shown.agents, shown.cycle);
        }
    }
}

/// The run shows what it is said to show: a fault, on numbers as they are, or a way around.
fn confirm(question: &Question, fault: Fault, agents: &[usize], cycle: usize) {
    if fault != Fault::WaitFree {
        assert_eq!(replay(question, agents), Ok(Some(fault)), "{question:?}");
        return;
    }
    let runs = question.runs().expect("it makes sense");
    let mut watched = runs.start();
    let mut before = None;
    for (index, &agent) in agents.iter().enumerate() {
        if index == agents.len() - cycle {
            before = Some(watched.clone());
        }
        runs.step(agent, &mut watched, false).expect("it can move");
    }
    assert_eq!(before, Some(watched), "it comes back to where it was");
}

#[test]
fn each_mistake_is_rejected() {
    for variant in WRONG {
        let is_rejected = SUITE.iter().any(|case| {
            case.wrong == variant.name && matches!(case.expected, Expected::Violated(..))
        });
        assert!(is_rejected, "{variant:?}");
    }
}

/// Random runs on numbers as they are, and in normal form, side by side: the same steps lead to the
/// same answers, and the normal form of the one is the other.
#[test]
fn normal_forms_behave_the_same() {
    let mut random = fastrand::Rng::with_seed(4);
    for (kind, k) in [(Kind::Counter, 2), (Kind::Queue, 2), (Kind::Register, 3), (Kind::Stack, 4)] {
        let normal = Question::new(kind, k).runs().expect("it makes sense");
        let raw = Question { depth: Depth::Raw, ..Question::new(kind, k) }.runs().expect("too");
        let (mut one, mut other) = (raw.start(), normal.start());
        let mut agent = 0;
        for step in 0..100_000 {
            // Bursts, so that some fall far behind.
            if random.u8(..8) == 0 {
                agent = random.usize(..raw.agents());
            }
            let (happened, too) =
                (raw.step(agent, &mut one, false), normal.step(agent, &mut other, false));
            let answers =
                [happened, too].map(|happened| happened.map(|happened| happened.returned));
            assert_eq!(answers[0], answers[1], "step {step}");
            if answers[0].is_none() {
                agent = random.usize(..raw.agents()); // it was in the middle of another operation
                continue;
            }
            let mut form = one.0.clone();
            normalize(&mut form, &normal.variant, Depth::Full);
            assert_eq!(form, other.0, "{kind:?}, step {step}");
            assert_eq!((&one.1, one.2), (&other.1, other.2));
            assert_eq!(one.2, None);
        }
    }
}

#[test]
fn what_is_left_out_of_states_changes_nothing() {
    let question = Question { operations: vec![2, 1], ..Question::new(Kind::Counter, 2) };
    let full = ask(&question);
    let small = ask(&Question { depth: Depth::Small, ..question });
    assert_eq!((full.verdict(), small.verdict()), (Verdict::Holds, Verdict::Holds));
    assert_eq!((full.states, small.states), (25_621, 40_094));
    assert_eq!(full.most_steps, small.most_steps);
}
