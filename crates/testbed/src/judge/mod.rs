//! The judge: whether what witnesses saw is what a hall promises.
//!
//! Nothing here knows how hallpass works, but for the names of its keys.

mod keys;
#[cfg(test)]
mod tests;
mod visits;

use std::{collections::HashSet, fmt};

pub use keys::judge as keys;
pub use visits::{Verdict, judge as visits};

use crate::{Event, KeyChange, Observation};

/// A promise that was broken: which, and by what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Which promise.
    pub promise: Promise,
    /// What broke it.
    pub seen: String,
}

/// What a hall promises.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Promise {
    /// At most k are in.
    AtMostK,
    /// No two have the same slot.
    OwnSlot,
    /// Slots are below k.
    SlotsBelowK,
    /// No token comes twice, and in each slot tokens grow.
    TokensGrow,
    /// A token is the revision in which the slot was given.
    TokensAreRevisions,
    /// Whoever came first gets in first, and nobody passes those who wait.
    FirstComeFirstIn,
    /// Of several free slots the smallest is taken.
    SmallestSlot,
    /// No slot becomes free while somebody waits, unless all who do are told.
    NoIdleSlot,
    /// A slot is taken from nobody who has a claim to it.
    NoTheft,
    /// A slot is given to a claim, and a claim gets a slot.
    OneSlotOneClaim,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.promise, self.seen)
    }
}

/// Whether each visit had a slot and a token that the keys show to have been given.
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
        seen: format!("{visit:?} was given nothing of the kind"),
    };
    strange.map(violation).collect()
}
