//! Checks that every contestant except the floor guarantees k-exclusion, by a witness that does not depend on the
//! contestant.
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

/// Runs a contestant under a witness, and returns the witness. Fails if the contestant does not exist at this size.
fn watched(contestant: &Contestant, threads: usize, k: usize) -> Result<Witness, String> {
    let witness = Witness::new(k);
    let sample = contestant.run(&load(threads, k), Observe::Holders(&witness))?;
    assert_eq!(sample.passages.len(), threads, "{contestant:?}");
    Ok(witness)
}

fn keeps_exclusion(contestant: &Contestant, threads: usize, k: usize) -> Result<(), String> {
    let witness = watched(contestant, threads, k)?;
    let most = witness.max_holders();
    assert!(most <= k, "{contestant:?}: {most} of {threads} threads held a slot, k = {k}");
    assert!(most > 0, "{contestant:?}: no thread ever got a slot");
    assert!(!witness.saw_wrong_slot(), "{contestant:?}: a slot had two holders, k = {k}");
    Ok(())
}

#[test]
fn every_contestant_admits_at_most_k_threads() {
    for contestant in field().iter().filter(|one| one.camp != Camp::Floor) {
        for (threads, k) in [(2, 1), (3, 2), (8, 4), (32, 4), (1, 1024)] {
            keeps_exclusion(contestant, threads, k)
                .expect("every contestant of the field exists at every size");
        }
    }
}

#[test]
fn every_algorithm_of_the_papers_admits_at_most_k_threads() {
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
fn the_witness_sees_that_the_floor_admits_every_thread() {
    let field = field();
    let floor = field.iter().find(|one| one.camp == Camp::Floor).expect("the field has a floor");
    let crowded =
        |_| watched(floor, 4, 1).expect("the floor exists at every size").max_holders() > 1;
    assert!((0..20).any(crowded), "no two of four threads held a slot at once");
}

#[test]
fn names_are_unique_and_include_the_floor_and_tokio() {
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
        let sample = contestant.run(&load(4, 2), Observe::Waits).expect("every size exists");
        let waits = sample.waits.expect("the run measures waits");
        assert!(waits.len() >= sample.passages.iter().sum(), "{contestant:?}");
    }
}
