//! Starvation on the quotient by renamings of processes (Emerson and Sistla, "Symmetry and Model Checking", 1996).
//!
//! The quotient merges states that differ only by a renaming of the processes other than the victim. Its
//! components are found as without symmetry. But a step of the quotient does not say which process moves,
//! because the merged states have different numbers for it. So this module unfolds a component of the quotient. The
//! quotient has merged one or more components of the graph of all states into this one, and the module computes one of
//! them. This is correct and enough:
//!
//! - A path of the quotient from a state back to itself is, in the graph of all states, a path from a state to
//!   a renaming of it. The same path, renamed and repeated a finite number of times, leads back to the first
//!   state. So the states that are reachable from one state, by steps within a component of the quotient,
//!   are a component of the graph of all states.
//! - All components that are merged into one component of the quotient are renamings of each other. A process has
//!   *stopped* in a component if it is outside its remainder and takes no step there. So the same number of processes
//!   has stopped in each of these components, and one of them is enough to count the stopped processes and to find a
//!   loop.
//!
//! Emerson and Sistla annotate the steps of the quotient with renamings. Unfolding computes the same, and needs
//! memory for one component at a time.

use std::sync::{Mutex, MutexGuard};

use hallpass_algorithms::{Pid, Section};
use indexmap::IndexSet;

use super::components::Region;
use crate::{
    explore::Ended,
    graph::Edges,
    space::{Agent, Space},
    standing::Standing,
    store::Id,
    tables::Tables,
};

type States<const W: usize> = IndexSet<[u64; W], foldhash::fast::FixedState>;

/// A component of the graph of all states, above a component of the quotient. Its states are numbered in the
/// order in which they are found, and the first one is 0.
pub(super) struct Unfolded<'a, const W: usize> {
    region: &'a Region<'a, W>,
    /// Returns whether a state of the quotient belongs to the component of the quotient. For
    /// [`movers`](Unfolded::movers), this must be exact. In a search for a cycle, it may also return `true` for states
    /// from which no path leads back to the component: such states are on no cycle with states of the component.
    inside: &'a (dyn Fn(Id) -> bool + Sync),
    states: Mutex<States<W>>,
}

impl<'a, const W: usize> Unfolded<'a, W> {
    /// Creates the component of this state.
    pub fn new(
        region: &'a Region<'a, W>,
        inside: &'a (dyn Fn(Id) -> bool + Sync),
        state: &[u64; W],
    ) -> Self {
        let states = Mutex::new(IndexSet::from_iter([*state]));
        Unfolded { region, inside, states }
    }

    /// Returns the number of bytes in use.
    pub fn bytes(&self) -> u64 {
        // An entry has a hash and a state. Its place in the hash table has an index and one more byte, and at most 7 of
        // 8 places are in use.
        let entry = size_of::<(u64, [u64; W])>() + (size_of::<usize>() + 1) * 8 / 7;
        (self.states().capacity() * entry) as u64
    }

    fn states(&self) -> MutexGuard<'_, States<W>> {
        self.states.lock().expect("no panic while held")
    }

    fn state(&self, id: Id) -> [u64; W] {
        self.states()[id as usize]
    }

    /// Returns the set of the processes that move in the component.
    ///
    /// # Errors
    /// Fails if the component has more than `most` states.
    pub fn movers(&self, most: usize) -> Result<u64, Ended> {
        let (mut movers, mut next) = (0, 0);
        loop {
            let found = self.states().len();
            if found > most {
                return Err(Ended::Memory);
            }
            if next == found {
                return Ok(movers);
            }
            self.for_each_edge(next as Id, &mut |agent, _| movers |= 1 << agent);
            next += 1;
        }
    }
}

impl<const W: usize> Edges for Unfolded<'_, W> {
    fn for_each_edge(&self, node: Id, each: &mut dyn FnMut(Agent, Id)) {
        let (region, state) = (self.region, self.state(node));
        region.space.successors(&state, &mut |agent, next| {
            let is_inside = region.has_step(&state, agent, &next)
                && (self.inside)(region.number(&region.space.canonical(next)));
            if is_inside {
                let (id, _) = self.states().insert_full(next);
                each(agent, id as Id);
            }
        });
    }
}

impl<const W: usize> Standing for Unfolded<'_, W> {
    fn n(&self) -> usize {
        self.region.tables.n
    }

    fn section(&self, id: Id, p: Pid) -> Section {
        self.region.tables.section(&self.state(id), p)
    }

    fn begins(&self, id: Id, p: Pid) -> bool {
        let tables = self.region.tables;
        tables.code(&self.state(id), p) == tables.begin(p)
    }

    fn has_settled(&self, _: Id, _: Pid) -> bool {
        true // the search has no store buffers
    }
}

/// Renames the processes of a cycle so that it leads from `state` back to `state`. The cycle leads from a renaming of
/// `state` back to that renaming. The first `fixed` processes keep their numbers. Returns the new number of
/// each process, or `None` if there is no such renaming.
pub fn renamed_cycle<const W: usize>(
    space: &dyn Space<W>,
    tables: &Tables,
    state: &[u64; W],
    cycle: &[Agent],
    fixed: usize,
) -> Option<Vec<Pid>> {
    let mut names: Vec<Pid> = (0..tables.n).collect();
    loop {
        if leads_back(space, state, cycle.iter().map(|&agent| names[agent])) {
            return Some(names);
        }
        if !next_permutation(&mut names[fixed..]) {
            return None;
        }
    }
}

fn leads_back<const W: usize>(
    space: &dyn Space<W>,
    state: &[u64; W],
    agents: impl Iterator<Item = Agent>,
) -> bool {
    let mut now = *state;
    for agent in agents {
        let mut after = None;
        space.successors(&now, &mut |mover, next| {
            if mover == agent {
                after = Some(next);
            }
        });
        match after {
            Some(next) => now = next,
            None => return false,
        }
    }
    now == *state
}

/// Replaces a permutation with the next one in lexicographic order. Returns `false` after the last one.
fn next_permutation(items: &mut [Pid]) -> bool {
    let Some(first) = items.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let larger =
        items.iter().rposition(|&item| item > items[first]).expect("the next item is larger");
    items.swap(first, larger);
    items[first + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_listed_once_each() {
        let mut items = vec![1, 2, 3, 4];
        let mut all = vec![items.clone()];
        while next_permutation(&mut items) {
            all.push(items.clone());
        }
        assert_eq!(all.len(), 24);
        assert!(all.is_sorted_by(|one, other| one < other));
        assert!(!next_permutation(&mut []));
    }
}
