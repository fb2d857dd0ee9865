//! Checks questions about whole runs: the answers in the atlas are right for small models, statements hold in some
//! models and fail in others, and replay confirms the runs.

use std::{collections::BTreeMap, sync::atomic::AtomicBool};

use hallpass_lab::{
    atlas::{AtlasModel, Manifest},
    questions::{Answer, Asked, Questions, Report, ask},
    schedule::{Conventions, Finding},
    space::Initial,
    trace,
};

use crate::common::resources;

fn questions(algorithm: &str, (n, k): (usize, usize), asked: &[&str]) -> Questions {
    Questions {
        algorithm: algorithm.into(),
        n,
        k,
        contention: n,
        initial: Initial::All,
        crashes: k - 1,
        conventions: Conventions::default(),
        asked: asked.iter().map(|name| Asked::from_name(name)).collect(),
    }
}

/// Answers the questions, and confirms every run on the algorithm's own code.
fn answered(questions: &Questions) -> Report {
    let stop = AtomicBool::new(false);
    let report = ask(questions, &resources(4_000_000, 4 << 30, &stop)).expect("valid questions");
    for (name, answered) in &report.answers {
        let Some(run) = &answered.run else { continue };
        let what = format!("{} n={} k={} {name}", questions.algorithm, questions.n, questions.k);
        trace::confirm(run).unwrap_or_else(|why| panic!("{what}: {why}"));
        let string = trace::encode(run).expect("the run is valid");
        assert_eq!(trace::decode(&string).as_ref(), Ok(run), "{what}");
    }
    report
}

fn answer(questions: &Questions) -> String {
    let report = answered(questions);
    let answers: Vec<String> =
        report.answers.values().map(|answered| answered.answer.to_string()).collect();
    answers.join(" ")
}

/// This suite asks the questions of models with at most this many states. CI also runs the quick atlas, which asks the
/// questions of larger models.
const MAX_STATES: u64 = 10_000;

#[test]
fn answers_in_the_atlas_are_measured_again() {
    let manifest = Manifest::standard().expect("the built-in manifest");
    let small = |model: &&AtlasModel| {
        model.has_ask() && model.states.is_some_and(|states| states <= MAX_STATES)
    };
    let mut checked = 0;
    for model in manifest.models.iter().filter(small) {
        let report = answered(&model.questions());
        let found: BTreeMap<String, String> = report
            .answers
            .iter()
            .map(|(name, answered)| (name.clone(), answered.answer.to_string()))
            .collect();
        assert_eq!(found, model.ask, "{}", model.id());
        checked += 1;
    }
    assert!(checked >= 15, "only {checked} models are small");
}

#[test]
fn statements_hold_in_some_models_and_fail_in_others() {
    let manifest = Manifest::standard().expect("the built-in manifest");
    let with = |name: &str, wanted: &str| {
        manifest
            .models
            .iter()
            .any(|model| model.ask.get(name).is_some_and(|answered| answered == wanted))
    };
    // Unit tests show that U3, S5 and S6 of Anderson & Moir and O1 to O4, O6 and O7 of Choi can fail.
    for name in [
        "U2", "L1", "L2", "L3", "L4", "L5", "L6", "S1", "S2", "S3", "S4", "O5", "Lemma-4", "4.2",
        "fcfs",
    ] {
        assert!(with(name, "holds"), "{name} never holds");
        assert!(with(name, "violated"), "{name} is never violated");
    }
}

#[test]
fn a_statement_about_reachable_states_is_violated_if_no_run_reaches_one() {
    let alone = Questions { contention: 1, ..questions("am-fig8", (2, 1), &["footnote-8"]) };
    assert_eq!(answer(&alone), "violated");
    assert_eq!(answer(&questions("am-fig8", (2, 1), &["footnote-8"])), "holds");
}

#[test]
fn statements_about_outer_levels_are_vacuous_without_outer_levels() {
    assert_eq!(answer(&questions("am-fig3", (2, 1), &["L1", "L2"])), "vacuous vacuous");
}

#[test]
fn a_changed_run_does_not_contradict_a_statement() {
    let report = answered(&questions("am-fig8:wrong-flag", (2, 1), &["U2"]));
    let run = report.answers["U2"].run.clone().expect("U2 is violated");
    assert!(matches!(run.finding, Finding::Statement { .. }));
    let mut shorter = run.clone();
    shorter.stem.pop();
    let why = trace::confirm(&shorter).expect_err("the last step is missing");
    assert!(why.contains("does not decide U2"), "{why}");
    let mut unknown = run;
    unknown.finding = Finding::Statement { name: "U9".into() };
    let why = trace::confirm(&unknown).expect_err("there is no such statement");
    assert!(why.contains("its statements are: U2, L3, L4"), "{why}");
}

#[test]
fn a_changed_run_does_not_contradict_leads_to_and_fcfs() {
    let report = answered(&questions("am-fig3:no-release", (3, 1), &["L1"]));
    let run = report.answers["L1"].run.clone().expect("L1 is violated");
    let Finding::LeadsTo { name, instance, process, stopped } = run.finding.clone() else {
        panic!("a run about L1");
    };
    let other = Finding::LeadsTo { name, instance, process: (process + 1) % 3, stopped };
    assert!(trace::confirm(&hallpass_lab::schedule::Schedule { finding: other, ..run }).is_err());

    let report = answered(&questions("am-fig3", (3, 2), &["fcfs"]));
    let run = report.answers["fcfs"].run.clone().expect("it is violated");
    let Finding::Fcfs { first, second } = run.finding else { panic!("a run about order") };
    let other = Finding::Fcfs { first: second, second: first };
    assert!(trace::confirm(&hallpass_lab::schedule::Schedule { finding: other, ..run }).is_err());
}

#[test]
fn time_has_no_bound_if_too_many_processes_stop() {
    let asked = ["rounds", "sections"];
    let with = |algorithm: &str, crashes| {
        answer(&Questions { crashes, ..questions(algorithm, (3, 2), &asked) })
    };
    assert_eq!(with("omori-naive", 1), "unbounded unbounded");
    assert!(!with("omori-naive", 0).contains("unbounded"));
    assert!(!with("omori-excl", 1).contains("unbounded"));
    assert_eq!(with("omori-excl", 2), "unbounded unbounded");
}

#[test]
fn a_process_without_competitors_takes_one_round_for_each_step() {
    // In Figure 3 with n = 2 and k = 1, the entry section of a process without competitors is one step: line 2.
    let alone =
        Questions { contention: 1, ..questions("am-fig3", (2, 1), &["rounds", "sections"]) };
    assert_eq!(answer(&alone), "1 0");
}

#[test]
fn an_unknown_question_is_an_error() {
    let stop = AtomicBool::new(false);
    let resources = resources(1000, 1 << 30, &stop);
    let error = ask(&questions("am-fig3", (2, 1), &["U7"]), &resources).unwrap_err().to_string();
    assert!(error.contains("its questions are: U1, L1, L2, fcfs"), "{error}");
    let error = ask(&questions("shared-mortal", (2, 1), &["rounds"]), &resources);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("has mishaps, for which `rounds` is not defined"), "{error}");
}

#[test]
fn a_limit_makes_answers_partial() {
    let stop = AtomicBool::new(false);
    let asked = questions("am-fig3", (3, 1), &["U1"]);
    let report = ask(&asked, &resources(100, 1 << 30, &stop)).expect("a valid question");
    assert!(matches!(report.answers["U1"].answer, Answer::Partial(_)));
    assert!(!report.is_complete());
}
