//! What a witness writes down.

use serde::{Deserialize, Serialize};

/// Something that a witness saw. One line of its record, as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// When, in microseconds since the witness came.
    pub at: u64,
    /// What.
    #[serde(flatten)]
    pub what: Observation,
}

/// What a witness can see.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Observation {
    /// Somebody came in.
    Enter(Visit),
    /// It has left, or is dead.
    Leave {
        /// Who.
        visit: u64,
    },
    /// It was stopped together with all who watch over it, so when it goes on, it may be in for a moment
    /// longer than it has the right to. That is what tokens are for: what it does with its own then is
    /// refused by whoever has seen a larger one.
    Excused {
        /// Who.
        visit: u64,
    },
    /// Something that may explain the rest.
    Note {
        /// What it was.
        text: String,
    },
}

/// Somebody who is in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Visit {
    /// Its number, in the order of arrival.
    pub visit: u64,
    /// What it calls itself.
    pub name: String,
    /// The slot that it was given.
    pub slot: usize,
    /// The token that came with it.
    pub token: u64,
    /// Its process.
    pub pid: u32,
}
