//! Checks that `trace::confirm` accepts runs that show their findings, and rejects runs that do not.

use hallpass_lab::{
    schedule::{Conventions, CostModel, Finding, MemoryModel, Schedule},
    trace,
};

use super::find::{Random, passage, schedule, shortest, starved, with};

fn rejected(schedule: &Schedule) -> String {
    trace::confirm(schedule).expect_err("the finding must not be confirmed")
}

#[test]
fn a_violation_of_exclusion() {
    let run = shortest("am-fig3:no-outer", (3, 1), Finding::Exclusion);
    trace::confirm(&run).unwrap();
    let cut = Schedule { stem: run.stem[..run.stem.len() - 1].to_vec(), ..run.clone() };
    assert_eq!(
        rejected(&cut),
        "at the end, the number of processes in their critical sections is 1, which k = 1 allows"
    );
    for finding in [Finding::Names, Finding::Range, Finding::Deadlock { stopped: vec![] }] {
        rejected(&with(run.clone(), finding));
    }
    // The same steps on a sound algorithm.
    rejected(&Schedule { algorithm: "am-fig3".into(), initial: vec![2, 0, 1, 0], ..run.clone() });
    rejected(&Schedule { cycle: vec![0], ..run });
}

#[test]
fn names_and_invariants() {
    let run = shortest("am-fig3+names:read-only", (3, 2), Finding::Names);
    rejected(&with(run.clone(), Finding::Exclusion));

    let broken = Finding::Invariant("I1".into());
    let run = shortest("am-fig3:no-outer", (3, 1), broken);
    let error = rejected(&with(run.clone(), Finding::Invariant("I4".into())));
    assert_eq!(error, "the first invariant broken at the end is I1");
    let cut = Schedule { stem: run.stem[..run.stem.len() - 1].to_vec(), ..run };
    assert_eq!(rejected(&cut), "no invariant is broken at the end");
}

#[test]
fn a_variable_that_leaves_its_range() {
    // In this variant, line 2 takes no slot, but line 7 gives a slot back.
    let run = with(schedule("am-fig3:no-take", (2, 1), &[0; 4], &[]), Finding::Range);
    trace::confirm(&run).unwrap();
    let cut = Schedule { stem: vec![0; 3], ..run.clone() };
    assert_eq!(rejected(&cut), "the last step accesses no variable");
    let error = rejected(&Schedule { stem: vec![0; 5], ..run });
    assert!(
        error.starts_with("step 5 is impossible: X.1 is outside its declared range"),
        "{error}"
    );
}

#[test]
fn a_starving_process() {
    let run = starved();
    trace::confirm(&run).unwrap();
    let reject = |finding| rejected(&with(run.clone(), finding));
    let stopped = |victim, stopped: &[usize]| {
        reject(Finding::Starvation { victim, stopped: stopped.to_vec() })
    };
    let wrong = "the processes that stop outside their remainders are 0, not none";
    assert_eq!(stopped(1, &[]), wrong);
    stopped(1, &[0, 1]);
    stopped(1, &[1]);
    assert_eq!(stopped(0, &[0]), "process 0 does not move in the cycle");

    let short = Schedule { stem: run.stem[..5].to_vec(), ..run.clone() };
    assert_eq!(rejected(&short), "the cycle does not end in the state in which it begins");
    let ends = Schedule { cycle: vec![], ..run.clone() };
    assert_eq!(
        rejected(&ends),
        "the run ends, but the finding is about a run that continues forever"
    );

    // The same run is also a deadlock, because no process enters in the cycle.
    trace::confirm(&with(run.clone(), Finding::Deadlock { stopped: vec![0] })).unwrap();
    reject(Finding::Deadlock { stopped: vec![] });
    reject(Finding::Exit { process: 1, steps: None });
    reject(Finding::Doorway { process: 1, steps: None });
}

#[test]
fn a_cycle_in_which_a_process_enters_is_not_a_deadlock() {
    // With n = 3, k = 2, process 1 enters and leaves again and again while process 0 stays in its
    // critical section.
    let cycle = [1, 1, 1, 1, 1];
    let alone = schedule("am-fig3", (3, 2), &[0, 0, 1, 1, 1, 1, 1], &cycle);
    let error = rejected(&with(alone, Finding::Deadlock { stopped: vec![0] }));
    assert_eq!(error, "process 1 enters in the cycle");
}

#[test]
fn a_cycle_with_a_store_that_is_never_flushed_is_rejected() {
    // Line 5 reads from the buffer. The state recurs only because the store is never flushed.
    let run = Schedule { memory: MemoryModel::StoreBuffers, ..starved() };
    assert_eq!(rejected(&run), "the store buffer of process 1 is never flushed");
    let flushed = Schedule { stem: vec![0, 0, 1, 1, 1, 1, 3], ..run };
    trace::confirm(&flushed).unwrap();
}

#[test]
fn steps_in_exit_and_doorway() {
    let run = schedule("am-fig3", (2, 1), &[1, 1, 0, 0, 0, 0, 1, 1, 1], &[]);
    let exit = |process, steps| Finding::Exit { process, steps };
    trace::confirm(&with(run.clone(), exit(1, Some(2)))).unwrap();
    assert_eq!(
        rejected(&with(run.clone(), exit(1, Some(3)))),
        "process 1 takes 2 steps in its exit section, not 3"
    );
    rejected(&with(run.clone(), exit(0, Some(0))));
    let doorway = |process, steps| Finding::Doorway { process, steps: Some(steps) };
    trace::confirm(&with(run.clone(), doorway(0, 3))).unwrap();
    trace::confirm(&with(run.clone(), doorway(1, 1))).unwrap();
    rejected(&with(run, doorway(0, 4)));
}

#[test]
fn first_in_not_first_enabled() {
    // Processes 0 and 1 are in their critical sections, and 2 waits. Then 0 and 1 leave without
    // releasing 2, and 0 enters again.
    let stem = [0, 0, 1, 1, 2, 2, 2, 2, 0, 0, 1, 1, 0, 0];
    let run = schedule("am-fig3:no-release", (3, 2), &stem, &[2]);
    let fife = |first, second, at| with(run.clone(), Finding::Fife { first, second, at });
    trace::confirm(&fife(2, 0, 14)).unwrap();
    let error = rejected(&fife(2, 0, 13));
    assert_eq!(error, "after 13 steps process 0 is in its doorway, not in its critical section");
    assert!(rejected(&fife(0, 2, 14)).contains("not in its waiting room"));
    // The first passage of process 0 began before the passage of process 2.
    assert!(rejected(&fife(2, 0, 8)).contains("had not left the doorway"));
    let strong = with(run.clone(), Finding::FifeStrong { first: 2, second: 0, at: 14 });
    assert!(rejected(&strong).contains("not in its waiting room"));
    let still = Schedule { stem: [&stem[..], &[0, 0]].concat(), ..fife(2, 0, 14) };
    trace::confirm(&still).unwrap();
    let error = rejected(&Schedule { cycle: vec![1, 1, 1, 1], ..still });
    assert_eq!(error, "process 2 does not move in the cycle");
}

#[test]
fn a_process_that_waits_forever_is_not_enabled() {
    // Process 2 is in its critical section. Process 0 waits for it at the inner level, and process 1 at the outer
    // level.
    let stem = [2, 2, 2, 0, 0, 0, 0, 0, 1, 1, 1, 1];
    let run = schedule("am-fig3", (3, 1), &stem, &[0]);
    let error = rejected(&with(run, Finding::FifeStrong { first: 0, second: 1, at: 12 }));
    assert_eq!(error, "after 12 steps process 1 waits forever if it alone takes steps");
}

#[test]
fn an_enabled_process_is_not_overtaken() {
    // Process 2 waits. Process 0 releases it and stays in its remainder. Then process 1 enters again and again.
    let stem = [0, 0, 1, 1, 2, 2, 2, 2, 0, 0, 0, 1, 1, 1, 1, 1];
    let run = schedule("am-fig3", (3, 2), &stem, &[1, 1, 1, 1, 1]);
    let endless = Finding::Bypass { victim: 2, times: None, at: 16 };
    let error = rejected(&with(run.clone(), endless.clone()));
    assert_eq!(error, "the run does not show that process 2 can be kept out forever");
    // Without line 8, process 2 is not released.
    let run = schedule(
        "am-fig3:no-release",
        (3, 2),
        &[0, 0, 1, 1, 2, 2, 2, 2, 0, 0, 1, 1, 1, 1],
        &[1, 1, 1, 1],
    );
    let at = run.stem.len();
    trace::confirm(&with(run, Finding::Bypass { victim: 2, times: None, at })).unwrap();
}

#[test]
fn overtakings_before_a_passage_do_not_count() {
    // Processes 0 and 1 enter after the first passage of process 2 and before its second one.
    let stem = [2, 2, 2, 2, 2, 0, 0, 1, 1, 2, 2, 2, 2];
    let run = schedule("am-fig3", (3, 2), &stem, &[2]);
    let error = rejected(&with(run, Finding::Bypass { victim: 2, times: Some(2), at: 10 }));
    assert_eq!(error, "after 10 steps process 2 does not wait");
}

#[test]
fn liveness_is_about_what_happens_after_the_last_mishap() {
    // Process 0 has stopped in its critical section, and process 1 waits. Agent 5 kills process 2.
    let starving = |stem: &[usize], cycle: &[usize]| {
        let run = schedule("etcd-mortal", (3, 1), stem, cycle);
        with(run, Finding::Starvation { victim: 1, stopped: vec![0] })
    };
    trace::confirm(&starving(&[0, 0, 0, 1, 1, 1, 5, 5], &[1])).unwrap();
    let error = rejected(&starving(&[0, 0, 0, 1, 1, 1, 5, 5], &[1, 5]));
    assert!(error.starts_with("the cycle contains a mishap (process 2: killed)"), "{error}");
}

#[test]
fn remote_references_of_the_last_passage() {
    let conventions = Conventions::default();
    let rmr = |model, process, count| Finding::Rmr { model, process, count, conventions };
    let alone = schedule("am-fig3", (2, 1), &[0; 5], &[]);
    trace::confirm(&with(alone.clone(), rmr(CostModel::Cc, 0, Some(3)))).unwrap();
    trace::confirm(&with(alone.clone(), rmr(CostModel::Dsm, 0, Some(3)))).unwrap();
    assert_eq!(
        rejected(&with(alone.clone(), rmr(CostModel::Cc, 0, Some(4)))),
        "process 0's last passage makes 3 remote references, not 4"
    );
    rejected(&with(alone.clone(), rmr(CostModel::Cc, 1, Some(0))));
    // For an incomplete passage, only the references so far count.
    let cut = Schedule { stem: vec![0; 4], ..alone };
    trace::confirm(&with(cut.clone(), rmr(CostModel::Cc, 0, Some(2)))).unwrap();
    rejected(&with(cut, rmr(CostModel::Cc, 0, Some(3))));

    let mut random = Random(3);
    for id in ["am-fig3", "am-fig9", "am-fig8-nested", "am-fig3-fast+names"] {
        for _ in 0..50 {
            let (run, [cc, dsm]) = passage(id, (4, 2), &mut random);
            trace::confirm(&with(run.clone(), rmr(CostModel::Cc, 0, Some(cc)))).unwrap();
            trace::confirm(&with(run.clone(), rmr(CostModel::Dsm, 0, Some(dsm)))).unwrap();
            rejected(&with(run, rmr(CostModel::Cc, 0, Some(cc + 1))));
        }
    }
}

#[test]
fn an_unbounded_number_of_remote_references() {
    let conventions = Conventions::default();
    let rmr = |model| Finding::Rmr { model, process: 1, count: None, conventions };
    // With CC, waiting at line 5 with a valid copy of Q costs nothing. With DSM, Q is in the memory of
    // no process.
    assert_eq!(
        rejected(&with(starved(), rmr(CostModel::Cc))),
        "process 1 makes no remote reference in the cycle"
    );
    trace::confirm(&with(starved(), rmr(CostModel::Dsm))).unwrap();
    let passing = schedule("am-fig3", (2, 1), &[1; 5], &[1; 5]);
    assert!(rejected(&with(passing, rmr(CostModel::Dsm))).contains("not in one passage"));
}
