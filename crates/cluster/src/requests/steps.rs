//! The steps of a hall, and the conditions on which they take effect.

use super::HallStore;
use crate::{
    records::{self, ClaimRecord, Door},
    slot_set::SlotSet,
    store::{MAX_PARTS, Op, Step, When},
    view::{ClaimRef, LeaseId, OwnClaim, Revision, View, Waiter},
};

/// To get the smallest free slot, a claim checks that the slots right below the slot that it asks for are taken. This
/// is the largest number of slots that it checks. Each of them needs one condition. The remaining conditions of the
/// step are for other checks.
const MAX_CHECKED: usize = MAX_PARTS - 28;

impl HallStore {
    /// Takes slots for the claim `own` if they are free and the queue is empty. Otherwise joins the queue if `wait` is
    /// set.
    pub(super) fn claim(&self, slot: usize, wait: bool, own: ClaimRef<'_>, was: &View) -> Step {
        let id = &own.record.id;
        let Some(door) = was.door else { return Step::default() };
        // A request that arrives late must not create a claim in a hall that was created in the meantime.
        let same_hall = || When::created(self.keys.door(), door.created);
        let absent = || [self.keys.waiting(id), self.keys.inside(id)].map(When::absent);
        let new = || absent().into_iter().chain([same_hall()]).collect::<Vec<_>>();
        let mut when = new();
        when.extend([self.same_door(was), When::empty(self.keys.queue())]);
        let slots = match own.record.take {
            1 => Some([slot].into_iter().collect()),
            take => was.free_slots(take),
        };
        when.extend(
            slots
                .into_iter()
                .flat_map(SlotSet::iter)
                .map(|slot| When::absent(self.keys.slot(slot))),
        );
        if own.record.take == 1 {
            let below = slot.saturating_sub(MAX_CHECKED)..slot;
            when.extend(below.map(|smaller| When::present(self.keys.slot(smaller))));
        }
        let put = Op::put(self.keys.waiting(id), records::write(own.record), own.lease);
        let join = Step { when: new(), then: vec![put], ..Step::default() };
        let otherwise = if wait { vec![Op::nested(join)] } else { vec![] };
        let Some(slots) = slots.filter(|slots| slots.iter().all(|slot| slot < was.size())) else {
            // In this view the hall has no such slot, or too few free slots. So the claim can only join the queue.
            return Step { then: otherwise, ..Step::default() };
        };
        Step { when, then: self.assign(slots, own.record, own.lease, was), otherwise }
    }

    /// Gives slots to a waiter if `conditions` hold, and performs the operation `besides` in the same step.
    pub(super) fn give(
        &self,
        slots: SlotSet,
        to: &Waiter,
        conditions: Vec<When>,
        besides: Option<Op>,
        was: &View,
    ) -> Step {
        let waiting = self.keys.waiting(&to.record.id);
        let mut when = conditions;
        when.extend([self.same_door(was), When::created(waiting.clone(), to.created)]);
        let mut then = self.assign(slots, &to.record, to.lease, was);
        then.push(Op::delete(waiting));
        then.extend(besides);
        Step { when, then, ..Step::default() }
    }

    /// Frees the slots of a claim if `conditions` hold. Without `anyway`, the queue must also be empty. With `anyway`,
    /// wakes all waiters, unless the hall has become too small for these slots.
    pub(super) fn free(
        &self,
        slots: SlotSet,
        anyway: bool,
        conditions: Vec<When>,
        own: ClaimRef<'_>,
        was: &View,
    ) -> Step {
        let mut when = conditions;
        when.extend((!anyway).then(|| When::empty(self.keys.queue())));
        let mine = slots.iter().map(|slot| self.keys.slot(slot));
        let mine = mine.chain([self.keys.inside(&own.record.id)]);
        let mut then: Vec<_> = mine.map(Op::delete).collect();
        if anyway && slots.iter().any(|slot| slot < was.size()) {
            then.push(self.wake_all());
        }
        Step { when, then, ..Step::default() }
    }

    /// Returns the operations that assign slots to a claim. They are valid only if the door is still the same: the
    /// caller adds this condition.
    fn assign(&self, slots: SlotSet, record: &ClaimRecord, lease: LeaseId, was: &View) -> Vec<Op> {
        let inside = records::write(&record.inside(slots, was.epoch()));
        let slots = slots.iter().map(|slot| Op::put(self.keys.slot(slot), inside.clone(), 0));
        [Op::put(self.keys.inside(&record.id), inside.clone(), lease)]
            .into_iter()
            .chain(slots)
            .collect()
    }

    pub(super) fn same_door(&self, was: &View) -> When {
        match was.door {
            Some(door) => When::modified(self.keys.door(), door.modified),
            None => When::absent(self.keys.door()),
        }
    }

    /// Returns the slots of the claim `own`, and the conditions under which these slots still belong to the claim.
    /// Returns `None` if the claim had no slots in `was`. The version of a slot alone is not enough, because a cluster
    /// that lost its history repeats revisions.
    pub(super) fn is_mine(&self, own: ClaimRef<'_>, was: &View) -> Option<(SlotSet, Vec<When>)> {
        let OwnClaim::Inside { slots, version, .. } = was.own else { return None };
        let keys = slots.iter().map(|slot| self.keys.slot(slot));
        let keys = keys.chain([self.keys.inside(&own.record.id)]);
        Some((slots, keys.map(|key| When::modified(key, version)).collect()))
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

    /// Creates the claim `own` again, with this record, if the hall and the slots of the claim are still the same.
    /// `hall` is the revision in which the hall was created, and `version` is the revision in which the slots were
    /// assigned.
    pub(super) fn attachment(
        &self,
        own: ClaimRef<'_>,
        hall: Revision,
        (slots, version): (SlotSet, Revision),
        record: &ClaimRecord,
    ) -> Step {
        let inside = self.keys.inside(&own.record.id);
        // The hall must be the same, because a removed hall keeps its slot records.
        let mut when = vec![When::created(self.keys.door(), hall), When::absent(inside.clone())];
        let record = records::write(record);
        let mut then = vec![Op::put(inside, record.clone(), own.lease)];
        for slot in slots.iter() {
            when.push(When::modified(self.keys.slot(slot), version));
            // Also write the record of the slot. This gives the slot a new version. So if the claim disappears again,
            // other processes count the time from that moment.
            then.push(Op::put(self.keys.slot(slot), record.clone(), 0));
            then.push(Op::delete_range(self.keys.gone_from(slot)));
        }
        Step { when, then, ..Step::default() }
    }

    /// Writes the door again, unchanged, if it exists. All waiters watch the door, and read the hall when it is
    /// written.
    pub(super) fn wake_all(&self) -> Op {
        let there = vec![When::present(self.keys.door())];
        let touch = vec![Op::touch(self.keys.door())];
        Op::nested(Step { when: there, then: touch, ..Step::default() })
    }
}
