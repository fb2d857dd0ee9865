//! Lemma 4.2: if a process makes two successive rounds of the waiting loop, its later set Test is a subset of
//! its earlier set.
//!
//! The [history](Observed::history) has, for each process in its waiting room, the set Test of its last
//! round: a bit that says whether there was a round, and a bit for each process.

use super::{Afek, At, Line::L7};
use crate::{
    framework::{
        machine::Loc,
        memory::{Memory, Op, Pid, Var, Word},
        pids::Pids,
        statement::{Observed, RunStatement, Transition},
    },
    papers::timestamps::{Collect, Timestamps, Turn},
};

/// The statements about runs.
pub(super) const ALL: &[RunStatement] = &[RunStatement::always("4.2")];

/// The maximum number of processes for which the lab evaluates Lemma 4.2. The history of n processes needs n (n + 1)
/// bits: 20 bits for four processes. (A history has at most 30 bits. Five processes would need all of them, and the lab
/// explores no model of that size.)
const MAX_PROCESSES: usize = 4;

/// Memory that can only be read.
struct Frozen<'a>(&'a [Word]);

impl Memory for Frozen<'_> {
    fn access(&mut self, var: Var, _: Op) -> Word {
        self.0[var.index()]
    }
}

impl<T: Timestamps> Afek<T> {
    /// Evaluates Lemma 4.2 on a step.
    pub(super) fn test_never_grows(&self, history: u32, step: &Transition<'_, At<T>>) -> Observed {
        let unchanged = Observed { history, ..Observed::default() };
        let Some(p) = step.mover.filter(|_| self.n <= MAX_PROCESSES) else { return unchanged };
        let width = self.n as u32 + 1;
        let (shift, mask) = (p as u32 * width, (1 << width) - 1);
        let old = history >> shift & mask;
        let forgotten = history & !(mask << shift);
        if !matches!(step.after.processes[p], Loc::Entry(_)) {
            return Observed { history: forgotten, ..Observed::default() };
        }
        let Some(test) = self.test_after(step, p) else { return unchanged };
        let new = 1 | (0..self.n).filter(|&j| test.contains(j)).fold(0, |bits, j| bits | 2 << j);
        let had_round = old & 1 == 1;
        Observed {
            history: forgotten | new << shift,
            applies: had_round,
            found: had_round && new & !old != 0,
        }
    }

    /// Returns the set Test that `p` computes at line 8, if its step ends line 7.
    fn test_after(&self, step: &Transition<'_, At<T>>, p: Pid) -> Option<Pids> {
        let Loc::Entry(L7 { y, scan, .. }) = step.before.processes[p] else { return None };
        match self.stamps.scan(&mut Frozen(step.before.memory), p, scan) {
            Turn::Goto(_) => None,
            Turn::Done(seen) => Some(y.and(seen.before::<T>(p))),
        }
    }
}
