//! Checks the guarantees of the snapshots that the procedures Label and Scan take of all labels (timestamps). In these
//! checks, every Label writes, so that writers never stop writing.

use super::{
    marks::Marks,
    observe::{Observer, Violation},
    subject::{Happened, Procedure, State, Subject},
};

/// The weak snapshot: every timestamp seen was the latest at T, or was being written at T. T is the
/// moment at which the scanner writes its register TOG ([`Violation::NotAtT`]).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct WeakSnapshot {
    marks: Marks,
    /// For each scanner and each writer: the oldest timestamp that the scanner is allowed to see, and the first later
    /// one that it is not allowed to see. Some of the allowed timestamps may still be unwritten.
    allowed: Vec<(u8, u8)>,
}

impl Observer for WeakSnapshot {
    fn new(subject: &dyn Subject) -> Self {
        let n = subject.n();
        WeakSnapshot { marks: Marks::new(n), allowed: vec![(0, 0); n * n] }
    }

    fn observe(
        &mut self,
        subject: &dyn Subject,
        p: usize,
        happened: &Happened,
        state: &mut State,
    ) -> Option<Violation> {
        let n = subject.n();
        if happened.line == "toggle" {
            for q in 0..n {
                let latest = self.marks.latest(q);
                let writing = (self.marks.pending >> q & 1) as u8;
                self.allowed[p * n + q] = (latest, latest + 1 + writing);
            }
        }
        if let Some(seen) = happened.scanned.as_ref().or(happened.decided.as_ref()) {
            let allowed = &mut self.allowed[p * n..][..n];
            let within = |(mark, &(oldest, end)): (&u8, &(u8, u8))| (oldest..end).contains(mark);
            if !seen.marks.iter().zip(&*allowed).all(within) {
                return Some(Violation::NotAtT);
            }
            allowed.fill((0, 0));
        }
        if let Some(renumbered) = self.marks.settle(subject, state) {
            for (index, (oldest, end)) in self.allowed.iter_mut().enumerate() {
                let new = &renumbered.new[index % n];
                let left = |below: u8| new.iter().take(below as usize).flatten().count() as u8;
                (*oldest, *end) = (left(*oldest), left(*end));
            }
        }
        None
    }
}

/// The atomic snapshot: all timestamps seen were the latest at one moment of the scan.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AtomicSnapshot {
    marks: Marks,
    /// For each scanner: the latest timestamps of all processes at each moment of its scan.
    instants: Vec<Vec<Vec<u8>>>,
}

impl AtomicSnapshot {
    fn now(&self) -> Vec<u8> {
        (0..self.marks.counts.len()).map(|q| self.marks.latest(q)).collect()
    }
}

impl Observer for AtomicSnapshot {
    fn new(subject: &dyn Subject) -> Self {
        let n = subject.n();
        AtomicSnapshot { marks: Marks::new(n), instants: vec![vec![]; n] }
    }

    fn observe(
        &mut self,
        subject: &dyn Subject,
        p: usize,
        happened: &Happened,
        state: &mut State,
    ) -> Option<Violation> {
        // The views of writers are not checked, because a wrong view shows when a scanner borrows it.
        if happened.began == Some(Procedure::Scan) {
            self.instants[p] = vec![self.now()];
        }
        if let Some(seen) = &happened.scanned {
            if !self.instants[p].contains(&seen.marks) {
                return Some(Violation::NoInstant);
            }
            self.instants[p].clear();
        }
        if let Some(renumbered) = self.marks.settle(subject, state) {
            let new = &renumbered.new;
            let now = self.now();
            for instants in self.instants.iter_mut().filter(|instants| !instants.is_empty()) {
                // If one of the timestamps of an instant no longer exists, no scan can return that
                // instant.
                instants.retain_mut(|instant| {
                    let mut all = true;
                    for (q, number) in instant.iter_mut().enumerate() {
                        match new[q][*number as usize] {
                            Some(new) => *number = new,
                            None => all = false,
                        }
                    }
                    all
                });
                if renumbered.committed != 0 {
                    instants.push(now.clone());
                }
                instants.sort_unstable();
                instants.dedup();
            }
        }
        None
    }
}
