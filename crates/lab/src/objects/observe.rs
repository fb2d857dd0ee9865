//! What can be wrong with a run.

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// An answer that nothing explains.
    Linearizable,
    /// Somebody writes what another is in the middle of reading or writing, or reads what another
    /// writes.
    Race,
    /// Somebody fetches an answer that is not there, or the object is lost.
    Missing,
    /// Somebody writes a copy that another has guarded and found to be the head.
    Held,
    /// An operation takes steps without end.
    WaitFree,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 5] =
        [Fault::Linearizable, Fault::Race, Fault::Missing, Fault::Held, Fault::WaitFree];

    /// Its name in JSON: what is violated.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Linearizable => "linearizable",
            Fault::Race => "race",
            Fault::Missing => "answers",
            Fault::Held => "held",
            Fault::WaitFree => "wait-free",
        }
    }

    /// What holds if there is no such fault.
    pub fn promise(self) -> &'static str {
        match self {
            Fault::Linearizable => {
                "each operation seems to happen at once, between call and return"
            }
            Fault::Race => "nothing is read while it is written, or written by two",
            Fault::Missing => "answers and the object are where they are looked for",
            Fault::Held => "the head that somebody has guarded is not written until it lets go",
            Fault::WaitFree => {
                "each operation ends after so many own steps, wherever others have stopped"
            }
        }
    }

    pub(super) fn bit(self) -> u32 {
        Self::ALL.iter().position(|&fault| fault == self).expect("all are listed") as u32
    }
}
