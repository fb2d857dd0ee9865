//! The log of a hall: the runs of `hallpass run` and `hallpass jobserver` that have ended. `hallpass log` shows it.

mod file;
mod show;

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

pub use self::{
    file::append,
    show::{Args, run},
};
#[cfg(feature = "fuzzing")]
pub use self::{
    file::parse,
    show::{objects, table},
};

/// The longest command that an entry contains, in characters.
const LONGEST_COMMAND: usize = 200;

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The time at which the run ended, as RFC 3339.
    pub end: String,
    /// The PID of hallpass.
    pub pid: u32,
    pub uid: u32,
    /// The slots that the run had.
    pub slots: Vec<usize>,
    /// How long the run waited for its slots, in seconds.
    pub waited: f64,
    /// How long the command ran, in seconds.
    pub ran: f64,
    /// The exit status of hallpass.
    pub status: u8,
    /// The command, or its label.
    pub command: String,
}

impl Entry {
    /// Returns the entry of a run of this process that has just ended.
    pub fn of_this_process(
        slots: Vec<usize>,
        waited: Duration,
        ran: Duration,
        status: u8,
        command: &str,
    ) -> Self {
        let seconds = |time: Duration| time.as_millis() as f64 / 1e3;
        Entry {
            end: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
            pid: std::process::id(),
            uid: rustix::process::getuid().as_raw(),
            slots,
            waited: seconds(waited),
            ran: seconds(ran),
            status,
            command: command.chars().take(LONGEST_COMMAND).collect(),
        }
    }
}
