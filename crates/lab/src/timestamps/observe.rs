//! Who watches a run, and what can be wrong with one.

use std::hash::Hash;

use super::subject::{Happened, State, Subject};

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// What a Scan returned is not an order.
    NoOrder,
    /// A procedure saw a timestamp that was replaced before it began.
    Stale,
    /// A Scan's order contradicts earlier ones, or that a Label's timestamp is later than what it
    /// saw.
    Contradiction,
    /// A Label left its timestamp although it saw a later one.
    Kept,
    /// Property (1) of Afek et al.
    P1,
    /// Property (2).
    P2,
    /// Property (3).
    P3,
    /// Property (4).
    P4,
    /// Property (5).
    P5,
    /// Zehavi: two Scans, while two processes were outside Label, disagree on their order.
    Consistent,
    /// Zehavi: a later Scan does not keep what an earlier one said of a process outside Label.
    Lasting,
    /// A scan of the weak snapshot saw a timestamp that was neither there nor being written at T.
    NotAtT,
    /// A snapshot is of no single instant.
    NoInstant,
    /// A step left a register's declared range.
    Range,
}

impl Fault {
    /// All of them.
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

    /// Its name on the command line and in JSON: what is violated.
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

    /// What holds if there is no such fault.
    pub fn promise(self) -> &'static str {
        match self {
            Fault::NoOrder => "every Scan returns an order of the processes",
            Fault::Stale => "a timestamp that is seen was there at some time of the procedure",
            Fault::Contradiction => {
                "all orders returned, and each Label's after what it saw, fit one order"
            }
            Fault::Kept => "a Label that writes nothing has seen that its timestamp is the latest",
            Fault::P1 => "who begins a Label after the end of another's is ordered after it",
            Fault::P2 => {
                "who is once ordered before another in its Scans stays so until its next Label"
            }
            Fault::P3 => "Label i, Label j, Scan j with j before k, then Scan i: i before k",
            Fault::P4 => {
                "of those that have labelled and scanned, one of the last to label saw itself last; Zehavi's Property 2"
            }
            Fault::P5 => "of those that scanned after all their Labels, one saw itself first",
            Fault::Consistent => {
                "Zehavi: Scans agree on processes that are outside Label all along"
            }
            Fault::Lasting => "Zehavi: i after p, p outside Label, is so in all later Scans",
            Fault::NotAtT => {
                "a timestamp seen was there at the write of TOG, or being written then"
            }
            Fault::NoInstant => "all timestamps seen were there at one time",
            Fault::Range => "registers keep to what is declared",
        }
    }

    pub(super) fn bit(self) -> u32 {
        Self::ALL.iter().position(|&fault| fault == self).expect("all are listed") as u32
    }
}

/// Watches a run; part of the state, so it must be finite where an exploration is to end.
pub trait Observer: Clone + Eq + Hash + Send + Sync + 'static {
    /// Before the first step.
    fn new(subject: &dyn Subject) -> Self;

    /// After a step of `p`. May bring the state into a normal form.
    fn observe(
        &mut self,
        subject: &dyn Subject,
        p: usize,
        happened: &Happened,
        state: &mut State,
    ) -> Option<Fault>;
}

/// Two at once.
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
