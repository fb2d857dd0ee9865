//! Waiting for a slot, at most as long as the options allow.

use std::{
    env,
    io::{self, IsTerminal},
    iter, process,
    time::{Duration, Instant},
};

use hallpass_processes::{Error, SharedHall, SharedPass};

use super::{
    Refusal,
    attendant::{Attendant, Interruption},
    descendants::parent_of,
    environment,
};
use crate::{
    output::{can_paint, say},
    signals::raise,
};

/// Exit status: `-n` was given and no slot is free. As `flock(1)`.
pub const NO_SLOT: u8 = 1;
/// Exit status: no slot was free within the time of `-w`. As `timeout(1)`.
pub const TIMED_OUT: u8 = 124;

/// How to wait for a slot.
#[derive(Default)]
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
        match hall.try_acquire() {
            Err(Error::NoPermits) => {}
            done => return Ok(done?),
        }
        let name = hall.name();
        if self.nonblock {
            return Err(self.conflict(NO_SLOT, || format!("{name}: no slot is free")));
        }
        if let Some(holder) = outer_holder(hall) {
            say(format_args!(
                "{name}: waiting inside process {holder}, which holds a slot of the same hall; if that process \
                 waits for this command, neither ever ends"
            ));
        }
        let begun = Instant::now();
        let watched = io::stderr().is_terminal() && can_paint();
        if self.verbose && !watched {
            say(format_args!("{name}: no slot is free; waiters ahead: {}", hall.waiting()));
        }
        let got = self.wait(hall, begun, watched);
        let waited = begun.elapsed().as_secs_f64();
        let pass = got?.ok_or_else(|| {
            self.conflict(TIMED_OUT, || format!("{name}: no slot was free within {waited:.1} s"))
        })?;
        if self.verbose {
            say(format_args!("{name}: got a slot after {waited:.1} s"));
        }
        Ok(pass)
    }

    /// Waits in the queue. Returns `None` if the time of `-w` is over.
    fn wait<'a>(
        &self,
        hall: &'a SharedHall,
        begun: Instant,
        watched: bool,
    ) -> Result<Option<SharedPass<'a>>, Refusal> {
        let name = hall.name();
        let deadline = self.limit.and_then(|limit| begun.checked_add(limit));
        loop {
            let attendant = Attendant::start(hall, watched)?;
            let got = hall.acquire_unless(&attendant.cancel, deadline);
            match attendant.finish() {
                None => match got {
                    Err(Error::NoPermits) => return Ok(None),
                    done => return Ok(Some(done?)),
                },
                Some(Interruption::Cancelled) => {
                    return Err(Refusal::failure(format!("{name}: the wait was cancelled")));
                }
                Some(Interruption::Stop(signal)) => {
                    // A stopped process must not keep a slot that it could not use.
                    drop(got);
                    say(format_args!(
                        "{name}: stopped while waiting: left the queue, its position is lost"
                    ));
                    raise(signal)?;
                    say(format_args!("{name}: continued: joined the queue again, at its end"));
                }
            }
        }
    }

    /// The refusal if no slot was free. Like `flock(1)` and `timeout(1)`, it prints nothing without --verbose.
    pub fn conflict(&self, code: u8, why: impl FnOnce() -> String) -> Refusal {
        Refusal { code: self.conflict_code.unwrap_or(code), why: self.verbose.then(why) }
    }
}

/// Returns the PID of an ancestor of this process that holds a slot of `hall`, if there is one.
fn outer_holder(hall: &SharedHall) -> Option<u32> {
    // Every command of `hallpass run` has this variable.
    env::var_os(environment::NAME)?;
    let holders = hall.status().holders;
    let mut ancestors = iter::successors(Some(process::id() as i32), |pid| parent_of(*pid));
    ancestors.find_map(|pid| {
        let holder = holders.iter().find(|one| one.alive && one.pid as i32 == pid);
        holder.map(|one| one.pid)
    })
}
