//! Compares searches with and without codes on spaces that are hard on codes.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::search::{Nothing, Searched, roots, run_to, search};

/// A tree with this many states. A state has its number in the first word, and 10 bits that depend on it in the second.
struct Tree {
    states: u64,
    parts: Vec<[u64; 2]>,
}

impl Tree {
    fn state(number: u64) -> [u64; 2] {
        [number, number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54]
    }
}

impl Space<2> for Tree {
    fn agents(&self) -> usize {
        3
    }

    fn parts(&self) -> Vec<[u64; 2]> {
        self.parts.clone()
    }

    fn initial(&self) -> Box<dyn Iterator<Item = [u64; 2]> + '_> {
        Box::new(std::iter::once(Tree::state(0)))
    }

    fn successors(&self, state: &[u64; 2], each: &mut dyn FnMut(Agent, [u64; 2])) {
        for agent in 0..3 {
            let child = state[0] * 3 + 1 + agent as u64;
            each(agent, if child < self.states { Tree::state(child) } else { *state });
        }
    }

    /// Marks many states of the same level.
    fn violations(&self, state: &[u64; 2]) -> u64 {
        u64::from(state[0] > self.states / 2 && state[1].is_multiple_of(5))
    }
}

fn limits(stop: &AtomicBool, bytes: u64, threads: usize) -> Limits<'_> {
    Limits { states: 1 << 26, bytes, threads, stop, progress: &|_| () }
}

/// Returns whether a search of the space uses codes.
fn uses_codes(tree: &Tree) -> bool {
    let (stop, memory) = (AtomicBool::new(false), Memory::new(1 << 30));
    let look = |_: &[u64; 2]| 0;
    let task = Task { space: tree, look: &look, middle: 0, until_found: false };
    let limits = limits(&stop, 1 << 30, 2);
    run_coded::<2, Nothing>(&task, &tree.parts, &|| roots(tree), &limits, &memory).is_some()
}

/// Compares everything that two searches have found.
fn assert_same(one: &Searched<2>, other: &Searched<2>, name: &str) {
    let numbers = |it: &Searched<2>| [it.states, it.transitions, it.depth.into(), it.roots];
    assert_eq!(numbers(one), numbers(other), "{name}");
    assert_eq!(one.ended, other.ended, "{name}");
    let violating = |it: &Searched<2>| it.violating(0).map(|at| (at.level, at.state));
    assert_eq!(violating(one), violating(other), "{name}");
}

/// Compares a search with these parts with a search without parts.
fn compare(states: u64, parts: Vec<[u64; 2]>) {
    let stop = AtomicBool::new(false);
    let whole = search(&Tree { states, parts: Vec::new() }, &limits(&stop, 1 << 30, 1));
    let tree = Tree { states, parts };
    for threads in [1, 3] {
        let limits = limits(&stop, 1 << 30, threads);
        let coded = search(&tree, &limits);
        assert_same(&coded, &whole, &format!("{threads} threads"));
        assert_eq!(coded.states, states);
        let goal = coded.violating(0).expect("half of the states are candidates");
        let (start, steps) = run_to(&tree, &goal, &limits).unwrap();
        assert_eq!(start, Tree::state(0));
        assert_eq!(steps.len(), goal.level as usize);
        assert_eq!(steps.last().map(|&(_, state)| state), Some(goal.state));
    }
}

/// Returns three parts with few values.
fn small_parts() -> Vec<[u64; 2]> {
    vec![[0x1ff, 0], [u64::MAX << 9, 0x1f], [0, u64::MAX << 5]]
}

#[test]
fn a_search_with_codes_finds_the_same_states() {
    let tree = Tree { states: 60_000, parts: small_parts() };
    assert!(uses_codes(&tree));
    compare(tree.states, tree.parts);
}

#[test]
fn a_search_begins_again_without_codes_if_a_part_has_too_many_values() {
    let tree = Tree { states: 200_000, parts: vec![[u64::MAX; 2]] };
    assert!(!uses_codes(&tree));
    compare(tree.states, tree.parts);
}

#[test]
fn a_search_begins_again_without_codes_if_codes_are_too_long() {
    let bit = |bit: u64| if bit < 64 { [1 << bit, 0] } else { [0, 1 << (bit - 64)] };
    // The 16 bits of a number are in six parts each.
    let mut parts: Vec<[u64; 2]> = (0..128).map(bit).collect();
    parts.extend((0..100).map(|index| bit(index % 20)));
    let tree = Tree { states: 50_000, parts };
    assert!(!uses_codes(&tree));
    compare(tree.states, tree.parts);
}

#[test]
fn a_search_with_codes_stays_within_its_memory() {
    let stop = AtomicBool::new(false);
    for bytes in [0, 1 << 10, 1 << 16, 1 << 18] {
        for parts in [small_parts(), vec![[u64::MAX; 2]]] {
            let tree = Tree { states: 200_000, parts };
            let searched = search(&tree, &limits(&stop, bytes, 2));
            assert_eq!(searched.ended, Ended::Memory, "{bytes} bytes");
            assert!(searched.bytes <= bytes, "{bytes} bytes: {}", searched.bytes);
            assert!(!searched.is_whole());
        }
    }
}
