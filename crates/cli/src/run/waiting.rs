//! Waiting for a slot, at most as long as the options allow.

use std::{
    io::{self, IsTerminal},
    time::{Duration, Instant},
};

use hallpass_processes::{Error, SharedHall, SharedPass};

use super::{Refusal, display::WaitDisplay};
use crate::output::say;

/// Exit status: `-n` was given and no slot is free. As `flock(1)`.
pub const NO_SLOT: u8 = 1;
/// Exit status: no slot was free within the time of `-w`. As `timeout(1)`.
pub const TIMED_OUT: u8 = 124;

/// How to wait for a slot.
pub struct Waiting {
    pub nonblock: bool,
    pub limit: Option<Duration>,
    /// The exit status of `-E`, which replaces the two above.
    pub conflict_code: Option<u8>,
    pub verbose: bool,
}

impl Waiting {
    /// Acquires a slot. On a terminal, shows the queue while waiting.
    pub fn acquire<'a>(&self, hall: &'a SharedHall) -> Result<SharedPass<'a>, Refusal> {
        let watched = io::stderr().is_terminal();
        if self.nonblock || self.verbose || watched {
            match hall.try_acquire() {
                Err(Error::NoPermits) => {}
                done => return Ok(done?),
            }
        }
        let name = hall.name();
        if self.nonblock {
            return Err(self.conflict(NO_SLOT, || format!("{name}: no slot is free")));
        }
        let begun = Instant::now();
        let line = watched.then(|| WaitDisplay::show(hall.clone()));
        if self.verbose && !watched {
            say(format_args!("{name}: no slot is free; waiters ahead: {}", hall.waiting()));
        }
        let got = self.limit.map_or_else(|| hall.acquire(), |limit| hall.try_acquire_for(limit));
        drop(line);
        let waited = begun.elapsed().as_secs_f64();
        if let Err(Error::NoPermits) = got {
            let why = || format!("{name}: no slot was free within {waited:.1} s");
            return Err(self.conflict(TIMED_OUT, why));
        }
        let pass = got?;
        if self.verbose {
            say(format_args!("{name}: got a slot after {waited:.1} s"));
        }
        Ok(pass)
    }

    /// The refusal if no slot was free. Like `flock(1)` and `timeout(1)`, it prints nothing without --verbose.
    pub fn conflict(&self, code: u8, why: impl FnOnce() -> String) -> Refusal {
        Refusal { code: self.conflict_code.unwrap_or(code), why: self.verbose.then(why) }
    }
}
