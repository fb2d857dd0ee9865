//! Records which claims have expired, and since when.
//!
//! A *stale* slot names a claim that no longer exists. The holder of this claim may still use the slot for a while:
//! it continues for nine tenths of its ttl after it last saw its claim. So a stale slot is *reclaimable* only when
//! eleven tenths of that ttl have passed since a process on this machine noticed that the claim is gone.

use std::{
    collections::{HashMap, HashSet},
    sync::Mutex,
    time::Duration,
};

use crate::{
    Clock,
    records::ExpiryRecord,
    requests::HallStore,
    retry::lock,
    view::{Revision, View},
};

/// A slot, and its [version](crate::view::Owner::version), which identifies the claim that it was assigned to.
pub(crate) type Assignment = (usize, Revision);

/// Remembers, for each expired claim, when this process or another process with the same clock first noticed the
/// expiry.
pub(crate) struct ExpiryLog {
    clock: Clock,
    since: Mutex<HashMap<Assignment, Duration>>,
}

impl ExpiryLog {
    pub(crate) fn new(clock: Clock) -> Self {
        ExpiryLog { clock, since: Mutex::default() }
    }

    /// Notes the stale slots of a view, and forgets those that are no longer stale.
    pub(crate) fn update(&self, view: &View) {
        let now = self.clock.now();
        let mut since = lock(&self.since);
        let stale: Vec<_> = assignments(view).collect();
        since.retain(|assignment, _| stale.contains(assignment));
        for assignment in stale {
            since.entry(assignment).or_insert(now);
        }
        // If another process with the same clock noticed the expiry earlier, use the earlier time.
        for record in &view.expiries {
            if let (Some(at), Some(since)) =
                (record.by(&self.clock), since.get_mut(&(record.slot, record.token)))
            {
                *since = at.min(*since);
            }
        }
    }

    /// Returns whether the view has an expiry that no process with this clock has recorded in the store.
    pub(crate) fn has_unrecorded_expiry(&self, view: &View) -> bool {
        self.unrecorded(view).next().is_some()
    }

    /// Records in the store when this process noticed expiries, for other processes with the same clock. Without
    /// this record, a slot would never be reclaimed if every process ends before it has waited long enough.
    pub(crate) async fn record_expiry(&self, store: &HallStore, view: &View) {
        for (slot, token) in self.unrecorded(view) {
            let Some(since) = lock(&self.since).get(&(slot, token)).copied() else { continue };
            let record = ExpiryRecord::since(slot, token, &self.clock, since);
            let _ = store.record_expiry(&record, view).await;
        }
    }

    /// Returns the smallest stale slot that its holder can no longer use.
    pub(crate) fn reclaimable(&self, view: &View) -> Option<usize> {
        let size = view.size();
        let mut over = self.remaining(view).filter(|(slot, left)| *slot < size && left.is_zero());
        over.next().map(|(slot, _)| slot)
    }

    /// Returns the time until the next stale slot is reclaimable; `None` if no slot of the hall is stale. Removed slots
    /// do not count.
    pub(crate) fn until_reclaimable(&self, view: &View) -> Option<Duration> {
        let size = view.size();
        self.remaining(view).filter(|(slot, _)| *slot < size).map(|(_, left)| left).min()
    }

    /// Returns the time until all stale slots in `of` are reclaimable; `None` if none of them is stale.
    pub(crate) fn until_all_reclaimable(
        &self,
        view: &View,
        of: &HashSet<Assignment>,
    ) -> Option<Duration> {
        let version = |slot: &usize| view.slots.get(slot).map(|owner| owner.version);
        let one_of = |slot: &usize| version(slot).is_some_and(|at| of.contains(&(*slot, at)));
        self.remaining(view).filter(|(slot, _)| one_of(slot)).map(|(_, left)| left).max()
    }

    /// For each stale slot, returns the longest time that its holder may still use it.
    fn remaining<'a>(&'a self, view: &'a View) -> impl Iterator<Item = (usize, Duration)> + 'a {
        let now = self.clock.now();
        view.stale().filter_map(move |(slot, owner)| {
            let since = *lock(&self.since).get(&(slot, owner.version))?;
            // The holder last saw its claim before `since`, and stops nine tenths of its ttl after that.
            let until = since + Duration::from_millis(owner.record.ttl).saturating_mul(11) / 10;
            Some((slot, until.saturating_sub(now)))
        })
    }

    fn unrecorded<'a>(&'a self, view: &'a View) -> impl Iterator<Item = Assignment> + 'a {
        let recorded = |assignment: &Assignment| {
            let ours = |record: &&ExpiryRecord| record.clock == self.clock.id();
            let mut records = view.expiries.iter().filter(ours);
            records.any(|record| (record.slot, record.token) == *assignment)
        };
        assignments(view).filter(move |assignment| !recorded(assignment))
    }
}

/// Returns the stale slots of a view, with their versions.
pub(crate) fn assignments(view: &View) -> impl Iterator<Item = Assignment> {
    view.stale().map(|(slot, owner)| (slot, owner.version))
}
