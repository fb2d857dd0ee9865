//! Checks the search for passages with many remote references: compares its results with exact counts, and replays its
//! runs.

use std::sync::atomic::AtomicBool;

use hallpass_lab::{
    check::Error,
    explore::Ended,
    graph::Bound,
    rmr::{
        Figure, Over, Question, Range, Report, SearchBudget, Shows, curve, exact, plot, plot_of,
        search,
        simulate::{Setting, Simulation},
    },
    schedule::{CacheAtStart, Conventions, CostModel, FailedRmw, Finding, WriterCopy},
    space::Initial,
    trace,
};

use crate::common::resources;

fn ask(algorithm: &str, n: usize, k: usize) -> Question {
    Question {
        algorithm: algorithm.to_string(),
        n,
        k,
        contention: n,
        conventions: Conventions::default(),
        initial: Initial::All,
    }
}

fn budget(steps: u64) -> SearchBudget {
    SearchBudget { steps, seconds: 600.0, seed: 1 }
}

fn searched(question: &Question, steps: u64) -> Report {
    search(question, &budget(steps), &AtomicBool::new(false)).expect("a valid question")
}

/// Replays the run of a figure and compares its count.
fn replay(question: &Question, model: CostModel, figure: &Figure) {
    let Question { algorithm, n, k, contention, conventions, .. } = question;
    let setting = Setting::new(algorithm, *n, *k, *contention, *conventions)
        .expect("the algorithm exists at this size");
    let run = figure.run.as_ref().expect("there is a run");
    let Finding::Rmr { process, count, .. } = run.finding else {
        panic!("{:?}", run.finding);
    };
    let mut now = Simulation::new(&setting, run.initial.clone());
    for &p in &run.stem {
        now.step(&setting, p).expect("the run is possible");
    }
    match figure.worst {
        Bound::Most(worst) => {
            assert_eq!(count, Some(worst));
            assert_eq!(now.counts[process].of(model), worst);
            assert!(run.cycle.is_empty());
        }
        Bound::Unbounded => {
            assert_eq!(count, None);
            for _ in 0..3 {
                let before = now.clone();
                for &p in &run.cycle {
                    let done = now.step(&setting, p).expect("the cycle is possible");
                    assert!(p != process || !done.left, "the cycle stays within the passage");
                }
                assert!(now.is_same_for(&before, process, model));
                assert!(now.counts[process].of(model) > before.counts[process].of(model));
            }
        }
    }
}

#[test]
fn the_search_finds_the_known_worst_cases() {
    for (algorithm, n, k, model, worst) in [
        ("am-fig3", 3, 1, CostModel::Cc, 14),
        ("am-fig3", 4, 2, CostModel::Cc, 14),
        ("am-fig8", 3, 1, CostModel::Dsm, 18),
        ("am-fig3-nested", 3, 1, CostModel::Cc, 15),
        ("am-fig9", 3, 2, CostModel::Dsm, 10),
    ] {
        let question = ask(algorithm, n, k);
        let report = searched(&question, 1_000_000);
        let figure = if model == CostModel::Cc { &report.cc } else { &report.dsm };
        assert_eq!(figure.worst, Bound::Most(worst), "{algorithm} n={n} k={k}");
        assert!(!figure.exact);
        replay(&question, model, figure);
    }
}

#[test]
fn the_search_agrees_with_the_exact_count() {
    let stop = AtomicBool::new(false);
    let conventions = [
        Conventions::default(),
        Conventions { writer_copy: WriterCopy::Gained, ..Default::default() },
        Conventions { writer_copy: WriterCopy::Lost, ..Default::default() },
        Conventions { failed_rmw: FailedRmw::Read, ..Default::default() },
        Conventions { cache: CacheAtStart::Warm, ..Default::default() },
    ];
    let sizes = [("am-fig2", 3, 1), ("am-fig3-fast", 3, 2), ("am-fig8", 2, 1), ("am-fig9", 2, 1)];
    for (algorithm, n, k) in sizes {
        for (contention, conventions) in conventions
            .map(|conventions| (n, conventions))
            .into_iter()
            .chain([(1, Conventions::default())])
        {
            let question = Question { contention, conventions, ..ask(algorithm, n, k) };
            let exact =
                exact(&question, &resources(1 << 22, 1 << 30, &stop)).expect("a valid question");
            assert!(exact.cc.exact && exact.dsm.exact, "{question:?}");
            let report = searched(&question, 400_000);
            assert_eq!(report.cc.worst, exact.cc.worst, "cc {question:?}");
            assert_eq!(report.dsm.worst, exact.dsm.worst, "dsm {question:?}");
            replay(&question, CostModel::Cc, &report.cc);
            replay(&question, CostModel::Dsm, &report.dsm);
        }
    }
}

/// Checks that an exact count covers the states that a killed or expired process leaves behind.
#[test]
fn an_exact_count_covers_schedules_with_mishaps() {
    let stop = AtomicBool::new(false);
    for (algorithm, states) in [("etcd-expiry", 506), ("etcd-unheard", 330)] {
        let question = ask(algorithm, 2, 1);
        let report =
            exact(&question, &resources(1 << 20, 1 << 30, &stop)).expect("a valid question");
        assert!(report.is_exact());
        // The checker explores the same number of states.
        assert_eq!(report.states, states, "{algorithm}");
        for figure in [&report.cc, &report.dsm] {
            let run = figure.run.as_ref().expect("a process makes a passage");
            trace::confirm(run).unwrap_or_else(|why| panic!("{algorithm}: {why}"));
        }
    }
}

#[test]
fn waiting_on_a_remote_variable_has_no_bound() {
    for (algorithm, n, k) in [("am-fig3", 2, 1), ("am-fig3-tree", 8, 2), ("am-fig3", 32, 1)] {
        let question = ask(algorithm, n, k);
        let report = searched(&question, 200_000);
        assert_eq!(report.dsm.worst, Bound::Unbounded, "{algorithm}");
        let run = report.dsm.run.as_ref().expect("there is a run");
        assert!(!run.cycle.is_empty());
        replay(&question, CostModel::Dsm, &report.dsm);
    }
}

#[test]
fn a_search_handles_thirty_two_processes() {
    let question = ask("am-fig3", 32, 1);
    let report = searched(&question, 2_000_000);
    let Bound::Most(count) = report.cc.worst else {
        panic!("{:?}", report.cc.worst);
    };
    let bound = report.cc.claim.as_ref().map(|claim| claim.bound);
    assert_eq!(bound, Some(217));
    assert!((180..=217).contains(&count), "{count}");
    replay(&question, CostModel::Cc, &report.cc);
}

#[test]
fn the_same_seed_finds_the_same_run() {
    let question = ask("am-fig8", 4, 2);
    let (one, two) = (searched(&question, 200_000), searched(&question, 200_000));
    assert_eq!(one.cc.run, two.cc.run);
    assert_eq!(one.dsm.run, two.dsm.run);
}

#[test]
fn a_search_ends_when_it_is_stopped() {
    let question = ask("am-fig3", 3, 1);
    let stopped = search(&question, &budget(u64::MAX), &AtomicBool::new(true));
    let stopped = stopped.expect("a valid question");
    assert_eq!((stopped.ended, stopped.cc.worst), (Ended::Stopped, Bound::Most(0)));
    assert!(stopped.cc.run.is_none());
    let nothing = searched(&question, 0);
    assert_eq!((nothing.ended, nothing.cc.worst), (Ended::States, Bound::Most(0)));
    let timed = SearchBudget { seconds: 0.05, ..budget(u64::MAX) };
    let timed = search(&question, &timed, &AtomicBool::new(false)).expect("a valid question");
    assert!(timed.seconds < 30.0, "{}", timed.seconds);
}

#[test]
fn invalid_questions_are_refused() {
    let stop = AtomicBool::new(false);
    let refuse = |question: &Question| search(question, &budget(1000), &stop).err();
    assert!(matches!(refuse(&ask("am-fig4", 3, 1)), Some(Error::Algorithm(_))));
    assert!(matches!(refuse(&ask("am-fig3", 3, 3)), Some(Error::Algorithm(_))));
    let crowd = Question { contention: 4, ..ask("am-fig3", 3, 1) };
    assert!(matches!(refuse(&crowd), Some(Error::Question(_))));
}

#[test]
fn a_run_that_leaves_a_range_ends_there() {
    // Too many processes enter. This must not cause a panic.
    for algorithm in ["am-fig3:no-outer", "am-fig3+names:read-only", "am-fig8:no-initialise"] {
        let question = ask(algorithm, 4, 1);
        let report = searched(&question, 100_000);
        replay(&question, CostModel::Cc, &report.cc);
        replay(&question, CostModel::Dsm, &report.dsm);
    }
}

#[test]
fn a_curve_is_exact_for_small_sizes_and_searched_for_larger_ones() {
    let stop = AtomicBool::new(false);
    let range = Range {
        algorithm: "am-fig3".into(),
        model: CostModel::Cc,
        over: Over::N { k: 1, ns: vec![6, 1, 2, 3, 4] },
        contention: None,
        conventions: Conventions::default(),
        initial: Initial::All,
    };
    let points = curve(&range, &resources(100_000, 1 << 30, &stop), &budget(400_000))
        .expect("the algorithm exists at this size");
    let seen: Vec<_> = points.iter().map(|p| (p.n, p.figure.worst, p.figure.exact)).collect();
    let count = |n: usize, count: u32, exact: bool| (n, Bound::Most(count), exact);
    let expected =
        [count(2, 7, true), count(3, 14, true), count(4, 21, false), count(6, 35, false)];
    assert_eq!(seen, expected); // no point for n = 1: the algorithm does not exist there
    let drawn = plot_of(&[(range.clone(), points)]);
    let shown: Vec<_> = drawn.series.iter().map(|s| (s.shows, s.points.len())).collect();
    assert_eq!(shown, [(Shows::Bound, 4), (Shows::Exact, 2), (Shows::Searched, 2)]);
    let svg = plot(&drawn).expect("the plot has points");
    for text in ["am-fig3: searched, lower bound", "Theorem 1, 7(n-k)", "k = 1, contention c = n"] {
        assert!(svg.contains(text), "{text}");
    }
    let by_k = Range { over: Over::K { gap: 1, ks: vec![2, 1] }, ..range.clone() };
    let points = curve(&by_k, &resources(100_000, 1 << 30, &stop), &budget(1000))
        .expect("the algorithm exists at this size");
    let seen: Vec<_> = points.iter().map(|p| (p.n, p.k, p.figure.worst)).collect();
    assert_eq!(seen, [(2, 1, Bound::Most(7)), (3, 2, Bound::Most(7))]);
    let drawn = plot_of(&[(by_k, points)]);
    assert_eq!(
        (drawn.x_label.as_str(), &drawn.series[1].points[..]),
        ("processes in the critical section at once, k", &[(1, 7), (2, 7)][..])
    );
    let none = Range { over: Over::N { k: 1, ns: vec![1] }, ..range.clone() };
    assert!(curve(&none, &resources(100_000, 1 << 30, &stop), &budget(1000)).is_err());
    let stopped = AtomicBool::new(true);
    let points = curve(&range, &resources(100_000, 1 << 30, &stopped), &budget(1000)).unwrap();
    assert!(points.is_empty(), "a size at which the search was stopped has no point: {points:?}");
}

#[test]
fn a_curve_of_a_model_without_all_steps_is_refused() {
    let stop = AtomicBool::new(false);
    let range = Range {
        algorithm: "shared-reduced".into(),
        model: CostModel::Cc,
        over: Over::N { k: 1, ns: vec![2, 3] },
        contention: None,
        conventions: Conventions::default(),
        initial: Initial::All,
    };
    let refused = curve(&range, &resources(100_000, 1 << 30, &stop), &budget(1000)).unwrap_err();
    assert!(refused.to_string().contains("leaves out steps"), "{refused}");
}
