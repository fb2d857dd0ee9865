//! Checks timestamp systems: sound systems hold at small sizes, and each wrong variant is rejected at the smallest
//! size that shows its mistake. The numbers of states are pinned, so that a search that explores fewer states
//! fails. docs/lab.md has commands for checks that take longer.

use std::sync::atomic::AtomicBool;

use hallpass_algorithms::papers::timestamps::{
    All, FiveDigits, Linear, Quadratic, Stamp, linear::SplitBy,
};
use hallpass_lab::{
    check::Verdict,
    explore::{Limits, explore},
    timestamps::{
        Part, Question, Report, check,
        properties::Properties,
        space::{Role, Runs},
        subject::{Procedure, Subject, plain},
        systems::SYSTEMS,
    },
};

use crate::common::resources;

fn ask(system: &str, n: usize, part: Part, states: u64, random: Option<(u64, u64)>) -> Report {
    let stop = AtomicBool::new(false);
    let resources = resources(states, 4 << 30, &stop);
    let question = Question { system: system.into(), n, parts: vec![part], random };
    check(&question, &resources).expect("a valid question")
}

/// Systems that these tests explore completely, with their numbers of states.
const HOLDS: &[(&str, usize, Part, u64)] = &[
    ("labels-atomic", 2, Part::Refinement, 18),
    ("labels-atomic", 3, Part::Refinement, 14_536),
    ("labels-weak", 2, Part::Refinement, 52),
    ("linear", 2, Part::Snapshot, 12_855),
    ("linear:split", 2, Part::Snapshot, 20_109),
    ("linear:same-copy", 2, Part::Snapshot, 14_676),
    ("quadratic", 2, Part::Refinement, 51_598),
];

#[test]
fn sound_systems_hold() {
    HOLDS.iter().for_each(holds);
}

fn holds(&(system, n, part, states): &(&str, usize, Part, u64)) {
    let report = ask(system, n, part, 1_000_000, None);
    assert_eq!(report.verdict(), Verdict::Holds, "{system} n={n} {part:?}");
    assert_eq!(report.outcomes[0].states, states, "{system} n={n} {part:?}");
}

/// Systems that have properties (1) to (5) of Afek et al. and those of Zehavi in every run.
const PROPERTIES: &[(&str, usize, Part, u64)] = &[
    ("labels-atomic", 2, Part::Properties, 176),
    ("labels-weak", 2, Part::Properties, 337),
    ("quadratic", 2, Part::Properties, 261_843),
];

#[test]
fn the_papers_statements_about_timestamp_systems_hold() {
    PROPERTIES.iter().for_each(holds);
}

/// Property (3) is about three different processes, so a model with two processes does not test it.
#[test]
fn the_papers_statements_hold_for_three_processes() {
    holds(&("labels-atomic", 3, Part::Properties, 654_600));
}

/// The check of property (3) is not vacuous: it rejects a system in which three processes violate the property.
#[test]
fn three_processes_can_violate_property_3() {
    let report = ask("labels-atomic:four-digits", 3, Part::Properties, 100_000, None);
    assert!(
        report.outcomes[0].violated.contains_key("(3)"),
        "{:?}",
        report.outcomes[0].violated.keys()
    );
}

#[test]
fn a_part_that_a_system_does_not_have_is_refused() {
    let stop = AtomicBool::new(false);
    for (system, part) in [("uctss", Part::Refinement), ("labels-atomic", Part::Snapshot)] {
        let question = Question { system: system.into(), n: 2, parts: vec![part], random: None };
        let resources = resources(1000, 1 << 20, &stop);
        let error = check(&question, &resources).expect_err("there is nothing to check");
        assert!(error.to_string().contains("none of the requested parts"), "{error}");
    }
}

/// The wrong variants, each with its smallest size, the violated property, and the length of a shortest
/// run.
const REJECTED: &[(&str, usize, Part, &str, usize)] = &[
    ("uctss:printed", 2, Part::Properties, "(1)", 6),
    ("linear:grouped", 3, Part::Refinement, "regular", 19),
    ("linear:no-announce", 2, Part::Snapshot, "weak", 31),
    ("linear:no-copy", 2, Part::Snapshot, "weak", 16),
    ("linear:no-avoid", 2, Part::Snapshot, "weak", 31),
    ("linear:no-again", 2, Part::Snapshot, "weak", 32),
    ("linear:no-none", 2, Part::Snapshot, "weak", 31),
    ("linear:collect", 3, Part::Refinement, "acyclic", 23),
    ("linear:constant", 2, Part::Refinement, "acyclic", 15),
    ("quadratic:no-borrow", 3, Part::Snapshot, "atomic", 51),
    ("quadratic:no-toggle", 3, Part::Snapshot, "atomic", 44),
    ("quadratic:no-shake", 3, Part::Snapshot, "atomic", 44),
    ("labels-atomic:four-digits", 3, Part::Refinement, "order", 11),
    ("labels-atomic:constant", 2, Part::Refinement, "acyclic", 3),
];

#[test]
fn wrong_variants_are_rejected() {
    for entry in SYSTEMS.iter().filter(|entry| !entry.sound) {
        let rejected = REJECTED.iter().find(|(id, ..)| *id == entry.id);
        let (id, n, part, violation, steps) =
            *rejected.unwrap_or_else(|| panic!("{} is missing in REJECTED", entry.id));
        let report = ask(id, n, part, 4_000_000, None);
        let violated = &report.outcomes[0].violated;
        let run = violated.get(violation).unwrap_or_else(|| panic!("{id}: {:?}", violated.keys()));
        assert_eq!(run.len(), steps, "{id}");
    }
}

#[test]
fn random_runs_find_no_violation_in_sound_systems() {
    for (system, n) in [("uctss", 4), ("linear", 5), ("linear:split-singly", 4), ("quadratic", 3)] {
        let report = ask(system, n, Part::Refinement, 0, Some((60_000, 7)));
        assert_eq!(report.verdict(), Verdict::Partial, "{system}");
    }
}

#[test]
fn random_runs_find_violations_in_wrong_variants() {
    for (system, n) in
        [("uctss:printed", 3), ("linear:constant", 3), ("labels-atomic:four-digits", 3)]
    {
        let report = ask(system, n, Part::Refinement, 0, Some((60_000, 7)));
        assert_eq!(report.verdict(), Verdict::Violated, "{system}");
    }
}

#[test]
fn procedures_are_short_and_registers_small() {
    let report = ask("quadratic", 2, Part::Properties, 200_000, None);
    assert_eq!(report.max_steps, Some((Some(12), Some(9))));
    let report = ask("linear", 2, Part::Properties, 100_000, None);
    assert_eq!(report.max_steps, Some((Some(11), Some(6))));
    for register in &report.registers {
        assert!(Some(register.bits()) <= register.declared, "{}", register.name);
    }
}

/// Counts the steps of Label and Scan in the first states of a system.
fn max_steps(subject: &dyn Subject) -> [Option<u32>; 2] {
    let runs = Runs::<Properties>::new(subject, vec![Role::BOTH; 2]).recording_steps();
    let stop = AtomicBool::new(false);
    let limits =
        Limits { states: 100_000, bytes: 1 << 30, threads: 1, stop: &stop, progress: &|_| () };
    explore::<2>(&runs, &limits);
    [Procedure::Label, Procedure::Scan].map(|procedure| runs.max_steps(procedure))
}

/// Marks do not change the steps of a system. The lab builds `linear:split` and its like with marks only.
#[test]
fn steps_are_counted_in_systems_with_marks() {
    type Split = Linear<All<Stamp>, FiveDigits, SplitBy<12>>;
    for (id, plain) in [
        ("linear", plain::<Stamp, Linear<All<Stamp>>>(2)),
        ("linear:split", plain::<Stamp, Split>(2)),
        ("quadratic", plain::<Stamp, Quadratic<All<Stamp>>>(2)),
    ] {
        let entry = SYSTEMS.iter().find(|entry| entry.id == id).unwrap();
        let marked = entry.marked.unwrap()(2);
        assert_eq!(max_steps(&*plain), max_steps(&*marked), "{id}");
    }
    for (system, label, scan) in
        [("linear:split", 13, 7), ("linear:split-singly", 13, 7), ("linear:same-copy", 11, 6)]
    {
        let report = ask(system, 2, Part::Properties, 100_000, None);
        assert_eq!(report.max_steps, Some((Some(label), Some(scan))), "{system}");
    }
    // The labels of this model are read in one step, so it has no steps to count.
    assert_eq!(ask("labels-weak", 2, Part::Properties, 1_000, None).max_steps, None);
}
