//! What happened to a hall's keys: `queue/ID`, `inside/ID` and `slots/J`.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Promise::{
        self, FirstComeFirstIn, NoIdleSlot, NoTheft, OneSlotOneClaim, SlotsBelowK, SmallestSlot,
    },
    Violation,
};
use crate::KeyChange;

/// Judges what happened to the keys that begin with `hall`, as `PREFIX/NAME/`, of so many slots.
pub fn judge(slots: usize, changes: &[KeyChange], hall: &str) -> Vec<Violation> {
    let mut court = Court { slots, ..Court::default() };
    // What has one revision happened at once.
    for transaction in changes.chunk_by(|a, b| a.revision == b.revision) {
        court.consider(&Transaction::read(transaction, hall));
    }
    court.violations
}

/// What one transaction did. Claims go by their identifiers.
#[derive(Default)]
struct Transaction<'a> {
    revision: u64,
    queued: Vec<&'a str>,
    unqueued: Vec<&'a str>,
    entered: Vec<&'a str>,
    left: Vec<&'a str>,
    given: Vec<usize>,
    freed: Vec<usize>,
    door: bool,
}

impl<'a> Transaction<'a> {
    fn read(changes: &'a [KeyChange], hall: &str) -> Self {
        let mut this = Transaction { revision: changes[0].revision, ..Transaction::default() };
        for change in changes {
            let Some(key) = change.key.strip_prefix(hall) else { continue };
            let (kind, name) = key.split_once('/').unwrap_or((key, ""));
            let slot = || name.parse().expect("slots are numbers");
            match (kind, &change.now) {
                // What is said of a claim may change; its place does not.
                ("queue" | "inside", Some(now)) if now.created < change.revision => {}
                ("queue", Some(_)) => this.queued.push(name),
                ("queue", None) => this.unqueued.push(name),
                ("inside", Some(_)) => this.entered.push(name),
                ("inside", None) => this.left.push(name),
                ("slots", Some(_)) => this.given.push(slot()),
                ("slots", None) => this.freed.push(slot()),
                ("door", _) => this.door = true,
                _ => {}
            }
        }
        this
    }
}

#[derive(Clone, Copy, Debug)]
struct Owner<'a> {
    claim: &'a str,
}

#[derive(Default)]
struct Court<'a> {
    slots: usize,
    /// By the revision in which they came.
    queue: BTreeMap<u64, &'a str>,
    inside: BTreeSet<&'a str>,
    owners: BTreeMap<usize, Owner<'a>>,
    /// When each slot that is free was freed.
    freed: BTreeMap<usize, u64>,
    /// When the door was last written.
    door: u64,
    violations: Vec<Violation>,
}

impl<'a> Court<'a> {
    fn consider(&mut self, event: &Transaction<'a>) {
        match (&event.given[..], &event.entered[..]) {
            ([], []) => {}
            (&[slot], &[claim]) => self.grant(event, slot, claim),
            _ => self.object(OneSlotOneClaim, event, &format!("{:?}", event.given)),
        }
        event.freed.iter().for_each(|slot| self.free(event, *slot));
        if event.door {
            self.door = event.revision;
        }
        self.queue.retain(|_, claim| !event.unqueued.contains(claim));
        self.queue.extend(event.queued.iter().map(|claim| (event.revision, *claim)));
        self.inside.retain(|claim| !event.left.contains(claim));
        self.inside.extend(&event.entered);
    }

    /// What is known is how things were before.
    fn grant(&mut self, event: &Transaction<'a>, slot: usize, claim: &'a str) {
        if slot >= self.slots {
            self.object(SlotsBelowK, event, &format!("slot {slot}"));
        }
        if self.queue.values().next().is_some_and(|first| *first != claim) {
            self.object(FirstComeFirstIn, event, &format!("{claim} before {:?}", self.queue));
        }
        let waited = self.queue.values().any(|other| *other == claim);
        if waited && !event.unqueued.contains(&claim) {
            self.object(OneSlotOneClaim, event, &format!("{claim} is in and waits"));
        }
        self.freed.remove(&slot);
        let owner = Owner { claim };
        let before = self.owners.insert(slot, owner);
        let smaller = (0..slot).find(|slot| self.was_free(*slot, waited));
        if let (None, Some(smaller)) = (before, smaller) {
            self.object(SmallestSlot, event, &format!("slot {slot}, not {smaller}"));
        }
        if before.is_some_and(|before| self.keeps(event, before.claim)) {
            self.object(NoTheft, event, &format!("slot {slot} went to {claim}"));
        }
    }

    /// Whether whoever gave or took a larger slot should have known that this one is free. Who takes one for
    /// itself knows. Who gives one to somebody knows how things were when the door was last written.
    fn was_free(&self, slot: usize, given: bool) -> bool {
        let freed = self.freed.get(&slot).copied().unwrap_or(0);
        !self.owners.contains_key(&slot) && (!given || freed <= self.door)
    }

    fn free(&mut self, event: &Transaction<'a>, slot: usize) {
        let owner = self.owners.remove(&slot);
        self.freed.insert(slot, event.revision);
        if owner.is_some_and(|owner| self.keeps(event, owner.claim)) {
            self.object(NoTheft, event, &format!("slot {slot} was freed"));
        }
        // All who wait are told by the door.
        let told = event.door;
        if !self.queue.is_empty() && slot < self.slots && !told {
            self.object(NoIdleSlot, event, &format!("slot {slot} was freed"));
        }
    }

    /// Whether a claim is inside afterwards as before.
    fn keeps(&self, event: &Transaction, claim: &str) -> bool {
        self.inside.contains(claim) && !event.left.contains(&claim)
    }

    fn object(&mut self, promise: Promise, event: &Transaction, what: &str) {
        let owners = &self.owners;
        let seen = format!("{what} in revision {}; owners: {owners:?}", event.revision);
        self.violations.push(Violation { promise, seen });
    }
}
