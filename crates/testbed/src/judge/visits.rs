//! What the witness saw of those who were in.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{
    Promise::{self, AtMostK, OwnSlot, SlotsBelowK, TokensGrow},
    Violation,
};
use crate::{Event, Observation, Visit};

/// What the judge says of a record.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Verdict {
    /// What was broken; nothing, if all is well.
    pub violations: Vec<Violation>,
    /// How many visits there were.
    pub visits: usize,
    /// How many of them were excused.
    pub excused: usize,
    /// The most that were in at once.
    pub most: usize,
}

/// Judges a record of a hall with so many slots.
pub fn judge(slots: usize, events: &[Event]) -> Verdict {
    let mut court = Court { slots, ..Court::default() };
    for event in events {
        match &event.what {
            Observation::Enter(visit) => court.enter(event.at, visit),
            Observation::Leave { visit } => {
                court.inside.remove(visit);
            }
            Observation::Excused { visit } => {
                // From now on it is storage that stops it.
                court.verdict.excused += usize::from(court.inside.remove(visit).is_some());
            }
            Observation::Note { .. } => {}
        }
    }
    court.verdict
}

#[derive(Default)]
struct Court<'a> {
    slots: usize,
    inside: BTreeMap<u64, &'a Visit>,
    tokens: HashSet<u64>,
    /// The largest token of each slot.
    largest: HashMap<usize, u64>,
    verdict: Verdict,
}

impl<'a> Court<'a> {
    fn enter(&mut self, at: u64, visit: &'a Visit) {
        let Visit { slot, token, .. } = *visit;
        if slot >= self.slots {
            self.object(SlotsBelowK, at, visit, "");
        }
        if let Some(other) = self.inside.values().find(|other| other.slot == slot) {
            self.object(OwnSlot, at, visit, &format!("while there is {other:?}"));
        }
        let largest = self.largest.insert(slot, token);
        if !self.tokens.insert(token) || largest.is_some_and(|largest| largest >= token) {
            self.object(TokensGrow, at, visit, &format!("after {largest:?} in this slot"));
        }
        self.inside.insert(visit.visit, visit);
        if self.inside.len() > self.slots {
            let others = format!("as one of {:?}", self.inside.values());
            self.object(AtMostK, at, visit, &others);
        }
        self.verdict.visits += 1;
        self.verdict.most = self.verdict.most.max(self.inside.len());
    }

    fn object(&mut self, promise: Promise, at: u64, visit: &Visit, why: &str) {
        let seen = format!("{visit:?} came at {at} us {why}");
        self.verdict.violations.push(Violation { promise, seen });
    }
}
