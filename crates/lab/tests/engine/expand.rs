//! Checks that a breadth-first search finds every state although it leaves out steps.

use std::collections::{BTreeMap, BTreeSet};

use super::support::{State, W, answer, sequential, successors};
use hallpass_lab::{
    atlas::{AtlasModel, Manifest},
    check::{Property, Question, Report, Verdict},
    machine::build,
    schedule::MemoryModel,
    space::{Found, Normal, Sequential, Space, violation},
    tables::Tables,
};

/// The number of states after which a comparison ends.
const MAX_STATES: usize = 1_500;

/// Counts the steps that a search makes and those that it leaves out.
#[derive(Default)]
struct Steps {
    made: u64,
    left_out: u64,
}

/// Compares the levels of two searches of `space`: one makes all steps, the other leaves out steps. If the second
/// search finds a state several times on one level, chance decides which step has found the state first. Returns the
/// states.
fn compare_levels(
    space: &Sequential<'_>,
    random: &mut fastrand::Rng,
    name: &str,
    steps: &mut Steps,
) -> BTreeSet<State> {
    let initial = || Space::<W>::initial(space);
    let mut known: BTreeSet<State> = initial().collect();
    let mut level: BTreeSet<State> = known.clone();
    let mut reduced: BTreeMap<State, u64> = initial().map(|state| (state, 0)).collect();
    while !level.is_empty() && known.len() < MAX_STATES {
        assert!(reduced.keys().eq(&level), "{name}: a level has other states");
        let (mut next, mut found_next) = (BTreeSet::new(), BTreeMap::<State, Vec<u64>>::new());
        for state in &level {
            let all = successors(space, state);
            let mut found = Found::default();
            space.expand(state, reduced[state], &mut found);
            assert_eq!(found.transitions, all.len() as u64, "{name}");
            let changed = all.iter().filter(|(_, next)| next != state).count() as u64;
            steps.made += found.successors.len() as u64;
            steps.left_out += changed - found.successors.len() as u64;
            next.extend(all.into_iter().map(|(_, next)| next).filter(|next| !known.contains(next)));
            for (successor, skip) in found.successors {
                if !known.contains(&successor) {
                    found_next.entry(successor).or_default().push(skip);
                }
            }
        }
        reduced = found_next
            .into_iter()
            .map(|(state, skips)| (state, skips[random.usize(..skips.len())]))
            .collect();
        known.extend(&next);
        level = next;
    }
    known
}

#[test]
fn leaving_out_steps_changes_no_level() {
    let manifest = Manifest::standard().expect("the built-in manifest");
    let is_small = |model: &&AtlasModel| {
        model.states.is_some_and(|states| states <= MAX_STATES as u64)
            && model.memory == MemoryModel::Sequential
    };
    let mut random = fastrand::Rng::with_seed(1);
    let (mut steps, mut compared, mut mishaps, mut out_of_range) = (Steps::default(), 0, 0, 0);
    for model in manifest.models.iter().filter(is_small) {
        let name = model.id();
        let machine = build(&model.algorithm, model.n, model.k).unwrap();
        let Ok(tables) = Tables::new(&*machine) else { continue };
        let space = Sequential { normal: Normal::of(&*machine, &tables), ..sequential(&tables) };
        let states = compare_levels(&space, &mut random, &name, &mut steps);
        compared += 1;
        mishaps += usize::from(tables.has_mishaps());
        let is_outside = |state: &State| space.violations(state) >> violation::RANGE & 1 != 0;
        out_of_range += usize::from(states.iter().any(is_outside));
    }
    assert!(compared >= 50, "{compared} models");
    assert!(mishaps > 0 && out_of_range > 0, "{mishaps} with mishaps, {out_of_range} out of range");
    assert!(steps.left_out * 4 > steps.made, "{} of {}", steps.left_out, steps.made);
}

#[test]
fn every_step_is_made_on_request() {
    let machine = build("am-fig3", 3, 2).unwrap();
    let tables = Tables::new(&*machine).unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    for every_step in [false, true] {
        let space = Sequential { every_step, ..sequential(&tables) };
        let mut steps = Steps::default();
        compare_levels(&space, &mut random, "am-fig3", &mut steps);
        assert_eq!(steps.left_out == 0, every_step);
    }
}

/// Each answer is computed in two ways: with every step, and without the steps that another order makes superfluous.
#[test]
fn leaving_out_steps_changes_no_answer() {
    use Verdict::{Holds, Violated};
    let properties = [Property::Exclusion, Property::Starvation];
    for (algorithm, n, k, exclusion, starvation) in [
        ("am-fig3", 4, 2, Holds, Holds),
        ("zehavi", 2, 1, Holds, Holds),
        ("omori-gtex:printed", 4, 1, Violated, Holds),
        ("am-fig9:no-guard", 2, 1, Holds, Violated),
    ] {
        let mut question = Question::everything(algorithm, n, k).only(properties.to_vec());
        question.compact = true;
        let reduced = answer(&question);
        let full = answer(&Question { every_step: true, ..question });
        let facts = |report: &Report| {
            let outcomes = properties.map(|property| {
                let outcome = report.outcome(property);
                (
                    outcome.verdict,
                    outcome.resilience,
                    outcome.run.as_ref().map(|run| run.stem.len()),
                )
            });
            (report.states, report.transitions, report.depth, outcomes)
        };
        assert_eq!(facts(&reduced), facts(&full), "{algorithm}");
        let verdicts = properties.map(|property| full.outcome(property).verdict);
        assert_eq!(verdicts, [exclusion, starvation], "{algorithm}");
    }
}

#[test]
fn no_step_is_left_out_if_contention_is_limited() {
    let machine = build("am-fig3", 3, 2).unwrap();
    let tables = Tables::new(&*machine).unwrap();
    let mut random = fastrand::Rng::with_seed(2);
    for (contention, leaves_out) in [(1, false), (2, false), (3, true)] {
        let space = Sequential { contention, ..sequential(&tables) };
        let mut steps = Steps::default();
        compare_levels(&space, &mut random, "am-fig3", &mut steps);
        assert_eq!(steps.left_out > 0, leaves_out, "contention {contention}");
    }
}
