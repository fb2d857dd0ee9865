//! Compares the answers of the compact check with those of the stored graph.

use std::sync::atomic::AtomicBool;

use hallpass_lab::{
    atlas::{AtlasModel, Manifest},
    check::{Property, Question, Verdict, check},
    schedule::MemoryModel,
    trace,
};

use super::support::answer;
use crate::common::resources;

/// The properties of whole runs that the compact check decides.
const OF_RUNS: [Property; 6] = [
    Property::Deadlock,
    Property::Starvation,
    Property::Exit,
    Property::Doorway,
    Property::Fife,
    Property::FifeStrong,
];

/// Compares both answers to the question. Returns which of the properties of whole runs are violated.
fn compare(question: &Question, name: &str) -> [bool; OF_RUNS.len()] {
    let stored = answer(question);
    let compact = answer(&Question { compact: true, ..question.clone() });
    assert_eq!(compact.states, stored.states, "{name}");
    assert_eq!(compact.verdict(), stored.verdict(), "{name}");
    OF_RUNS.map(|property| {
        if !question.properties.contains(&property) {
            return false;
        }
        let [stored, compact] = [&stored, &compact].map(|report| report.outcome(property));
        let name = format!("{name}: {}", property.name());
        assert_eq!(compact.verdict, stored.verdict, "{name}");
        assert_eq!(compact.resilience, stored.resilience, "{name}");
        assert_eq!(compact.bound, stored.bound, "{name}");
        assert_eq!(compact.run.is_some(), stored.run.is_some(), "{name}");
        if let Some(run) = &compact.run {
            trace::confirm(run).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
        compact.verdict == Verdict::Violated
    })
}

/// Leaves out models with store buffers or with more than 8 processes, for which the compact check decides no property
/// of whole runs. `HALLPASS_COMPACT_STATES` sets a larger limit on the number of states than the one that keeps the
/// test short.
#[test]
fn every_compact_answer_agrees_with_the_graph_on_every_small_model() {
    const MAX_STATES: u64 = 8_000;
    let most = std::env::var("HALLPASS_COMPACT_STATES");
    let most = most.map_or(MAX_STATES, |most| most.parse().expect("a number of states"));
    let manifest = Manifest::standard().expect("the built-in manifest");
    let is_small = |model: &&AtlasModel| {
        !model.check.is_empty()
            && model.states.is_some_and(|states| states <= most)
            && model.memory == MemoryModel::Sequential
            && model.n <= 8
            // With `--symmetry`, there is no other answer to compare with: the stored graph decides no starvation.
            && !model.symmetry
    };
    let mut violated = [0; OF_RUNS.len()];
    for model in manifest.models.iter().filter(is_small) {
        // A model that leaves out steps of the algorithm has no question about numbers of steps.
        let everything = Question::everything(&model.algorithm, model.n, model.k).properties;
        let asked = OF_RUNS.into_iter().filter(|property| everything.contains(property)).collect();
        let question = model.check_question().only(asked);
        for (count, is_violated) in violated.iter_mut().zip(compare(&question, &model.id())) {
            *count += usize::from(is_violated);
        }
    }
    let expected = OF_RUNS.iter().zip(violated);
    for (property, count) in expected {
        assert!(count > 0, "{} is violated in no model", property.name());
    }
}

#[test]
fn compact_answers_agree_with_the_graph_after_stale_values_are_forgotten() {
    let question = Question::everything("zehavi", 2, 1).only(OF_RUNS.to_vec());
    compare(&Question { forget: true, ..question }, "zehavi");
}

/// The states of these models are wider than a word, so the search keeps codes.
#[test]
fn compact_answers_agree_with_the_graph_on_wide_states() {
    let properties =
        vec![Property::Exclusion, Property::Deadlock, Property::Starvation, Property::Exit];
    for (algorithm, n, k, forget) in [("zehavi", 3, 1, true), ("choi", 4, 3, false)] {
        let question = Question::everything(algorithm, n, k).only(properties.clone());
        let question = Question { contention: 2, forget, ..question };
        compare(&question, algorithm);
        let [stored, compact] =
            [false, true].map(|compact| answer(&Question { compact, ..question.clone() }));
        assert!(compact.state_bits > 64, "{algorithm}: {} bits", compact.state_bits);
        assert!(compact.states > 10_000, "{algorithm}: {} states", compact.states);
        assert_eq!(compact.transitions, stored.transitions, "{algorithm}");
        assert_eq!(compact.depth, stored.depth, "{algorithm}");
    }
}

#[test]
fn compact_answers_agree_with_the_graph_on_wide_states_up_to_renaming() {
    let question = Question::everything("choi", 4, 3).only(vec![Property::Starvation]);
    let question = Question { contention: 2, ..question };
    let full = answer(&question);
    let merged = answer(&Question { compact: true, symmetry: true, ..question });
    assert!(merged.state_bits > 64, "{} bits", merged.state_bits);
    assert!(merged.states < full.states);
    let [full, merged] = [full, merged].map(|report| report.outcome(Property::Starvation).clone());
    assert_eq!((merged.verdict, merged.resilience), (full.verdict, full.resilience));
}

#[test]
fn compact_answers_agree_with_the_graph_for_fewer_competitors() {
    let question = Question::everything("am-fig3", 4, 1).only(OF_RUNS.to_vec());
    compare(&Question { contention: 2, ..question }, "am-fig3");
}

/// In the first model, thousands of states are on loops that keep a process out, for several numbers of stopped
/// processes. In the second model, two processes compete for two slots. So no process ever waits, and no state is on
/// such a loop.
#[test]
fn compact_answers_agree_with_the_graph_with_many_loops_and_with_none() {
    let of_loops = vec![Property::Deadlock, Property::Starvation];
    for (k, contention, has_loops) in [(2, 4, true), (2, 2, false)] {
        let question = Question::everything("am-fig3", 4, k).only(of_loops.clone());
        let question = Question { contention, ..question };
        compare(&question, "am-fig3");
        let compact = answer(&Question { compact: true, ..question });
        for &property in &of_loops {
            assert_eq!(compact.outcome(property).resilience.is_some(), has_loops, "{contention}");
        }
    }
}

/// A decision that would take more memory than allowed ends with a partial verdict that names the limit.
#[test]
fn every_compact_decision_stays_within_its_memory() {
    let stop = AtomicBool::new(false);
    for property in OF_RUNS {
        let question = Question::everything("am-fig3", 4, 2).only(vec![property]);
        let question = Question { compact: true, ..question };
        let report = check(&question, &resources(1 << 26, 1200 << 10, &stop)).unwrap();
        let outcome = report.outcome(property);
        assert_eq!(outcome.verdict, Verdict::Partial, "{}", property.name());
        let note = outcome.note.as_ref().expect("a partial answer has a note");
        assert!(note.starts_with(property.name()) && note.contains("--memory"), "{note}");
    }
}
