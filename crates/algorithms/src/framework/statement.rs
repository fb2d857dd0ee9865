//! Statements of a paper about runs: about every step, about a step that some run reaches, about what eventually
//! happens, and about enabled processes. An invariant, in contrast, is about single states.
//!
//! A statement has the name that the paper gives it. Its predicate is written beside the algorithm, in
//! [`Algorithm::observe`] or [`Algorithm::condition`]. The lab explores all runs, and decides whether the statement
//! holds.
//!
//! [`Algorithm::observe`]: super::machine::Algorithm::observe
//! [`Algorithm::condition`]: super::machine::Algorithm::condition

use super::{machine::View, memory::Pid};

/// A statement about runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunStatement {
    /// The name that the paper gives to the statement, such as `U1`.
    pub name: &'static str,
    /// What the statement asserts about steps or runs.
    pub kind: StatementKind,
}

impl RunStatement {
    /// Creates a statement of kind `Always`: it holds if no step contradicts it.
    pub const fn always(name: &'static str) -> Self {
        RunStatement { name, kind: StatementKind::Always }
    }

    /// Creates a statement of kind `Sometimes`: it holds if some run shows it.
    pub const fn sometimes(name: &'static str) -> Self {
        RunStatement { name, kind: StatementKind::Sometimes }
    }

    /// Creates a statement of kind `LeadsTo`: one condition leads to another.
    pub const fn leads_to(name: &'static str) -> Self {
        RunStatement { name, kind: StatementKind::LeadsTo }
    }

    /// Creates a statement of kind `Enabled`: a condition holds if and only if a process is enabled.
    pub const fn enabled(name: &'static str) -> Self {
        RunStatement { name, kind: StatementKind::Enabled }
    }
}

/// The form of a statement, which decides how the lab checks it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StatementKind {
    /// No step of any run contradicts the statement. Examples: "B unless C", "B is stable".
    Always,
    /// Some run reaches a step that shows the statement.
    Sometimes,
    /// If [`Side::If`] holds for a process in some state, [`Side::Then`] holds for that process in the same
    /// state or in a later one. The statement is about runs in which this process does not stop, and in
    /// which at most [`Algorithm::survives`] processes stop.
    ///
    /// [`Algorithm::survives`]: super::machine::Algorithm::survives
    LeadsTo,
    /// In every state in which [`Side::If`] holds for a process, [`Side::Then`] holds if and only if the
    /// process is enabled: it enters its critical section in every run in which it keeps taking steps.
    Enabled,
}

/// A step of a run.
pub struct Transition<'a, S> {
    /// The process that takes the step. `None` if a mishap changes the state, and for the initial state of a run.
    pub mover: Option<Pid>,
    /// The state before the step. For an initial state, this is the state itself.
    pub before: View<'a, S>,
    /// The state after the step.
    pub after: View<'a, S>,
}

/// The result of evaluating a statement on one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Observed {
    /// The part of the past that the statement needs later. It has at most 30 bits, and is 0 before the
    /// initial state.
    pub history: u32,
    /// Whether the statement says something about this step. A statement that applies to no step is vacuous.
    pub applies: bool,
    /// Whether the step contradicts a statement of kind `Always`, or shows one of kind `Sometimes`.
    pub found: bool,
}

impl Observed {
    /// Returns the observation of a statement "`before` implies `after`" that needs no history.
    pub fn implication(before: bool, after: bool) -> Self {
        Observed { history: 0, applies: before, found: before && !after }
    }

    /// Combines the observations of two instances of a statement that needs no history.
    pub fn any(self, other: Observed) -> Self {
        Observed {
            history: 0,
            applies: self.applies || other.applies,
            found: self.found || other.found,
        }
    }
}

/// A part of a statement about a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The condition.
    If,
    /// The consequence.
    Then,
}
