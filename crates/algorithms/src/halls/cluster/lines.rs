//! The lines of the protocol, independent of the store. Each line sends a request, and the answer leads to the next
//! line.

use crate::framework::machine::Next::{self, Enter, Goto, Leave, Spin};

/// A request to the store, as one transaction. `T` identifies a claim in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ask<T> {
    /// Takes this slot if no claim waits, the slot is free, and all smaller slots are taken. Otherwise joins the queue
    /// if `wait` is set. Does nothing if the claim exists already, or if the hall is closed. A claim for several slots
    /// takes the smallest ones, if enough are free.
    Claim {
        /// The smallest free slot in the view of the process.
        slot: usize,
        /// Whether to join the queue if the slot cannot be taken.
        wait: bool,
    },
    /// Reads the hall.
    Look,
    /// Reads the hall as soon as it may have changed.
    Watch,
    /// Gives the slot to a claim in the queue, provided that the slot is unchanged and the claim still waits. A
    /// claim for several slots gets all of them together, if enough are free. If the slot is stale and the claim is for
    /// several slots, the request only frees the slot.
    Give {
        /// The slot to give away.
        slot: usize,
        /// The state in which the giver saw the slot.
        was: Was,
        /// The claim that gets the slot.
        to: T,
    },
    /// Frees all slots of this process and removes its claim, if no claim waits or if `anyway` is set.
    Free {
        /// A slot that the process holds.
        slot: usize,
        /// Whether to free the slots even if claims wait. If so, the request also writes the record `door` (see the
        /// [parent module](super)), which wakes all waiters.
        anyway: bool,
    },
    /// Removes the claim of this process from the queue.
    Withdraw,
    /// Frees a slot whose claim has been gone for long enough, if nobody waits.
    Reclaim {
        /// The slot to free.
        slot: usize,
    },
}

/// The state of a slot that will be given to a claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Was {
    /// Assigned to no claim.
    Free,
    /// Assigned to the claim of this process. The claim is removed when the slot is given away.
    Mine,
    /// Assigned to a claim that has been gone for long enough: its owner has stopped using the slot.
    Stale,
}

/// What the store records about a claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ClaimState {
    /// The claim is not in the store: it was not created yet, or was withdrawn or lost.
    Absent,
    /// The claim is in the queue.
    Waiting,
    /// The claim has this slot.
    Holding(usize),
}

/// The part of a hall's state that a line needs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Picture<T> {
    /// Whether the hall is open.
    pub open: bool,
    /// The state of this process's claim.
    pub me: ClaimState,
    /// The head of the queue.
    pub first: Option<T>,
    /// The smallest free slot. `None` if too few slots are free for the head of the queue or, if nobody waits, for
    /// this process.
    pub free: Option<usize>,
    /// The smallest slot whose claim has been gone for long enough.
    pub stale: Option<usize>,
    /// Whether this process's slot cannot be given to another claim, because the hall was made smaller
    /// or closed.
    pub beyond: bool,
    /// Whether this process and the head of the queue take one slot each. Only then can this process give its slot to
    /// the head of the queue.
    pub hands_over: bool,
}

/// The line at which the owner of a claim is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line<T> {
    E1 { slot: usize },
    E2,
    E3 { slot: usize, was: Was, to: T },
    E4,
    T1 { slot: usize },
    T2 { slot: usize },
    X1 { slot: usize },
    X2 { slot: usize, to: T },
    X3 { slot: usize, anyway: bool },
}
use Line::*;

impl<T> Line<T> {
    /// Returns the request that this line sends.
    pub fn ask(self) -> Ask<T> {
        match self {
            E1 { slot } => Ask::Claim { slot, wait: true },
            T1 { slot } => Ask::Claim { slot, wait: false },
            T2 { slot } => Ask::Reclaim { slot },
            E2 => Ask::Watch,
            E3 { slot, was, to } => Ask::Give { slot, was, to },
            E4 => Ask::Withdraw,
            X1 { .. } => Ask::Look,
            X2 { slot, to } => Ask::Give { slot, was: Was::Mine, to },
            X3 { slot, anyway } => Ask::Free { slot, anyway },
        }
    }

    /// Returns the step to which the answer leads.
    pub fn answer(self, now: Picture<T>) -> Next<Line<T>> {
        match self {
            E1 { .. } | E3 { .. } => wait(now, Goto(E2)),
            E2 => wait(now, Spin(E2)),
            T1 { .. } | T2 { .. } => attempt(now),
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
            T2 { .. } => "T2",
            X1 { .. } => "X1",
            X2 { .. } => "X2",
            X3 { .. } => "X3",
        }
    }
}

/// Returns the next step of a process that waits for a slot, or `otherwise` if it has nothing to do.
fn wait<T>(now: Picture<T>, otherwise: Next<Line<T>>) -> Next<Line<T>> {
    match now {
        Picture { me: ClaimState::Holding(slot), .. } => Enter(X1 { slot }),
        Picture { me: ClaimState::Absent, open: false, .. } => Leave,
        // The claim was lost with its lease.
        Picture { me: ClaimState::Absent, free, .. } => Goto(E1 { slot: free.unwrap_or(0) }),
        Picture { me: ClaimState::Waiting, open: false, .. } => Goto(E4),
        Picture { first: Some(to), free: Some(slot), .. } => Goto(E3 { slot, was: Was::Free, to }),
        Picture { first: Some(to), stale: Some(slot), .. } => {
            Goto(E3 { slot, was: Was::Stale, to })
        }
        Picture { me: ClaimState::Waiting, .. } => otherwise,
    }
}

/// Returns the next step of a process that wants a slot but does not wait.
fn attempt<T>(now: Picture<T>) -> Next<Line<T>> {
    match now {
        Picture { me: ClaimState::Holding(slot), .. } => Enter(X1 { slot }),
        // The process asked for a slot that was not the smallest free one.
        Picture { open: true, first: None, free: Some(slot), .. } => Goto(T1 { slot }),
        Picture { open: true, first: None, stale: Some(slot), .. } => Goto(T2 { slot }),
        _ => Leave,
    }
}

/// Returns the next step of a process that leaves.
fn leave<T>(now: Picture<T>) -> Next<Line<T>> {
    match now {
        Picture {
            me: ClaimState::Holding(slot),
            first: Some(to),
            beyond: false,
            hands_over: true,
            ..
        } => Goto(X2 { slot, to }),
        Picture { me: ClaimState::Holding(slot), beyond, first, .. } => {
            Goto(X3 { slot, anyway: beyond || first.is_some() })
        }
        Picture { me: ClaimState::Waiting, .. } => Goto(E4),
        Picture { me: ClaimState::Absent, .. } => Leave,
    }
}

/// Returns the next line of a leaving holder that still has its slot, because the claim that should get
/// the slot no longer waits. The holder frees the slot. If it tried each new head of the queue instead,
/// it might never finish.
fn leave_anyway<T>(now: Picture<T>) -> Next<Line<T>> {
    match now {
        Picture { me: ClaimState::Holding(slot), .. } => Goto(X3 { slot, anyway: true }),
        now => leave(now),
    }
}
