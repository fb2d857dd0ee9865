//! Every contestant guarantees k-exclusion. A witness that does not depend on the contestant checks this.
//!
//! The suite runs over the lists in `contestants`, so it needs no change for a new contestant.

use std::time::Duration;

use hallpass_bench::{
    common::work::Work,
    threads::{
        contestants::{Camp, Contestant, FLOOR, TOKIO, field, papers},
        race::{Load, Observe},
        witness::Witness,
    },
};

fn load(threads: usize, k: usize) -> Load {
    let time = Duration::from_millis(15);
    Load { threads, k, inside: Work::NONE, outside: Work::NONE, time }
}

/// Runs it under a witness; what it saw, or why there is none of that size.
fn watched(contestant: &Contestant, threads: usize, k: usize) -> Result<Witness, String> {
    let witness = Witness::new(k);
    let sample = contestant.run(&load(threads, k), Observe::Inside(&witness))?;
    assert_eq!(sample.passages.len(), threads, "{contestant:?}");
    Ok(witness)
}

fn keeps_exclusion(contestant: &Contestant, threads: usize, k: usize) -> Result<(), String> {
    let witness = watched(contestant, threads, k)?;
    let most = witness.most_inside();
    assert!(most <= k, "{contestant:?}: {most} of {threads} were in, k = {k}");
    assert!(most > 0, "{contestant:?}: no thread ever got in");
    assert!(!witness.saw_wrong_slot(), "{contestant:?}: a slot had two holders, k = {k}");
    Ok(())
}

#[test]
fn no_contestant_lets_more_than_k_in() {
    for contestant in field().iter().filter(|one| one.camp != Camp::Floor) {
        for (threads, k) in [(2, 1), (3, 2), (8, 4), (32, 4), (1, 1024)] {
            keeps_exclusion(contestant, threads, k).expect("those in the field have every size");
        }
    }
}

#[test]
fn no_algorithm_of_the_papers_lets_more_than_k_in() {
    for contestant in &papers() {
        let mut sizes = 0;
        for (threads, k) in [(2, 1), (4, 2), (16, 4), (1, 1)] {
            match keeps_exclusion(contestant, threads, k) {
                Ok(()) => sizes += 1,
                Err(why) => {
                    assert!(why.contains("exists only") || why.contains("at most"), "{why}")
                }
            }
        }
        assert!(sizes >= 2, "{contestant:?} ran for {sizes} sizes only");
    }
}

#[test]
fn the_witness_sees_that_the_floor_lets_everybody_in() {
    let field = field();
    let floor = field.iter().find(|one| one.camp == Camp::Floor).expect("there is one");
    let crowded = |_| watched(floor, 4, 1).expect("it has every size").most_inside() > 1;
    assert!((0..20).any(crowded), "four threads never met");
}

#[test]
fn names_are_unique_and_those_compared_with_are_there() {
    let mut names: Vec<_> = field().iter().chain(&papers()).map(|one| one.name).collect();
    assert!(names.contains(&FLOOR) && names.contains(&TOKIO));
    let before = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), before);
}

#[test]
fn every_wait_is_timed() {
    for contestant in &field() {
        let sample = contestant.run(&load(4, 2), Observe::Waits).expect("it has every size");
        let waits = sample.waits.expect("they were asked for");
        assert!(waits.len() >= sample.passages.iter().sum(), "{contestant:?}");
    }
}
