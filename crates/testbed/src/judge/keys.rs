//! Judges the changes of a hall's keys: `queue/ID`, `inside/ID` and `slots/J`.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Promise::{
        self, FirstComeFirstIn, NoIdleSlot, NoTheft, OneSlotOneClaim, SlotsBelowK, SmallestSlot,
    },
    Violation,
};
use crate::KeyChange;

/// Judges the changes of the keys that begin with `hall`. The prefix `hall` is `PREFIX/NAME/`, and the
/// hall has `slots` slots.
pub fn judge(slots: usize, changes: &[KeyChange], hall: &str) -> Vec<Violation> {
    let mut judge = Judge { slots, ..Judge::default() };
    // Changes with the same revision belong to one transaction.
    for transaction in changes.chunk_by(|a, b| a.revision == b.revision) {
        judge.consider(&Transaction::read(transaction, hall));
    }
    judge.violations
}

/// The changes of one transaction. Claims are named by their ids.
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
                // A claim that is written again keeps its position in the queue.
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
struct Judge<'a> {
    slots: usize,
    /// The waiters, by the revision of their claims.
    queue: BTreeMap<u64, &'a str>,
    inside: BTreeSet<&'a str>,
    owners: BTreeMap<usize, Owner<'a>>,
    /// The revision in which each free slot was freed.
    freed: BTreeMap<usize, u64>,
    /// The revision in which the key `door` was last written.
    door: u64,
    violations: Vec<Violation>,
}

impl<'a> Judge<'a> {
    fn consider(&mut self, event: &Transaction<'a>) {
        match (&event.given[..], &event.entered[..]) {
            ([], []) => {}
            (&[slot], &[claim]) => self.grant(event, slot, claim),
            _ => self.report(OneSlotOneClaim, event, &format!("{:?}", event.given)),
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

    /// Judges the assignment of a slot to a claim. `self` still describes the state before the
    /// transaction.
    fn grant(&mut self, event: &Transaction<'a>, slot: usize, claim: &'a str) {
        let owner = self.owners.get(&slot);
        if owner.is_some_and(|owner| owner.claim == claim) && !self.inside.contains(claim) {
            // The lease of the claim has ended, and the owner has created the claim again.
            return;
        }
        if slot >= self.slots {
            self.report(SlotsBelowK, event, &format!("slot {slot}"));
        }
        if self.queue.values().next().is_some_and(|first| *first != claim) {
            self.report(FirstComeFirstIn, event, &format!("{claim} before {:?}", self.queue));
        }
        let waited = self.queue.values().any(|other| *other == claim);
        if waited && !event.unqueued.contains(&claim) {
            self.report(OneSlotOneClaim, event, &format!("{claim} has a slot and waits"));
        }
        self.freed.remove(&slot);
        let owner = Owner { claim };
        let before = self.owners.insert(slot, owner);
        let smaller = (0..slot).find(|slot| self.was_free(*slot, waited));
        if let (None, Some(smaller)) = (before, smaller) {
            self.report(SmallestSlot, event, &format!("slot {slot}, not {smaller}"));
        }
        if before.is_some_and(|before| self.keeps(event, before.claim)) {
            self.report(NoTheft, event, &format!("slot {slot} went to {claim}"));
        }
    }

    /// Returns whether the process that gave or took a larger slot could see that this slot is free. A
    /// process that takes a slot for itself sees the present state. A process that gives a slot to a
    /// waiter has seen at least the state at the last write of `door`.
    fn was_free(&self, slot: usize, given: bool) -> bool {
        let freed = self.freed.get(&slot).copied().unwrap_or(0);
        !self.owners.contains_key(&slot) && (!given || freed <= self.door)
    }

    fn free(&mut self, event: &Transaction<'a>, slot: usize) {
        let owner = self.owners.remove(&slot);
        self.freed.insert(slot, event.revision);
        if owner.is_some_and(|owner| self.keeps(event, owner.claim)) {
            self.report(NoTheft, event, &format!("slot {slot} was freed"));
        }
        // A write of `door` notifies all waiters.
        if !self.queue.is_empty() && slot < self.slots && !event.door {
            self.report(NoIdleSlot, event, &format!("slot {slot} was freed"));
        }
    }

    /// Returns whether a claim has a slot before and after the transaction.
    fn keeps(&self, event: &Transaction, claim: &str) -> bool {
        self.inside.contains(claim) && !event.left.contains(&claim)
    }

    fn report(&mut self, promise: Promise, event: &Transaction, what: &str) {
        let owners = &self.owners;
        let seen = format!("{what} in revision {}; owners: {owners:?}", event.revision);
        self.violations.push(Violation { promise, seen });
    }
}
