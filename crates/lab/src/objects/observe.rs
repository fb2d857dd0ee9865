//! The properties that a run can violate.

/// A property that a run violates.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
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

impl Fault {
    /// All properties.
    pub const ALL: [Fault; 5] =
        [Fault::Linearizable, Fault::Race, Fault::Missing, Fault::Held, Fault::WaitFree];

    /// Returns the name of the violated property in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Linearizable => "linearizable",
            Fault::Race => "race",
            Fault::Missing => "answers",
            Fault::Held => "held",
            Fault::WaitFree => "wait-free",
        }
    }

    /// Returns the property that holds in runs without this fault.
    pub fn promise(self) -> &'static str {
        match self {
            Fault::Linearizable => {
                "each operation takes effect at one moment between its call and its return"
            }
            Fault::Race => "no copy is read while it is written, or written by two processes",
            Fault::Missing => "answers and the object are found where they are expected",
            Fault::Held => "a guarded head is not written until its guard is cleared",
            Fault::WaitFree => {
                "each operation ends within a bounded number of its own steps, wherever others stop"
            }
        }
    }

    pub(super) fn bit(self) -> u32 {
        Self::ALL.iter().position(|&fault| fault == self).expect("all are listed") as u32
    }
}
