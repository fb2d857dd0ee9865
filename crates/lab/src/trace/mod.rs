//! Replays a [`Schedule`](crate::schedule::Schedule) that the checker has found.
//!
//! ```text
//!   encode / decode     converts a schedule to a line that needs no quotes in a shell, and back
//!   run                 executes it again, step by step, on the step machine itself, and returns a Trace
//!   confirm             checks that this execution shows the finding
//!   text, html          formats the trace for a terminal, or as a page
//! ```
//!
//! This module does not use the checker's tables, packed states or counts, so it cannot repeat their
//! mistakes. The result of [`confirm`] comes from the algorithm's own code.
//!
//! ```
//! use hallpass_lab::{schedule::{Finding, MemoryModel, Schedule}, trace};
//!
//! // Process 0 enters and stops; process 1 waits for it forever.
//! let schedule = Schedule {
//!     algorithm: "am-fig3".into(),
//!     n: 2,
//!     k: 1,
//!     memory: MemoryModel::Sequential,
//!     initial: vec![1, 0],
//!     stem: vec![0, 0, 1, 1, 1, 1],
//!     cycle: vec![1],
//!     finding: Finding::Starvation { victim: 1, stopped: vec![0] },
//! };
//! trace::confirm(&schedule).unwrap();
//! let line = trace::encode(&schedule).unwrap();
//! assert_eq!(trace::decode(&line), Ok(schedule));
//! ```

mod cache;
mod check;
mod confirm;
mod finding_code;
mod html;
mod interpreter;
mod kept_out;
mod lasso;
mod repeat;
mod replay_string;
mod state;
mod statement;
mod step;
mod text;
pub(crate) mod words;

use std::fmt;

use hallpass_algorithms::registry;

pub use confirm::{confirm, confirm_on};
pub use html::html;
pub use interpreter::{Interpreter, run};
pub(crate) use repeat::recurs;
pub use replay_string::{decode, decode_on, encode, encode_on};
pub use state::{RunState, Snapshot};
pub use step::{Access, Event, Operation, Stand, Step, Trace, Via};
pub use text::text;
pub use words::{conventions, describe, no_value, shows};

/// An error in a replay string or a schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The string does not begin like a replay string.
    NotAReplay,
    /// The version is unknown.
    Version(String),
    /// The checksum does not match.
    Damaged,
    /// The algorithm does not exist at all, or does not exist at this size.
    Algorithm(registry::Error),
    /// A part is invalid. The text says what is allowed.
    Part(String),
    /// A step is impossible. The values are the number of the step, counted from 1, and the reason.
    Step(usize, String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotAReplay => {
                f.write_str("this is not a replay string: replay strings begin with `hp1.` and contain no spaces")
            }
            Error::Version(version) => write!(
                f,
                "this replay string is of version {version}, and only version 1 can be read: use \
                 the hallpass that printed it"
            ),
            Error::Damaged => f.write_str("the replay string is damaged or incomplete: copy all of it"),
            Error::Algorithm(error) => error.fmt(f),
            Error::Part(text) => f.write_str(text),
            Error::Step(step, why) => write!(f, "step {step} is impossible: {why}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<registry::Error> for Error {
    fn from(error: registry::Error) -> Self {
        Error::Algorithm(error)
    }
}
