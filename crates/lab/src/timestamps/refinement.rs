//! Checks whether a run is a run of UCTSS, the unbounded system of Afek et al. Label and Scan are the two procedures of
//! a timestamp system (see [`Procedure`]).
//!
//! A concurrent timestamp system is a system whose histories are all histories of UCTSS (definition 3.1 of Afek et
//! al.). So a run is correct if some run of UCTSS has the same history. The check constructs that run of UCTSS step by
//! step. For this, the check has to find the times of UCTSS's accesses, and the numbers that UCTSS writes.
//!
//! **Times.** A Label of UCTSS writes when the system writes the label. A Label or Scan of UCTSS reads each
//! register at some time at which the timestamp that the system saw was the latest of its process. This time must
//! be within the procedure (*regular*). UCTSS reads in any order, so nothing else is needed.
//!
//! **Numbers.** The numbers of UCTSS come from some order of all timestamps. The run makes two kinds of demands on this
//! order. The order must contain the order that each Scan returned. The new timestamp of each Label must come after all
//! timestamps that the Label saw. UCTSS may choose any larger number when it writes. So suitable numbers exist if and
//! only if the demands have no cycle (*acyclic*).
//!
//! **Finitely many states.** The check keeps the demands as their transitive closure, restricted to timestamps that
//! still exist in some register or private state. A new demand is always between two such timestamps. If the new demand
//! closes a cycle through timestamps that no longer exist, the closure shows this cycle. So the restricted closure is
//! enough, and it is finite.
//!
//! In one point, the check demands more than necessary. A Label returns no order, but the check also demands that the
//! order of all timestamps agrees with the order in which the Label saw them.

use super::{
    marks::Marks,
    observe::{Observer, Violation},
    subject::{Happened, Procedure, Seen, State, Subject},
};

/// The demands on the order of timestamps so far.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Refinement {
    marks: Marks,
    /// For each process in a procedure and each process q: the oldest timestamp of q that it may see.
    floor: Vec<u8>,
    /// For each timestamp: the timestamps that come after it in the order. The timestamps of process 0 have the first
    /// indices, from old to new. A timestamp that is about to be written is the newest. Then come those of process 1,
    /// and so on.
    after: Vec<u128>,
}

impl Refinement {
    fn n(&self) -> usize {
        self.marks.counts.len()
    }

    /// Returns the number of timestamps of `q`, including the one that is about to be written.
    fn len(marks: &Marks, q: usize) -> usize {
        marks.counts[q] as usize + (marks.pending >> q & 1) as usize
    }

    fn node(marks: &Marks, q: usize, number: u8) -> usize {
        (0..q).map(|q| Self::len(marks, q)).sum::<usize>() + number as usize
    }

    /// Demands that `x` comes before `y`. Returns whether this is possible.
    fn demand(&mut self, x: usize, y: usize) -> bool {
        if self.after[y] >> x & 1 != 0 || x == y {
            return false;
        }
        if self.after[x] >> y & 1 == 0 {
            let more = self.after[y] | 1 << y;
            for z in 0..self.after.len() {
                if z == x || self.after[z] >> x & 1 != 0 {
                    self.after[z] |= more;
                }
            }
        }
        true
    }

    /// Checks that the timestamps that `p` has seen in its procedure are regular and in order.
    fn saw(&mut self, p: usize, seen: &Seen) -> Option<Violation> {
        let n = self.n();
        if seen.permutation().is_none() {
            return Some(Violation::NoOrder);
        }
        if (0..n).any(|q| seen.marks[q] < self.floor[p * n + q]) {
            return Some(Violation::Stale);
        }
        let nodes: Vec<usize> = (0..n).map(|q| Self::node(&self.marks, q, seen.marks[q])).collect();
        for j in 0..n {
            for i in 0..n {
                if seen.orders(i, j) && !self.demand(nodes[i], nodes[j]) {
                    return Some(Violation::Contradiction);
                }
            }
        }
        None
    }

    /// Adds the new timestamp of `p`. It comes after all timestamps that `p` has seen.
    fn choose(&mut self, p: usize, seen: &Seen) {
        let at = Self::node(&self.marks, p, self.marks.counts[p]);
        let below = (1u128 << at) - 1;
        for row in &mut self.after {
            *row = (*row & !below) << 1 | *row & below;
        }
        self.after.insert(at, 0);
        self.marks.pending |= 1 << p;
        for q in 0..self.n() {
            let node = Self::node(&self.marks, q, seen.marks[q]);
            self.demand(node, at);
        }
    }

    /// Removes the timestamps that no longer exist.
    fn forget(&mut self, old: &Marks, new: &[Vec<Option<u8>>]) {
        let mut kept = Vec::new();
        for (q, new) in new.iter().enumerate() {
            let there = (0..Self::len(old, q)).filter(|&number| new[number].is_some());
            kept.extend(there.map(|number| Self::node(old, q, number as u8)));
        }
        if kept.len() < self.after.len() {
            let row = |&x: &usize| {
                let row = self.after[x];
                kept.iter().enumerate().fold(0, |new, (y, &z)| new | (row >> z & 1) << y)
            };
            self.after = kept.iter().map(row).collect();
        }
        let n = self.n();
        for (index, floor) in self.floor.iter_mut().enumerate() {
            // `floor` becomes the new number of the oldest timestamp that still exists and is allowed.
            let gone = new[index % n][..*floor as usize].iter().filter(|new| new.is_none()).count();
            *floor -= gone as u8;
        }
    }
}

impl Observer for Refinement {
    fn new(subject: &dyn Subject) -> Self {
        let n = subject.n();
        // Initially, all timestamps have the same number and are ordered by process.
        let after = (0..n).map(|p| (1u128 << n) - (2u128 << p)).collect();
        Refinement { marks: Marks::new(n), floor: vec![0; n * n], after }
    }

    fn observe(
        &mut self,
        subject: &dyn Subject,
        p: usize,
        happened: &Happened,
        state: &mut State,
    ) -> Option<Violation> {
        let n = self.n();
        if happened.began.is_some() {
            for q in 0..n {
                self.floor[p * n + q] = self.marks.latest(q);
            }
        }
        if let Some(seen) = happened.scanned.as_ref().or(happened.decided.as_ref()) {
            let violation = self.saw(p, seen);
            if violation.is_some() {
                return violation;
            }
            self.floor[p * n..][..n].fill(0);
        }
        if let Some(seen) = &happened.decided {
            if happened.ended == Some(Procedure::Label) {
                // The process keeps its timestamp.
                if (0..n).any(|q| q != p && !seen.orders(q, p)) {
                    return Some(Violation::Kept);
                }
            } else {
                self.choose(p, seen);
            }
        }
        let old = self.marks.clone();
        if let Some(renumbered) = self.marks.settle(subject, state) {
            self.forget(&old, &renumbered.new);
        }
        None
    }
}
