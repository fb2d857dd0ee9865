//! The record of a witness.

use serde::{Deserialize, Serialize};

/// An observation with its time. This is one line of the record, as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// The time in microseconds since the witness was started.
    pub at: u64,
    /// The event that was observed.
    #[serde(flatten)]
    pub what: Observation,
}

/// An observation of a witness.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Observation {
    /// A visitor has started.
    Enter(Visit),
    /// A visitor has left, or is dead.
    Leave {
        /// The number of the visit.
        visit: u64,
    },
    /// A visitor was suspended together with all processes that watch over it. When they continue, the
    /// visitor may run for a moment too long. Tokens solve this problem: storage that has seen a larger
    /// token refuses the visitor's writes.
    Excused {
        /// The number of the visit.
        visit: u64,
    },
    /// The hall was deleted, together with all information about tokens in the store. Tokens start again from small
    /// numbers.
    Wiped,
    /// A note that may explain other observations.
    Note {
        /// The text of the note.
        text: String,
    },
}

/// A running visitor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Visit {
    /// The number of the visit, in the order of arrival.
    pub visit: u64,
    /// The name that the visitor reported.
    pub name: String,
    /// The slot of the visitor.
    pub slot: usize,
    /// The token of the visitor.
    pub token: u64,
    /// The process id of the visitor.
    pub pid: u32,
}
