//! The timestamps that still exist, numbered from the oldest.
//!
//! The number of a timestamp is its *mark*. Marks distinguish the timestamps of a process. After each step, the
//! timestamps that are still in a register or in a private state are renumbered in the order in which they were
//! written. A timestamp that is in no register and no private state is never seen again. So finitely many states
//! remain. The latest timestamp is always in a register and has the highest number.

use super::subject::{State, Subject};

/// The timestamps of all processes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Marks {
    /// For each process: the number of its timestamps that are written and still exist.
    pub counts: Vec<u8>,
    /// The processes that are about to write a timestamp.
    pub pending: u16,
}

/// The new numbers of marks.
pub struct Renumbered {
    /// For each process: the new number for each old number, or `None` if the timestamp no longer
    /// exists. The timestamp that is about to be written has the number after the latest one.
    pub new: Vec<Vec<Option<u8>>>,
    /// The processes that have just written a timestamp.
    pub committed: u16,
}

impl Marks {
    /// Returns the initial marks: every process has one timestamp.
    pub fn new(n: usize) -> Self {
        Marks { counts: vec![1; n], pending: 0 }
    }

    /// Returns the number of the latest timestamp of `p`.
    pub fn latest(&self, p: usize) -> u8 {
        self.counts[p] - 1
    }

    /// Updates the marks after a step, and renumbers them in the state. Returns `None` if the
    /// timestamps have no marks.
    pub fn settle(&mut self, subject: &dyn Subject, state: &mut State) -> Option<Renumbered> {
        let fresh = subject.fresh()?;
        let n = self.counts.len();
        // One bit for each mark that exists, and the processes with a fresh mark (that of a new
        // timestamp) in a register.
        let (mut anywhere, mut written) = (vec![0u32; n], 0u16);
        subject.renew_memory(&mut state.memory, &mut |q, mark| {
            anywhere[q] |= 1 << mark;
            written |= u16::from(mark == fresh) << q;
            mark
        });
        for (p, &at) in state.positions.iter().enumerate() {
            let marks = subject.marks(p, at);
            anywhere.iter_mut().zip(marks).for_each(|(anywhere, marks)| *anywhere |= marks);
        }
        let mut changed = written != 0;
        let mut new = Vec::with_capacity(n);
        for q in 0..n {
            // A fresh mark comes after all other marks.
            let marks = (0..self.counts[q] as u64).chain([fresh]);
            let mut next = 0;
            let renumbered: Vec<Option<u8>> = marks
                .map(|mark| {
                    (anywhere[q] >> mark & 1 != 0).then(|| {
                        next += 1;
                        next - 1
                    })
                })
                .collect();
            let has_fresh = renumbered[self.counts[q] as usize].is_some();
            let is_pending = has_fresh && written >> q & 1 == 0;
            self.pending = self.pending & !(1 << q) | u16::from(is_pending) << q;
            let count = next - u8::from(is_pending);
            changed |= count != self.counts[q];
            self.counts[q] = count;
            new.push(renumbered);
        }
        if changed {
            let old: Vec<usize> = new.iter().map(|marks| marks.len() - 1).collect();
            let renew = &mut |q: usize, mark: u64| {
                if mark == fresh {
                    return if written >> q & 1 == 0 {
                        fresh
                    } else {
                        new[q][old[q]].unwrap_or(0).into()
                    };
                }
                new[q][mark as usize].unwrap_or(0).into()
            };
            subject.renew_memory(&mut state.memory, renew);
            for (p, at) in state.positions.iter_mut().enumerate() {
                *at = subject.renew(p, *at, renew);
            }
        }
        Some(Renumbered { new, committed: written })
    }
}
