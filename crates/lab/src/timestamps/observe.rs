//! Observers of a run, and the faults that a run can have.

use std::hash::Hash;

use super::subject::{Happened, State, Subject};

/// A fault of a run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A Scan returned a relation that is not an order.
    NoOrder,
    /// A procedure saw a timestamp that was replaced before the procedure began.
    Stale,
    /// The order of a Scan contradicts earlier orders, or the rule that a Label takes a later timestamp
    /// than all timestamps that it saw.
    Contradiction,
    /// A Label kept its timestamp although it saw a later one.
    Kept,
    /// Property (1) of Afek et al. is violated.
    P1,
    /// Property (2) is violated.
    P2,
    /// Property (3) is violated.
    P3,
    /// Property (4) is violated.
    P4,
    /// Property (5) is violated.
    P5,
    /// Zehavi: two Scans disagree on the order of two processes that were outside Label the whole time.
    Consistent,
    /// Zehavi: a later Scan contradicts an earlier one about a process outside Label.
    Lasting,
    /// A scan of the weak snapshot saw a timestamp that was neither current at T nor being written at T.
    NotAtT,
    /// The timestamps of a snapshot were not current at any single instant.
    NoInstant,
    /// A step wrote a value outside the declared range of a register.
    Range,
}

impl Fault {
    /// All faults.
    pub const ALL: [Fault; 14] = [
        Fault::NoOrder,
        Fault::Stale,
        Fault::Contradiction,
        Fault::Kept,
        Fault::P1,
        Fault::P2,
        Fault::P3,
        Fault::P4,
        Fault::P5,
        Fault::Consistent,
        Fault::Lasting,
        Fault::NotAtT,
        Fault::NoInstant,
        Fault::Range,
    ];

    /// Returns the name of the violated property on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Fault::NoOrder => "order",
            Fault::Stale => "regular",
            Fault::Contradiction => "acyclic",
            Fault::Kept => "keep",
            Fault::P1 => "(1)",
            Fault::P2 => "(2)",
            Fault::P3 => "(3)",
            Fault::P4 => "(4)",
            Fault::P5 => "(5)",
            Fault::Consistent => "consistent",
            Fault::Lasting => "lasting",
            Fault::NotAtT => "weak",
            Fault::NoInstant => "atomic",
            Fault::Range => "range",
        }
    }

    /// Returns the property that holds if there is no such fault.
    pub fn promise(self) -> &'static str {
        match self {
            Fault::NoOrder => "every Scan returns an order of the processes",
            Fault::Stale => "every timestamp seen was current at some time during the procedure",
            Fault::Contradiction => {
                "all returned orders, with each Label after what it saw, fit one order"
            }
            Fault::Kept => "a Label that writes nothing has seen that its timestamp is the latest",
            Fault::P1 => {
                "a process that begins its Label after another process has ended its Label is ordered after it"
            }
            Fault::P2 => {
                "if a Scan of i orders i before j, so do all Scans of i until its next Label"
            }
            Fault::P3 => "Label i, Label j, Scan j with j before k, then Scan i: i before k",
            Fault::P4 => {
                "of the processes that have labelled and scanned, one of the last to label saw itself last; Zehavi's Property 2"
            }
            Fault::P5 => {
                "of the processes that scanned after all their Labels, one saw itself first"
            }
            Fault::Consistent => {
                "Zehavi: Scans agree on the order of processes that stay outside Label"
            }
            Fault::Lasting => {
                "Zehavi: if i is after p, and p is outside Label, then all later Scans agree"
            }
            Fault::NotAtT => {
                "every timestamp seen was current, or being written, at the write of TOG"
            }
            Fault::NoInstant => "all timestamps seen were current at one instant",
            Fault::Range => "registers stay within their declared range",
        }
    }

    pub(super) fn bit(self) -> u32 {
        Self::ALL.iter().position(|&fault| fault == self).expect("all are listed") as u32
    }
}

/// Observes a run. The observer is part of the state, so it must have finitely many values for an
/// exploration to end.
pub trait Observer: Clone + Eq + Hash + Send + Sync + 'static {
    /// Returns the observer before the first step.
    fn new(subject: &dyn Subject) -> Self;

    /// Observes a step of `p`. May replace the state with a normal form.
    fn observe(
        &mut self,
        subject: &dyn Subject,
        p: usize,
        happened: &Happened,
        state: &mut State,
    ) -> Option<Fault>;
}

/// Two observers that observe the same run.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn new(subject: &dyn Subject) -> Self {
        (A::new(subject), B::new(subject))
    }

    fn observe(
        &mut self,
        subject: &dyn Subject,
        p: usize,
        happened: &Happened,
        state: &mut State,
    ) -> Option<Fault> {
        let fault = self.0.observe(subject, p, happened, state);
        self.1.observe(subject, p, happened, state).or(fault)
    }
}
