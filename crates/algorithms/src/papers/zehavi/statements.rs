//! Lemma 3: suppose that p reads both cells of discover\[q\]\[p\] as set, at line 11(a)ii or 11(b). Then q has executed
//! line 4e for p after p has executed line 5, and the second cell stays set until p enters its exit section.
//!
//! The [history](Observed::history) has two bits for each process p and each other process q: whether q has executed
//! line 4e for p since p has last executed line 5, and whether p has read both cells of discover\[q\]\[p\] as set in
//! this passage.

use super::{At, Line::*, Zehavi};
use crate::{
    framework::{
        machine::Loc,
        memory::Pid,
        statement::{Observed, RunStatement, Transition},
    },
    papers::timestamps::Timestamps,
};

/// The statements about runs.
pub(super) const ALL: &[RunStatement] = &[RunStatement::always("Lemma-3")];

/// The maximum number of processes for which the lab evaluates Lemma 3. The history of n processes needs 2 n^2 bits,
/// and a history has at most 30 bits.
const MAX_PROCESSES: usize = 3;

impl<T: Timestamps> Zehavi<T> {
    /// Evaluates Lemma 3 on a step.
    pub(super) fn discovery_is_recent(
        &self,
        history: u32,
        step: &Transition<'_, At<T>>,
    ) -> Observed {
        if self.n > MAX_PROCESSES {
            return Observed::default();
        }
        let bit = |p: Pid, q: Pid| 1 << (2 * (p * self.n + q));
        let checked = |p, q| bit(p, q);
        let found_both = |p, q| bit(p, q) << 1;
        let mut seen = Observed { history, ..Observed::default() };
        let mover = step.mover.map(|p| (p, step.before.processes[p]));
        match mover {
            Some((p, Loc::Entry(L5))) => {
                for q in 0..self.n {
                    seen.history &= !checked(p, q);
                }
            }
            Some((q, Loc::Entry(L4e { i }))) => seen.history |= checked(i, q),
            Some((p, Loc::Entry(L11aii { i: q, part: 1, .. } | L11b { i: q, cell: 1, .. })))
                if step.before.value(self.discovered(1, q, p)) != 0 =>
            {
                seen.applies = true;
                seen.found = history & checked(p, q) == 0;
                seen.history |= found_both(p, q);
            }
            _ => {}
        }
        for (p, loc) in step.after.processes.iter().enumerate() {
            for q in (0..self.n).filter(|&q| q != p) {
                if matches!(loc, Loc::Exit(_) | Loc::Remainder) {
                    seen.history &= !found_both(p, q);
                }
                let was_found = seen.history & found_both(p, q) != 0;
                seen.found |= was_found && step.after.value(self.discovered(1, q, p)) == 0;
            }
        }
        seen
    }
}
