//! The violations that a run can show.

/// A violation: the property that a run breaks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Violation {
    /// No order of the operations explains an answer.
    Linearizable,
    /// A process writes a copy or buffer that another process reads or writes at the same time, or reads
    /// one that another process writes.
    Race,
    /// A process does not find its answer, or the value of the object is lost.
    Missing,
    /// A process writes a copy that another process has guarded and found to be the head.
    Held,
    /// There is no bound on the steps of an operation.
    WaitFree,
}

impl Violation {
    /// All violations, in the order of reports.
    pub const ALL: [Violation; 5] = [
        Violation::Linearizable,
        Violation::Race,
        Violation::Missing,
        Violation::Held,
        Violation::WaitFree,
    ];

    /// Returns the name of the violated property in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Violation::Linearizable => "linearizable",
            Violation::Race => "race",
            Violation::Missing => "answers",
            Violation::Held => "held",
            Violation::WaitFree => "wait-free",
        }
    }

    /// Returns the property that holds in runs without this violation.
    pub fn promise(self) -> &'static str {
        match self {
            Violation::Linearizable => {
                "each operation takes effect at one moment between its call and its return"
            }
            Violation::Race => "no copy is read while it is written, or written by two processes",
            Violation::Missing => "answers and the object are found where they are expected",
            Violation::Held => "a guarded head is not written until its guard is cleared",
            Violation::WaitFree => {
                "each operation ends within a bounded number of its own steps, wherever others stop"
            }
        }
    }

    pub(super) fn bit(self) -> u32 {
        Self::ALL.iter().position(|&violation| violation == self).expect("all are listed") as u32
    }
}
