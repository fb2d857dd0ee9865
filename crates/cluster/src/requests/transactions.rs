//! The transactions of a hall, and the conditions on which they take effect.

use super::HallStore;
use crate::{
    records::{self, ClaimRecord, Door},
    store::{Op, Txn, When},
    view::{ClaimRef, LeaseId, OwnClaim, Revision, View, Waiter},
};

/// etcd allows 128 conditions in a transaction.
const MAX_CONDITIONS: usize = 100;

impl HallStore {
    pub(super) fn claim(&self, slot: usize, wait: bool, own: ClaimRef<'_>, was: &View) -> Txn {
        let id = &own.record.id;
        let Some(door) = was.door else { return Txn::default() };
        // A request that arrives late must not create a claim in a hall that was created in the meantime.
        let same_hall = || When::created(self.keys.door(), door.created);
        let absent = || [self.keys.waiting(id), self.keys.inside(id)].map(When::absent);
        let new = || absent().into_iter().chain([same_hall()]).collect::<Vec<_>>();
        let mut when = new();
        when.extend([self.same_door(was), When::empty(self.keys.queue())]);
        when.push(When::absent(self.keys.slot(slot)));
        let below = slot.saturating_sub(MAX_CONDITIONS)..slot;
        when.extend(below.map(|smaller| When::present(self.keys.slot(smaller))));
        let put = Op::put(self.keys.waiting(id), records::write(own.record), own.lease);
        let join = Txn { when: new(), then: vec![put], ..Txn::default() };
        let otherwise = if wait { vec![Op::nested(join)] } else { vec![] };
        if slot >= was.size() {
            // In this view the hall has no such slot, so the claim can only join the queue.
            return Txn { then: otherwise, ..Txn::default() };
        }
        Txn { when, then: self.assign(slot, own.record, own.lease, was), otherwise }
    }

    /// Gives a slot to a waiter if `conditions` hold. In this case, also performs the operation `besides`.
    pub(super) fn give(
        &self,
        slot: usize,
        to: &Waiter,
        conditions: Vec<When>,
        besides: Option<Op>,
        was: &View,
    ) -> Txn {
        let waiting = self.keys.waiting(&to.record.id);
        let mut when = conditions;
        when.extend([self.same_door(was), When::created(waiting.clone(), to.created)]);
        let mut then = self.assign(slot, &to.record, to.lease, was);
        then.push(Op::delete(waiting));
        then.extend(besides);
        Txn { when, then, ..Txn::default() }
    }

    /// Frees a slot if `conditions` hold.
    pub(super) fn free(
        &self,
        slot: usize,
        anyway: bool,
        conditions: Vec<When>,
        own: ClaimRef<'_>,
        was: &View,
    ) -> Txn {
        let mut when = conditions;
        when.extend((!anyway).then(|| When::empty(self.keys.queue())));
        let mine = [self.keys.slot(slot), self.keys.inside(&own.record.id)];
        let mut then: Vec<_> = mine.map(Op::delete).into();
        if anyway && slot < was.size() {
            then.push(self.wake_all());
        }
        Txn { when, then, ..Txn::default() }
    }

    /// Assigns a slot to a claim, if the door is still the same.
    fn assign(&self, slot: usize, record: &ClaimRecord, lease: LeaseId, was: &View) -> Vec<Op> {
        let inside = records::write(&record.inside(slot, was.epoch()));
        vec![
            Op::put(self.keys.inside(&record.id), inside.clone(), lease),
            Op::put(self.keys.slot(slot), inside, 0),
        ]
    }

    pub(super) fn same_door(&self, was: &View) -> When {
        match was.door {
            Some(door) => When::modified(self.keys.door(), door.modified),
            None => When::absent(self.keys.door()),
        }
    }

    /// Returns the conditions that the slot still belongs to `own`, or `None` if it did not belong to it in `was`.
    /// The version alone is not enough, because a cluster that lost its history repeats revisions.
    pub(super) fn is_mine(&self, slot: usize, own: ClaimRef<'_>, was: &View) -> Option<Vec<When>> {
        match was.own {
            OwnClaim::Inside { version, .. } => Some(vec![
                When::modified(self.keys.slot(slot), version),
                When::modified(self.keys.inside(&own.record.id), version),
            ]),
            _ => None,
        }
    }

    /// Returns the conditions that the slot is still stale, or `None` if the slot was not assigned in `was`.
    pub(super) fn is_stale(&self, slot: usize, was: &View) -> Option<Vec<When>> {
        let owner = was.slots.get(&slot)?;
        Some(vec![
            When::modified(self.keys.slot(slot), owner.version),
            When::absent(self.keys.inside(&owner.record.id)),
        ])
    }

    pub(super) fn put_door(&self, door: Door) -> Op {
        Op::put(self.keys.door(), records::write(&door), 0)
    }

    /// Creates a claim again, with this record and this slot in this version, if the hall and the slot are still the
    /// same.
    pub(super) fn attachment(
        &self,
        own: ClaimRef<'_>,
        hall: Revision,
        (slot, version): (usize, Revision),
        record: &ClaimRecord,
    ) -> Txn {
        let (slot_key, inside) = (self.keys.slot(slot), self.keys.inside(&own.record.id));
        // The hall must be the same, because a removed hall keeps its slot records.
        let when = vec![
            When::created(self.keys.door(), hall),
            When::modified(slot_key.clone(), version),
            When::absent(inside.clone()),
        ];
        let record = records::write(record);
        // Also write the record of the slot. So if the claim is gone once more, other processes start to count the time
        // anew.
        let then = vec![
            Op::put(inside, record.clone(), own.lease),
            Op::put(slot_key, record, 0),
            Op::delete_range(self.keys.gone_from(slot)),
        ];
        Txn { when, then, ..Txn::default() }
    }

    /// Writes the door again, unchanged, if it exists. All waiters watch the door, and read the hall when it is written.
    pub(super) fn wake_all(&self) -> Op {
        let there = vec![When::present(self.keys.door())];
        let touch = vec![Op::touch(self.keys.door())];
        Op::nested(Txn { when: there, then: touch, ..Txn::default() })
    }
}
