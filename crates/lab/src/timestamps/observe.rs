//! Observers of a run, and the violations that a run can show.

use std::hash::Hash;

use super::subject::{Happened, State, Subject};

/// A violation: what a run does that the paper rules out. The same value also stands for the violated
/// property.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Violation {
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
    /// Property (2) of Afek et al. is violated.
    P2,
    /// Property (3) of Afek et al. is violated.
    P3,
    /// Property (4) of Afek et al. is violated.
    P4,
    /// Property (5) of Afek et al. is violated.
    P5,
    /// Zehavi: two Scans disagree on the order of two processes that were outside Label the whole time.
    Consistent,
    /// Zehavi: a later Scan contradicts an earlier one about a process outside Label.
    Lasting,
    /// A scan of the weak snapshot saw a timestamp that was neither current at T nor being written at T.
    /// T is the moment at which the scan writes TOG, the register of the scanner with a colour for each process (see
    /// [`linear`](hallpass_algorithms::papers::timestamps::linear)).
    NotAtT,
    /// The timestamps of a snapshot were not current at any single instant.
    NoInstant,
    /// A step wrote a value outside the declared range of a register.
    Range,
}

impl Violation {
    /// All violations, in the order of reports.
    pub const ALL: [Violation; 14] = [
        Violation::NoOrder,
        Violation::Stale,
        Violation::Contradiction,
        Violation::Kept,
        Violation::P1,
        Violation::P2,
        Violation::P3,
        Violation::P4,
        Violation::P5,
        Violation::Consistent,
        Violation::Lasting,
        Violation::NotAtT,
        Violation::NoInstant,
        Violation::Range,
    ];

    /// Returns the name of the violated property on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Violation::NoOrder => "order",
            Violation::Stale => "regular",
            Violation::Contradiction => "acyclic",
            Violation::Kept => "keep",
            Violation::P1 => "(1)",
            Violation::P2 => "(2)",
            Violation::P3 => "(3)",
            Violation::P4 => "(4)",
            Violation::P5 => "(5)",
            Violation::Consistent => "consistent",
            Violation::Lasting => "lasting",
            Violation::NotAtT => "weak",
            Violation::NoInstant => "atomic",
            Violation::Range => "range",
        }
    }

    /// Returns the property that holds if there is no such violation.
    pub fn promise(self) -> &'static str {
        match self {
            Violation::NoOrder => "every Scan returns an order of the processes",
            Violation::Stale => {
                "every timestamp seen was current at some time during the procedure"
            }
            Violation::Contradiction => {
                "all returned orders fit one order, in which a new timestamp comes after all that its Label saw"
            }
            Violation::Kept => {
                "a Label that writes nothing has seen that its timestamp is the latest"
            }
            Violation::P1 => {
                "a process that begins its Label after another process has ended its Label is ordered after \
                 that process"
            }
            Violation::P2 => {
                "if a Scan of i orders i before j, so do all Scans of i until its next Label"
            }
            Violation::P3 => {
                "if j labels after i and then sees itself before k, later Scans of i put i before k"
            }
            Violation::P4 => {
                "in a set of processes that have labelled and then scanned, one saw itself last, and none began its Label after \
                 that process had ended its Label; Zehavi's Property 2"
            }
            Violation::P5 => {
                "of several processes that scanned after all of them had labelled, one saw itself first"
            }
            Violation::Consistent => {
                "Zehavi: Scans agree on the order of processes that stay outside Label"
            }
            Violation::Lasting => {
                "Zehavi: if i is after p, and p is outside Label, then all later Scans agree"
            }
            Violation::NotAtT => {
                "every timestamp seen was current, or being written, at the write of TOG"
            }
            Violation::NoInstant => "all timestamps seen were current at one instant",
            Violation::Range => "registers stay within their declared range",
        }
    }

    pub(super) fn bit(self) -> u32 {
        Self::ALL.iter().position(|&violation| violation == self).expect("all are listed") as u32
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
    ) -> Option<Violation>;
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
    ) -> Option<Violation> {
        let violation = self.0.observe(subject, p, happened, state);
        self.1.observe(subject, p, happened, state).or(violation)
    }
}
