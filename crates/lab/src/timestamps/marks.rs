//! Which timestamps are still anywhere, numbered from the oldest.
//!
//! A process's timestamps are told apart by their marks. After each step the marks of those that
//! are still in a register or in somebody's private state are renumbered in the order in which
//! they were written, so that finitely many states remain: a timestamp that is nowhere is never
//! seen again. The latest is always in a register, and has the highest number.

use super::subject::{State, Subject};

/// The timestamps of all processes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Marks {
    /// How many written ones of each process there are.
    pub counts: Vec<u8>,
    /// Who is about to write one.
    pub pending: u16,
}

/// What becomes of marks: for each process, the new number of each; none of those that are gone.
pub struct Renumbered {
    /// By old number; the one about to be written has the number after the latest.
    pub new: Vec<Vec<Option<u8>>>,
    /// Who has just written one.
    pub committed: u16,
}

impl Marks {
    /// Everybody has one timestamp.
    pub fn new(n: usize) -> Self {
        Marks { counts: vec![1; n], pending: 0 }
    }

    /// The number of the latest.
    pub fn latest(&self, p: usize) -> u8 {
        self.counts[p] - 1
    }

    /// Takes note of a state after a step, and renumbers its marks.
    pub fn settle(&mut self, subject: &dyn Subject, state: &mut State) -> Option<Renumbered> {
        let fresh = subject.fresh()?;
        let n = self.counts.len();
        // A bit for each mark that is anywhere; in registers only.
        let (mut anywhere, mut written) = (vec![0u32; n], 0u16);
        subject.renew_memory(&mut state.memory, &mut |q, mark| {
            anywhere[q] |= 1 << mark;
            written |= u16::from(mark == fresh) << q;
            mark
        });
        for (p, &at) in state.places.iter().enumerate() {
            let marks = subject.marks(p, at);
            anywhere.iter_mut().zip(marks).for_each(|(anywhere, marks)| *anywhere |= marks);
        }
        let mut changed = written != 0;
        let mut new = Vec::with_capacity(n);
        for q in 0..n {
            // A fresh one comes after all others.
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
            for (p, at) in state.places.iter_mut().enumerate() {
                *at = subject.renew(p, *at, renew);
            }
        }
        Some(Renumbered { new, committed: written })
    }
}
