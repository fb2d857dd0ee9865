//! The judge: checks whether the records of a [`Witness`](crate::Witness) and of a [`KeyRecorder`](crate::KeyRecorder)
//! satisfy the guarantees of a hall.
//!
//! This module does not depend on hallpass, except for the names of its keys.

mod keys;
#[cfg(test)]
mod tests;
mod visits;

use std::{collections::HashSet, fmt};

pub use keys::judge as keys;
pub use visits::{Verdict, judge as visits};

use crate::{Event, KeyChange, Observation};

/// A broken guarantee.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The guarantee that was broken.
    pub promise: Promise,
    /// The observation that shows the violation.
    pub seen: String,
}

/// The guarantees of a hall.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Promise {
    /// At most k visitors run at the same time.
    AtMostK,
    /// No two visitors have the same slot.
    OwnSlot,
    /// Every slot is a number from 0 to k-1.
    SlotsBelowK,
    /// No token occurs twice, and the tokens of each slot grow.
    TokensGrow,
    /// A token is the revision in which the slot was assigned.
    TokensAreRevisions,
    /// Claims get slots in the order of their arrival, and no claim overtakes a waiter.
    FirstComeFirstIn,
    /// The smallest free slot is taken.
    SmallestSlot,
    /// No slot becomes free while a claim waits, unless all waiters are notified.
    NoIdleSlot,
    /// No slot is taken away from a claim that exists.
    NoTheft,
    /// A slot is assigned to one claim, and a claim gets one slot.
    OneSlotOneClaim,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.promise, self.seen)
    }
}

/// Checks that the slot and the token of each visitor were assigned, according to the keys.
pub fn agreement(events: &[Event], changes: &[KeyChange], hall: &str) -> Vec<Violation> {
    let slot = |key: &str| key.strip_prefix(hall)?.strip_prefix("slots/")?.parse().ok();
    let puts = changes.iter().filter(|change| change.now.is_some());
    let given = puts.filter_map(|change| Some((slot(&change.key)?, change.revision)));
    let given: HashSet<(usize, u64)> = given.collect();
    let visits = events.iter().filter_map(|event| match &event.what {
        Observation::Enter(visit) => Some(visit),
        _ => None,
    });
    let strange = visits.filter(|visit| !given.contains(&(visit.slot, visit.token)));
    let violation = |visit| Violation {
        promise: Promise::TokensAreRevisions,
        seen: format!("{visit:?} has a slot and token that were not assigned"),
    };
    strange.map(violation).collect()
}
