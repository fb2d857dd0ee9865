//! Helpers that several tests use.

use std::sync::atomic::AtomicBool;

use hallpass_lab::{
    Machine,
    check::{Question, Report, check},
    explore::{Explored, Limits, explore},
    space::{Initial, SafetyFlags, Sequential, Space},
    tables::Tables,
};

use crate::common::resources;

/// The number of words of a packed state. It is enough for every test.
pub const W: usize = 4;

/// A packed state.
pub type State = [u64; W];

/// Returns the space of all runs of `tables` under sequential consistency.
pub fn sequential(tables: &Tables) -> Sequential<'_> {
    Sequential {
        mishaps: tables.has_mishaps(),
        tables,
        contention: tables.n,
        initial: Initial::All,
        normal: None,
        flags: SafetyFlags { exclusion: true, names: true },
        invariants: None,
        every_step: false,
    }
}

/// Answers the question.
pub fn answer(question: &Question) -> Report {
    let stop = AtomicBool::new(false);
    check(question, &resources(1 << 26, 4 << 30, &stop)).unwrap()
}

/// Explores all states of `space`.
pub fn explore_all<S: Space<W>>(space: &S) -> Explored<W> {
    let explored = explore_some(space, 1 << 26);
    assert!(explored.is_complete(), "stopped: {:?}", explored.ended);
    explored
}

/// Explores at most `states` states of `space`: those that are nearest to the initial states.
pub fn explore_some<S: Space<W>>(space: &S, states: u64) -> Explored<W> {
    let stop = AtomicBool::new(false);
    let limits = Limits { states, bytes: 4 << 30, threads: 1, stop: &stop, progress: &|_| () };
    explore(space, &limits)
}

/// Returns the successors of `state`, each with the agent that takes the step.
pub fn successors<S: Space<W>>(space: &S, state: &State) -> Vec<(usize, State)> {
    let mut all = Vec::new();
    space.successors(state, &mut |agent, next| all.push((agent, next)));
    all
}

/// Renames each process `p` of `state` to `to[p]`, one field at a time, directly from the definition.
pub fn renamed(machine: &dyn Machine, tables: &Tables, state: &State, to: &[usize]) -> State {
    let mut out = [0; W];
    for (p, &q) in to.iter().enumerate() {
        tables.locals[q].set(&mut out, tables.code(state, p));
        if !tables.extra.is_empty() {
            tables.extra[q].set(&mut out, tables.extra[p].get(state));
        }
    }
    for (decl, field) in machine.layout().decls().iter().zip(&tables.vars) {
        let value = decl.renamed(decl.domain.listed()[field.get(state)], |p| to[p]);
        let number = decl.domain.listed().iter().position(|&x| x == value).expect("in range");
        field.set(&mut out, number);
    }
    tables.out_of_range.set(&mut out, tables.out_of_range.get(state));
    out
}
