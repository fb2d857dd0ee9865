//! The record of a witness.

use serde::{Deserialize, Serialize};

/// An observation with its time: one line of the record, as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// Microseconds since the witness was started.
    pub at: u64,
    /// The observation.
    #[serde(flatten)]
    pub what: Observation,
}

/// An observation of a witness.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Observation {
    /// A visitor came in.
    Enter(Visit),
    /// A visitor has left, or is dead.
    Leave {
        /// The number of the visit.
        visit: u64,
    },
    /// A visitor was stopped together with all processes that watch over it. When they continue, it may be inside for
    /// a moment too long. Tokens are for that: storage that has seen a larger token refuses its writes.
    Excused {
        /// The number of the visit.
        visit: u64,
    },
    /// A note that may explain other observations.
    Note {
        /// The note.
        text: String,
    },
}

/// A visitor that is inside.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Visit {
    /// The number of the visit, in the order of arrival.
    pub visit: u64,
    /// The name that the visitor gave.
    pub name: String,
    /// Its slot.
    pub slot: usize,
    /// Its token.
    pub token: u64,
    /// Its process id.
    pub pid: u32,
}
