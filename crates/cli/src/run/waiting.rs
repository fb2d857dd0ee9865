//! Waits for a slot, at most as long as the options allow.

use std::{
    env,
    io::{self, IsTerminal},
    iter, mem, process, thread,
    time::{Duration, Instant},
};

use hallpass_common::text::counted;
use hallpass_processes::{Error, SharedHall, SharedPasses};

use super::{
    Refusal,
    attendant::{Attendant, Interruption},
    descendants::parent_of,
    environment::{self, Environment},
};
use crate::{
    output::{can_paint, say},
    signals::raise,
};

/// Exit status: `-n` was given and no slot is free. `flock(1)` exits with the same status.
pub const NO_SLOT: u8 = 1;
/// Exit status: no slot was free within the time of `-w`. `timeout(1)` exits with the same status.
pub const TIMED_OUT: u8 = 124;

/// How long hallpass pauses before it joins the queue again, after it got a slot for which `--env` has no value.
const UNUSABLE: Duration = Duration::from_millis(500);

/// The options for waiting for a slot.
#[derive(Default)]
pub struct Waiting {
    pub nonblock: bool,
    pub limit: Option<Duration>,
    /// The exit status of `-E`, which replaces [`NO_SLOT`] and [`TIMED_OUT`].
    pub conflict_code: Option<u8>,
    pub verbose: bool,
}

impl Waiting {
    /// Acquires `count` slots together, and only slots for which `environment` has values. On a terminal, shows the
    /// queue while waiting.
    pub fn acquire_many<'a>(
        &self,
        hall: &'a SharedHall,
        count: usize,
        environment: &Environment,
    ) -> Result<SharedPasses<'a>, Refusal> {
        match hall.try_acquire_many(count) {
            Err(Error::NoPermits) => {}
            Ok(passes) if environment.check_held(passes.slots()).is_err() => {}
            done => return done.map_err(|error| refusal(hall, error)),
        }
        let name = hall.name();
        let what = if count == 1 { "no slot is free" } else { "not enough slots are free" };
        if self.nonblock {
            return Err(self.conflict(NO_SLOT, || format!("{name}: {what}")));
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
            say(format_args!("{name}: {what}; waiters ahead: {}", hall.waiting()));
        }
        let got = self.wait(hall, count, environment, begun, watched);
        let waited = begun.elapsed().as_secs_f64();
        let (was_free, got_what) = match count {
            1 => ("no slot was free".to_string(), "a slot".to_string()),
            _ => (format!("{count} slots were not free together"), format!("{count} slots")),
        };
        let passes = got?.ok_or_else(|| {
            self.conflict(TIMED_OUT, || format!("{name}: {was_free} within {waited:.1} s"))
        })?;
        if self.verbose {
            say(format_args!("{name}: got {got_what} after {waited:.1} s"));
        }
        Ok(passes)
    }

    /// Waits in the queue. Returns `None` if the time of `-w` is over.
    fn wait<'a>(
        &self,
        hall: &'a SharedHall,
        count: usize,
        environment: &Environment,
        begun: Instant,
        watched: bool,
    ) -> Result<Option<SharedPasses<'a>>, Refusal> {
        let name = hall.name();
        let deadline = self.limit.and_then(|limit| begun.checked_add(limit));
        let mut said = false;
        loop {
            let attendant = Attendant::start(hall, watched)?;
            let got = hall.acquire_many_unless(count, &attendant.cancel, deadline);
            let is_usable = |passes: &SharedPasses| environment.check_held(passes.slots()).is_ok();
            match attendant.finish() {
                // `hallpass cancel` reports a waiter that got its slot as not cancelled. So this process uses the slot,
                // even if the signal of `hallpass cancel` came at the same time.
                Some(Interruption::Cancelled) if !got.as_ref().is_ok_and(is_usable) => {
                    return Err(Refusal::failure(format!("{name}: the wait was cancelled")));
                }
                None | Some(Interruption::Cancelled) => match got {
                    Err(Error::NoPermits) => return Ok(None),
                    // The hall may have grown during the wait. If hallpass failed now, one resize could end all
                    // waiting commands, because none has a value for the new slot.
                    Ok(passes) => match environment.check_held(passes.slots()) {
                        Ok(()) => return Ok(Some(passes)),
                        Err(why) => {
                            drop(passes);
                            if !mem::replace(&mut said, true) {
                                say(format_args!("{name}: {why}: waiting for another slot"));
                            }
                            thread::sleep(UNUSABLE);
                        }
                    },
                    Err(error) => return Err(refusal(hall, error)),
                },
                Some(Interruption::Suspend(signal)) => {
                    // A suspended process must not keep a slot that it cannot use.
                    drop(got);
                    say(format_args!(
                        "{name}: suspended while waiting: left the queue, its position is lost"
                    ));
                    raise(signal)?;
                    say(format_args!("{name}: continued: joined the queue again, at its end"));
                }
            }
        }
    }

    /// Returns the refusal of a command for which no slot was free. Without --verbose, the refusal prints nothing, like
    /// `flock(1)` and `timeout(1)`.
    pub fn conflict(&self, code: u8, why: impl FnOnce() -> String) -> Refusal {
        let code = self.conflict_code.unwrap_or(code);
        Refusal { code, why: self.verbose.then(why), no_slot: true }
    }
}

/// Returns the refusal of a command that did not get its slots, for a reason other than `-n` or `-w`.
fn refusal(hall: &SharedHall, error: Error) -> Refusal {
    match error {
        Error::TooMany { asked, slots } => {
            let (have, name) = (counted(slots, "slot"), hall.name());
            Refusal::failure(format!(
                "--take {asked} is more than the {have} of hall `{name}`: take at most {slots}, or resize the hall"
            ))
        }
        error => error.into(),
    }
}

/// Returns the PID of an ancestor of this process that holds a slot of `hall`, if there is one.
fn outer_holder(hall: &SharedHall) -> Option<u32> {
    // Every command that `hallpass run` starts has this variable.
    env::var_os(environment::NAME)?;
    let holders = hall.status().holders;
    let mut ancestors = iter::successors(Some(process::id() as i32), |pid| parent_of(*pid));
    ancestors.find_map(|pid| {
        let holder = holders.iter().find(|one| one.alive && one.pid as i32 == pid);
        holder.map(|one| one.pid)
    })
}
