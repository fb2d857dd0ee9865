//! The lines, for whoever can ask a store: each says what it asks for, and where the answer leads.

use crate::framework::machine::Next::{self, Enter, Goto, Leave, Spin};

/// What the store is asked for, as one transaction. `T` is what one knows a waiting claim by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ask<T> {
    /// This slot, if nobody waits, it is free, and all smaller ones are taken. Otherwise a place in the
    /// queue, if `wait`. Nothing, if the claim is there already.
    Claim {
        /// The slot.
        slot: usize,
        /// Whether to stay if there is none.
        wait: bool,
    },
    /// Nothing but the picture.
    Look,
    /// The picture, as soon as there may be a new one.
    Watch,
    /// That the slot, if it still is what it was, be given to a claim that waits, if it still does.
    Give {
        /// The slot.
        slot: usize,
        /// What it was.
        was: Was,
        /// The claim.
        to: T,
    },
    /// That my slot be free, and my claim gone; if nobody waits, or `anyway`.
    Free {
        /// The slot.
        slot: usize,
        /// Whoever waits; and all who do are to look, as if the door had changed.
        anyway: bool,
    },
    /// That my claim be struck off the queue.
    Withdraw,
}

/// What a slot was that is to be given to somebody.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Was {
    /// Nobody's.
    Free,
    /// Mine; my claim goes with it.
    Mine,
    /// Of a claim that is gone, and so long that its owner is no longer in.
    Stale,
}

/// Where a claim is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ClaimState {
    /// Nowhere: not made, given up, or lost.
    Outside,
    /// In the queue.
    Waiting,
    /// Inside, with this slot.
    Inside(usize),
}

/// How things are, as far as a line cares.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Picture<T> {
    /// Whether anybody is let in.
    pub open: bool,
    /// Where my claim is.
    pub me: ClaimState,
    /// The oldest claim that waits.
    pub first: Option<T>,
    /// The smallest slot that is free.
    pub free: Option<usize>,
    /// The smallest slot whose claim has been gone for long enough.
    pub stale: Option<usize>,
    /// My slot is nobody's after me, for the hall was made smaller, or closed.
    pub beyond: bool,
}

/// Where a claim's owner stands.
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
    /// What this line asks for.
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

    /// Where the answer leads.
    pub fn answer(self, now: Picture<T>) -> Next<Line<T>> {
        match self {
            E1 { .. } | E3 { .. } => wait(now, Goto(E2)),
            E2 => wait(now, Spin(E2)),
            T1 { .. } => attempt(now),
            E4 | X1 { .. } | X3 { .. } => leave(now),
            X2 { .. } => leave_anyway(now),
        }
    }

    /// The line's name.
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

/// The way in; `otherwise` where there is nothing to do.
fn wait<T>(now: Picture<T>, otherwise: Next<Line<T>>) -> Next<Line<T>> {
    match now {
        Picture { me: ClaimState::Inside(slot), .. } => Enter(X1 { slot }),
        Picture { me: ClaimState::Outside, open: false, .. } => Leave,
        // The claim was lost, with its lease.
        Picture { me: ClaimState::Outside, free, .. } => Goto(E1 { slot: free.unwrap_or(0) }),
        Picture { me: ClaimState::Waiting, open: false, .. } => Goto(E4),
        Picture { first: Some(to), free: Some(slot), .. } => Goto(E3 { slot, was: Was::Free, to }),
        Picture { first: Some(to), stale: Some(slot), .. } => {
            Goto(E3 { slot, was: Was::Stale, to })
        }
        Picture { me: ClaimState::Waiting, .. } => otherwise,
    }
}

/// The way in of one that does not wait.
fn attempt<T>(now: Picture<T>) -> Next<Line<T>> {
    match now {
        Picture { me: ClaimState::Inside(slot), .. } => Enter(X1 { slot }),
        // It had guessed wrong.
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

/// The way out of one that has still got its slot, since it wanted to give it to one that waits no longer.
/// Were it to try the next in line, and so on, it might do so for ever.
fn leave_anyway<T>(now: Picture<T>) -> Next<Line<T>> {
    match now {
        Picture { me: ClaimState::Inside(slot), .. } => Goto(X3 { slot, anyway: true }),
        now => leave(now),
    }
}
