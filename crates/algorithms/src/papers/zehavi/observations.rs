//! The three observations on which the proofs are based. The [parent module](super) lists them.

use super::{At, Line::*, Zehavi};
use crate::{
    framework::{
        machine::{Algorithm, Loc, View},
        memory::{Pid, Var},
        pids::Pids,
    },
    papers::timestamps::Timestamps,
};

impl<T: Timestamps> Zehavi<T> {
    /// Returns the first observation that does not hold.
    pub(super) fn broken_observation(&self, state: &View<'_, At<T>>) -> Option<&'static str> {
        let holds = |var: Var| state.value(var) != 0;
        for (p, loc) in state.processes.iter().enumerate() {
            let (competes, reveals) = match *loc {
                Loc::Remainder => (Pids::NONE, false),
                Loc::Entry(L1 { i }) => (self.up_to(p, i), false),
                Loc::Exit(L15 { i }) => (self.from(p, i), false),
                Loc::Exit(L13) | Loc::Critical(_) => (self.others(p), true),
                Loc::Exit(_) => (self.others(p), false),
                Loc::Entry(at) => (self.others(p), self.is_revealed(at)),
            };
            let ignored = match *loc {
                Loc::Entry(L2 { i }) => self.up_to(p, i),
                Loc::Entry(L8 { i, .. }) => self.from(p, i),
                Loc::Entry(L1 { .. }) => Pids::NONE,
                Loc::Entry(at) if !self.waits(p, at) => self.others(p),
                _ => Pids::NONE,
            };
            let mut others = self.others(p);
            while let Some(i) = others.first() {
                if holds(self.element(self.compete, p, i)) != competes.contains(i) {
                    return Some("Observation1");
                }
                if holds(self.element(self.ignore, p, i)) != ignored.contains(i) {
                    return Some("Observation2");
                }
                others = others.without(i);
            }
            if holds(self.reveal.at(p)) != reveals {
                return Some("Observation3");
            }
        }
        None
    }

    /// Returns the other processes that a loop at `i` has already handled.
    fn up_to(&self, p: Pid, i: Pid) -> Pids {
        (0..i).filter(|&q| q != p).fold(Pids::NONE, Pids::with)
    }

    /// Returns the other processes that a loop at `i` has not handled yet.
    fn from(&self, p: Pid, i: Pid) -> Pids {
        (i..self.n).filter(|&q| q != p).fold(Pids::NONE, Pids::with)
    }

    fn is_revealed(&self, at: At<T>) -> bool {
        matches!(
            at,
            L6(_)
                | L7 { .. }
                | L8 { .. }
                | L11ai { .. }
                | L11aii { .. }
                | L11b { .. }
                | L11bi { .. }
                | L12 { .. }
        )
    }
}
