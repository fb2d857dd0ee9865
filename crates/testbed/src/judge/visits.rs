//! Judges the record of a witness.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{
    Promise::{self, AtMostK, OwnSlot, SlotsBelowK, TokensGrow},
    Violation,
};
use crate::{Event, Observation, Visit};

/// The verdict on the record of a witness.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Verdict {
    /// The broken guarantees.
    pub violations: Vec<Violation>,
    /// The number of visits.
    pub visits: usize,
    /// The number of excused visits.
    pub excused: usize,
    /// The maximum number of visitors that ran at the same time.
    pub max_running: usize,
}

/// Judges the record of a hall with `slots` slots.
pub fn judge(slots: usize, events: &[Event]) -> Verdict {
    let mut judge = Judge { slots, ..Judge::default() };
    for event in events {
        match &event.what {
            Observation::Enter(visit) => judge.enter(event.at, visit),
            Observation::Leave { visit } => {
                judge.running.remove(visit);
            }
            Observation::Excused { visit } => {
                // From now on, tokens protect the storage from this visitor.
                judge.verdict.excused += usize::from(judge.running.remove(visit).is_some());
            }
            Observation::Wiped => {
                judge.tokens.clear();
                judge.largest.clear();
            }
            Observation::Note { .. } => {}
        }
    }
    judge.verdict
}

#[derive(Default)]
struct Judge<'a> {
    slots: usize,
    running: BTreeMap<u64, &'a Visit>,
    tokens: HashSet<u64>,
    /// The largest token of each slot.
    largest: HashMap<usize, u64>,
    verdict: Verdict,
}

impl<'a> Judge<'a> {
    fn enter(&mut self, at: u64, visit: &'a Visit) {
        let Visit { slot, token, .. } = *visit;
        if slot >= self.slots {
            self.report(SlotsBelowK, at, visit, "");
        }
        if let Some(other) = self.running.values().find(|other| other.slot == slot) {
            self.report(OwnSlot, at, visit, &format!("while there is {other:?}"));
        }
        let largest = self.largest.insert(slot, token);
        if !self.tokens.insert(token) || largest.is_some_and(|largest| largest >= token) {
            self.report(TokensGrow, at, visit, &format!("after {largest:?} in this slot"));
        }
        self.running.insert(visit.visit, visit);
        if self.running.len() > self.slots {
            let others = format!("as one of {:?}", self.running.values());
            self.report(AtMostK, at, visit, &others);
        }
        self.verdict.visits += 1;
        self.verdict.max_running = self.verdict.max_running.max(self.running.len());
    }

    fn report(&mut self, promise: Promise, at: u64, visit: &Visit, why: &str) {
        let seen = format!("{visit:?} came at {at} us {why}");
        self.verdict.violations.push(Violation { promise, seen });
    }
}
