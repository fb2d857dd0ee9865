//! Counts what the *victims*, the processes that the storm kills, were doing.

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, Instant},
};

use crate::board::{Note, STATES, State};

/// A waiter that is killed within this time after a holder may have been freeing the slot of that holder.
const RESCUE: Duration = Duration::from_millis(1);

#[derive(Default)]
pub struct Tally {
    pub kills: u64,
    /// How often a process was suspended.
    pub stops: u64,
    /// The time at which `Storm::kill_holder_then_waiters` last killed a holder.
    pub holder_killed: Option<Instant>,
    /// The number of victims that were suspended when they were killed.
    while_stopped: u64,
    while_waiting_for_a_dead_holder: u64,
    /// The number of victims in each state.
    states: BTreeMap<u64, u64>,
}

impl Tally {
    /// Counts a killed process with these notes.
    pub fn killed(&mut self, notes: &[Note], stopped: bool, at: Instant) {
        self.kills += 1;
        self.while_stopped += u64::from(stopped);
        // Of two threads, the one with the larger state counts. `Outside` is the smallest state.
        let state = notes.iter().map(Note::state).max_by_key(|state| *state as u64);
        let state = state.expect("a process has at least one thread");
        *self.states.entry(state as u64).or_default() += 1;
        let recent = |killed: Instant| at.saturating_duration_since(killed) < RESCUE;
        if state == State::Asking && self.holder_killed.is_some_and(recent) {
            self.while_waiting_for_a_dead_holder += 1;
        }
    }

    pub fn add(&mut self, other: &Tally) {
        self.kills += other.kills;
        self.stops += other.stops;
        self.while_stopped += other.while_stopped;
        self.while_waiting_for_a_dead_holder += other.while_waiting_for_a_dead_holder;
        for (state, count) in &other.states {
            *self.states.entry(*state).or_default() += count;
        }
    }

    fn of(&self, state: State) -> u64 {
        self.states.get(&(state as u64)).copied().unwrap_or(0)
    }

    /// Checks that holders, waiters and rescuers (processes that free the slot of a dead one) were each hit often
    /// enough.
    pub fn assert_all_were_hit(&self) {
        let least = self.kills / 50;
        let rescuers = self.of(State::Reaping) + self.while_waiting_for_a_dead_holder;
        for (role, count) in [
            ("holders", self.of(State::Inside)),
            ("waiters", self.of(State::Asking)),
            ("rescuers", rescuers),
        ] {
            assert!(count >= least, "only {count} of {} victims were {role}", self.kills);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} killed:", self.kills)?;
        for state in STATES {
            write!(f, " {} {state:?},", self.of(state))?;
        }
        write!(f, " {} of them waiting", self.while_waiting_for_a_dead_holder)?;
        let (while_stopped, stops) = (self.while_stopped, self.stops);
        write!(
            f,
            " for the slot of a holder that was just killed, {while_stopped} suspended; {stops} suspensions"
        )
    }
}
