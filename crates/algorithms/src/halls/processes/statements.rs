//! Statements about whole runs, which `hallpass-lab ask` decides.

use super::model::{ProcessesModel, State};
use crate::framework::{
    machine::{Loc, View},
    memory::Pid,
    statement::{Observed, Transition},
};

/// A process that arrives at a closed hall never enters.
pub(super) const CLOSED_ADMITS_NOBODY: &str = "closed-admits-nobody";

fn is_in(view: &View<'_, State>, p: Pid) -> bool {
    matches!(view.processes[p], Loc::Critical(_))
}

/// Evaluates CSR, critical-section re-entry: a process that was killed in its critical section keeps its slot until it
/// enters again. The hall does not promise this: a rescue, which makes the card of a dead process vacant, frees the
/// slot. The history has a bit for each process that was killed in its critical section and has not entered again.
pub(super) fn observe_deaths(
    model: &ProcessesModel,
    history: u32,
    step: &Transition<'_, State>,
) -> Observed {
    let (mut kept, mut inside) = (history, 0);
    for p in 0..model.n {
        if is_in(&step.after, p) {
            kept &= !(1 << p);
            inside += 1;
        } else if is_in(&step.before, p) && step.mover != Some(p) {
            kept |= 1 << p;
        }
    }
    let found = inside + kept.count_ones() as usize > model.k;
    Observed { history: kept, applies: kept != 0, found }
}

/// Evaluates [`CLOSED_ADMITS_NOBODY`]. The history has a bit for each process whose passage began after the hall was
/// closed.
pub(super) fn observe_closed(
    model: &ProcessesModel,
    history: u32,
    step: &Transition<'_, State>,
) -> Observed {
    let is_closed = model.size.is_some_and(|size| step.before.value(size) == 0);
    let (mut late, mut found) = (history, false);
    for p in 0..model.n {
        match (step.before.processes[p], step.after.processes[p]) {
            (_, Loc::Remainder) => late &= !(1 << p),
            (Loc::Remainder, _) if is_closed => late |= 1 << p,
            _ => {}
        }
        found |= late >> p & 1 == 1 && is_in(&step.after, p);
    }
    Observed { history: late, applies: late != 0, found }
}
