//! Expands a state without steps that another order of the same steps makes superfluous.
//!
//! If two steps of different processes are *independent*, both orders lead to the same state. A breadth-first search
//! finds that state twice. So the search leaves out one of the orders, and finds each state about half as often.
//!
//! The rule: if the search has found a state u by a step of process p in the state u0, it leaves out the step of
//! process r in u if r < p and the steps of p and r are independent in u0. The set of these processes r is
//! stored with u.
//!
//! The search still finds every state, on the same level as a search that leaves out no step. The proof is by induction
//! on levels. Let s be a state on level L + 1. If a mishap leads to s from a state on level L, the search finds s,
//! because it leaves out no mishap. Otherwise some process has a step to s from a state on level L, which the search
//! has found. Of all these steps, consider the one of a process r in a state u. If the search leaves out this step, it
//! has found u by a step of a process p > r in a state u0 on level L - 1, and the two steps are independent in u0. So
//! the step of r leads from u0 to a state w, and the step of p leads from w to s. The level of w is at most L, because
//! u0 is on level L - 1, and at least L, because s is on level L + 1. So w is on level L, the search has found w, and p
//! has a step from w to s. The argument repeats with p instead of r. The number of the process grows each time, so the
//! argument ends with a step that the search does not leave out.
//!
//! The argument does not depend on which step has found a state first, so it holds for any number of threads. It
//! requires that a step depends only on the private state of its process and on one variable. So the rule does not
//! apply to limited contention and to normal forms, where a step depends on more, or to spaces that merge states. A
//! mishap is never left out, and no step is left out after a mishap. [`Sequential::every_step`] switches the rule off.

use super::{Sequential, Space};
use crate::tables::Tables;

/// The maximum number of processes for which steps are left out. A word has a byte for each of them.
const MOST_PROCESSES: usize = 8;

/// The successors of a state.
#[derive(Default)]
pub struct Found<const W: usize> {
    /// Each successor, with the set of processes whose steps the search leaves out there.
    pub successors: Vec<([u64; W], u64)>,
    /// The number of steps, including steps that wait and steps that are left out.
    pub transitions: u64,
}

impl<const W: usize> Found<W> {
    /// Adds a successor.
    #[inline]
    pub fn push(&mut self, state: [u64; W], skip: u64) {
        self.successors.push((state, skip));
    }
}

impl Sequential<'_> {
    /// Implements [`Space::expand`].
    #[inline]
    pub(super) fn expand_skipping<const W: usize>(
        &self,
        state: &[u64; W],
        skip: u64,
        found: &mut Found<W>,
    ) {
        let tables = self.tables;
        let n = tables.n;
        let is_local = self.contention == n && self.normal.is_none();
        if self.every_step || n > MOST_PROCESSES || !is_local {
            self.successors(state, &mut |_, successor| {
                found.transitions += 1;
                if successor != *state {
                    found.push(successor, 0);
                }
            });
            return;
        }
        if tables.out_of_range.get_in(state) != 0 {
            return; // a step left a variable's range
        }
        found.transitions += n as u64;
        let mut accesses = Accesses::default();
        // A step out of a variable's range is independent of no other step, because no step follows it.
        let mut in_range = u64::MAX;
        for p in 0..n {
            let (row, step) = tables.move_of(state, p);
            let (var, changes) = Tables::accessed(row, step);
            let independent = accesses.independent(var, changes);
            accesses.add(p, var, changes);
            let mut next = *state;
            if step.out_of_range {
                in_range &= !(1 << p);
                tables.out_of_range.set(&mut next, 1);
                found.push(next, 0);
                continue;
            }
            if skip >> p & 1 != 0 {
                continue;
            }
            tables.apply(&mut next, p, row, step);
            if next != *state {
                found.push(next, independent & in_range & ((1 << p) - 1));
            }
        }
        if self.mishaps {
            for p in 0..n {
                if let Some(next) = self.after_mishap(state, p) {
                    found.transitions += 1;
                    found.push(next, 0);
                }
            }
        }
    }
}

/// The accesses of the steps of several processes.
#[derive(Default)]
struct Accesses {
    /// A byte for each process: the lowest byte of the number of the variable that its step accesses. If two variables
    /// have the same lowest byte, they count as one variable, so some independent steps count as dependent.
    vars: u64,
    /// The set of processes whose steps change the variable.
    changes: u64,
}

impl Accesses {
    #[inline]
    fn add(&mut self, p: usize, var: u8, changes: bool) {
        self.vars |= u64::from(var) << (p * 8);
        self.changes |= u64::from(changes) << p;
    }

    /// Returns the set of processes whose steps are independent of a step that accesses this variable: the two steps
    /// access different variables, or neither changes the variable. Only the bits of added processes have a meaning.
    #[inline]
    fn independent(&self, var: u8, changes: bool) -> u64 {
        let other = nonzero_bytes(self.vars ^ (u64::from(var) * EACH_BYTE));
        other | !(self.changes | if changes { u64::MAX } else { 0 })
    }
}

/// A word with a 1 in each of its bytes.
const EACH_BYTE: u64 = 0x0101_0101_0101_0101;

/// Returns the set of bytes that are not 0. Bit 0 stands for the lowest byte.
#[inline]
fn nonzero_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x7f * EACH_BYTE;
    // The highest bit of each byte: an addition carries into it if a lower bit of the byte is set.
    let high = (((word & LOW) + LOW) | word) & !LOW;
    // The product moves the bit of byte i to bit 56 + i. No two of its terms overlap.
    (high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_zero_are_found() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..100_000 {
            let bytes: [u8; 8] =
                std::array::from_fn(|_| random.u8(..) & random.u8(..) & random.u8(..));
            let expected = (0..8).map(|i| u64::from(bytes[i] != 0) << i).sum::<u64>();
            assert_eq!(nonzero_bytes(u64::from_le_bytes(bytes)), expected, "{bytes:?}");
        }
    }

    #[test]
    fn steps_are_independent_if_neither_changes_what_the_other_reads() {
        let mut random = fastrand::Rng::with_seed(2);
        for _ in 0..10_000 {
            let all: [(u8, bool); 8] = std::array::from_fn(|_| (random.u8(0..4), random.bool()));
            let mut accesses = Accesses::default();
            for (p, &(var, changes)) in all.iter().enumerate() {
                let independent = accesses.independent(var, changes);
                for (r, &(other, also_changes)) in all[..p].iter().enumerate() {
                    let expected = var != other || !changes && !also_changes;
                    assert_eq!(independent >> r & 1 != 0, expected, "{all:?}: {p} and {r}");
                }
                accesses.add(p, var, changes);
            }
        }
    }
}
