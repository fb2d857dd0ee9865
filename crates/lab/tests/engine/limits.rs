//! Explorations that stop at a limit.

use std::sync::atomic::AtomicBool;

use super::support::{W, sequential};
use hallpass_lab::{
    explore::{Ended, Limits, explore},
    machine::build,
    space::{Initial, Sequential},
    tables::Tables,
};

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
        // Threads take numbers in blocks, so it may be a few states more or less.
        assert!(explored.states.abs_diff(states) < 200, "{}", explored.states);
    }
}
