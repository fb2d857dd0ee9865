//! Checks explorations that stop at a limit.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use super::support::{W, sequential};
use hallpass_lab::{
    check::{Question, check},
    explore::{Ended, Limits, explore},
    machine::build,
    space::{Initial, Sequential},
    tables::{Budget, CannotCompile, Tables},
};

use crate::common::resources;

#[test]
fn an_exploration_stops_near_its_limit_on_states() {
    let machine = build("am-fig3", 5, 3).unwrap();
    let tables = Tables::new(&*machine).unwrap();
    let space = Sequential { initial: Initial::Smallest, ..sequential(&tables) };
    let stop = AtomicBool::new(false);
    for (states, threads) in [(1, 1), (1_000, 1), (200_000, 1), (200_000, 2)] {
        let limits = Limits { states, bytes: 1 << 30, threads, stop: &stop, progress: &|_| () };
        let explored = explore::<W>(&space, &limits);
        assert_eq!(explored.ended, Ended::States);
        // Threads reserve numbers in blocks, so the count may be a few states higher or lower.
        assert!(explored.states.abs_diff(states) < 200, "{}", explored.states);
    }
}

/// Compiles a step machine whose tables would take 23 GB, and returns the error.
fn refuse(budget: Budget<'_>) -> CannotCompile {
    let machine = build("choi-wide", 20, 19).unwrap();
    Tables::within(&*machine, &[], budget).map(|tables| tables.bits).expect_err("too large")
}

#[test]
fn tables_stay_within_their_budget() {
    let stop = AtomicBool::new(false);
    let refused = refuse(Budget { bytes: 4 << 20, stop: &stop });
    assert!(matches!(refused, CannotCompile::Memory), "{refused:?}");
}

#[test]
fn building_tables_can_be_stopped() {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(10));
            stop.store(true, Relaxed);
        });
        let refused = refuse(Budget { bytes: u64::MAX, stop: &stop });
        assert!(matches!(refused, CannotCompile::Stopped), "{refused:?}");
    });
}

#[test]
fn a_limit_on_states_limits_the_tables() {
    let stop = AtomicBool::new(false);
    let resources = resources(100, 16 << 30, &stop);
    let error = check(&Question::everything("choi-wide", 20, 19), &resources).unwrap_err();
    assert!(error.to_string().contains("raise --memory and --states"), "{error}");
}
