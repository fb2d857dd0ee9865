//! The lines, independent of the store: what each asks for, and where the answer leads.

use crate::framework::machine::Next::{self, Enter, Goto, Leave, Spin};

/// A request to the store, as one transaction. `T` identifies a claim in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ask<T> {
    /// Takes this slot if nobody waits, it is free, and all smaller ones are taken. Otherwise joins the queue, if
    /// `wait`. Does nothing if the claim exists already.
    Claim {
        /// The slot.
        slot: usize,
        /// Whether to join the queue if the slot cannot be taken.
        wait: bool,
    },
    /// Reads the hall.
    Look,
    /// Reads the hall as soon as it may have changed.
    Watch,
    /// Gives the slot to a claim in the queue, if the slot is unchanged and the claim still waits.
    Give {
        /// The slot.
        slot: usize,
        /// The state that the slot had.
        was: Was,
        /// The claim.
        to: T,
    },
    /// Frees my slot and removes my claim, if nobody waits or `anyway`.
    Free {
        /// The slot.
        slot: usize,
        /// Frees the slot even if others wait, and wakes all of them as if the door had changed.
        anyway: bool,
    },
    /// Removes my claim from the queue.
    Withdraw,
}

/// The state of a slot that is to be given to a claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Was {
    /// Assigned to no claim.
    Free,
    /// Mine. My claim is removed with it.
    Mine,
    /// Assigned to a claim that has been gone for so long that its owner is no longer inside.
    Stale,
}

/// Where a claim is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ClaimState {
    /// Nowhere: not made, withdrawn, or lost.
    Outside,
    /// In the queue.
    Waiting,
    /// Inside, with this slot.
    Inside(usize),
}

/// The hall, reduced to what a line needs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Picture<T> {
    /// Whether the hall is open.
    pub open: bool,
    /// Where my claim is.
    pub me: ClaimState,
    /// The head of the queue.
    pub first: Option<T>,
    /// The smallest free slot.
    pub free: Option<usize>,
    /// The smallest slot whose claim has been gone for long enough.
    pub stale: Option<usize>,
    /// Whether no claim can have my slot after me, because the hall was made smaller or closed.
    pub beyond: bool,
}

/// The line that the owner of a claim is at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line<T> {
    E1 { slot: usize },
    E2,
    E3 { slot: usize, was: Was, to: T },
    E4,
    T1 { slot: usize },
    X1 { slot: usize },
    X2 { slot: usize, to: T },
    X3 { slot: usize, anyway: bool },
}
use Line::*;

impl<T> Line<T> {
    /// Returns what this line asks for.
    pub fn ask(self) -> Ask<T> {
        match self {
            E1 { slot } => Ask::Claim { slot, wait: true },
            T1 { slot } => Ask::Claim { slot, wait: false },
            E2 => Ask::Watch,
            E3 { slot, was, to } => Ask::Give { slot, was, to },
            E4 => Ask::Withdraw,
            X1 { .. } => Ask::Look,
            X2 { slot, to } => Ask::Give { slot, was: Was::Mine, to },
            X3 { slot, anyway } => Ask::Free { slot, anyway },
        }
    }

    /// Returns where the answer leads.
    pub fn answer(self, now: Picture<T>) -> Next<Line<T>> {
        match self {
            E1 { .. } | E3 { .. } => wait(now, Goto(E2)),
            E2 => wait(now, Spin(E2)),
            T1 { .. } => attempt(now),
            E4 | X1 { .. } | X3 { .. } => leave(now),
            X2 { .. } => leave_anyway(now),
        }
    }

    /// Returns the line's name.
    pub fn name(&self) -> &'static str {
        match self {
            E1 { .. } => "E1",
            E2 => "E2",
            E3 { .. } => "E3",
            E4 => "E4",
            T1 { .. } => "T1",
            X1 { .. } => "X1",
            X2 { .. } => "X2",
            X3 { .. } => "X3",
        }
    }
}

/// The way in; `otherwise` if there is nothing to do.
fn wait<T>(now: Picture<T>, otherwise: Next<Line<T>>) -> Next<Line<T>> {
    match now {
        Picture { me: ClaimState::Inside(slot), .. } => Enter(X1 { slot }),
        Picture { me: ClaimState::Outside, open: false, .. } => Leave,
        // The claim was lost with its lease.
        Picture { me: ClaimState::Outside, free, .. } => Goto(E1 { slot: free.unwrap_or(0) }),
        Picture { me: ClaimState::Waiting, open: false, .. } => Goto(E4),
        Picture { first: Some(to), free: Some(slot), .. } => Goto(E3 { slot, was: Was::Free, to }),
        Picture { first: Some(to), stale: Some(slot), .. } => {
            Goto(E3 { slot, was: Was::Stale, to })
        }
        Picture { me: ClaimState::Waiting, .. } => otherwise,
    }
}

/// The way in of a process that does not wait.
fn attempt<T>(now: Picture<T>) -> Next<Line<T>> {
    match now {
        Picture { me: ClaimState::Inside(slot), .. } => Enter(X1 { slot }),
        // The process guessed a slot that was not the smallest free one.
        Picture { open: true, first: None, free: Some(slot), .. } => Goto(T1 { slot }),
        _ => Leave,
    }
}

/// The way out.
fn leave<T>(now: Picture<T>) -> Next<Line<T>> {
    match now {
        Picture { me: ClaimState::Inside(slot), first: Some(to), beyond: false, .. } => {
            Goto(X2 { slot, to })
        }
        Picture { me: ClaimState::Inside(slot), beyond, .. } => Goto(X3 { slot, anyway: beyond }),
        Picture { me: ClaimState::Waiting, .. } => Goto(E4),
        Picture { me: ClaimState::Outside, .. } => Leave,
    }
}

/// Returns the next line of a leaving holder that still has its slot, because the claim that was to get the slot
/// no longer waits. The holder frees the slot: trying one head of the queue after the other might never end.
fn leave_anyway<T>(now: Picture<T>) -> Next<Line<T>> {
    match now {
        Picture { me: ClaimState::Inside(slot), .. } => Goto(X3 { slot, anyway: true }),
        now => leave(now),
    }
}
