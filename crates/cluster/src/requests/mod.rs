//! The requests of the claim protocol, as steps of a [store](crate::store).

mod claims;
mod keys;
mod read;
mod steps;
mod watches;

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use hallpass_algorithms::halls::cluster::{Ask, Was};

use crate::{
    failure::{Failure, StoreError},
    records::{self, Door, ExpiryRecord},
    store::{Activity, History, MAX_PARTS, Op, Place, Step, StepResponse, Store, When},
    view::{ClaimRef, LeaseId, OwnClaim, Owner, Revision, View, Waiter},
};
use keys::{Keys, last};
use watches::{ArrivalWatch, turn_ranges};

pub(crate) use keys::{hall_of_door, reserved_part};
#[cfg(feature = "fuzzing")]
pub(crate) use read::{
    read, read_inside, read_to_leave, read_waiter, step_to_read, with_slot_records,
};
pub(crate) use watches::{TurnChange, TurnWatch};

/// One hall in a store.
pub(crate) struct HallStore {
    /// The name of the hall.
    pub name: String,
    /// The URL of the store, for messages.
    pub url: String,
    store: Arc<dyn Store>,
    history: Arc<History>,
    keys: Keys,
}

impl HallStore {
    /// Returns the hall `name` in a store. The hall does not have to exist.
    pub(crate) fn new(store: Arc<dyn Store>, name: &str, url: String) -> Self {
        let (history, keys) = (store.history(name), Keys::new(store.base(name)));
        HallStore { name: name.into(), url, store, history, keys }
    }

    /// Returns the number of times that this process has noticed that the store lost history.
    pub(crate) fn generation(&self) -> u64 {
        self.history.generation()
    }

    /// Waits until this process has noticed more than `generation` times that the store lost history.
    pub(crate) async fn await_loss(&self, generation: u64) {
        self.history.await_loss(generation).await;
    }

    /// Returns how long ago this process, or an [earlier](HallStore::note_earlier_loss) one, noticed the latest loss of
    /// history; `None` if no loss is known.
    pub(crate) fn since_loss(&self) -> Option<Duration> {
        self.history.since_loss()
    }

    /// Notes that the store lost history before this process started, and how long ago this was noticed.
    pub(crate) fn note_earlier_loss(&self, ago: Duration) {
        self.history.note_earlier_loss(ago);
    }

    /// Returns the identity of the store and the prefix of the hall's keys. Returns `None` until a server has answered,
    /// and if the store has no identity.
    pub(crate) fn identity(&self) -> Option<(u64, String)> {
        Some((self.history.cluster()?, self.store.base(&self.name)))
    }

    /// Fails if the servers belong to different clusters.
    pub(crate) async fn check_servers(&self) -> Result<(), Failure> {
        self.store.check_servers(&self.name).await
    }

    /// Returns where the store is, for messages.
    pub(crate) fn place(&self) -> Place {
        self.store.place()
    }

    /// Notes that an activity begins. It ends when the returned value is dropped.
    pub(crate) fn begin(&self, activity: Activity) -> ActivityGuard {
        self.store.note_activity(activity, true);
        ActivityGuard { store: self.store.clone(), activity }
    }

    /// Makes one attempt at `ask`, on behalf of `own`. The step takes effect only if the records that it
    /// depends on are still as `was` shows them. Returns the hall after the step.
    pub(crate) async fn perform(
        &self,
        ask: Ask<Waiter>,
        own: Option<ClaimRef<'_>>,
        was: &View,
    ) -> Result<View, StoreError> {
        let done = match (ask, own) {
            (Ask::Claim { slot, wait }, Some(own)) => {
                return self.transact(self.claim(slot, wait, own, was), Some(own)).await;
            }
            (Ask::Give { was: Was::Mine, to, .. }, Some(own)) => {
                let Some((slots, mine)) = self.is_mine(own, was) else {
                    return self.view(Some(own)).await;
                };
                let leaving = Op::delete(self.keys.inside(&own.record.id));
                self.depart(self.give(slots, &to, mine, Some(leaving), was), own, was).await
            }
            (Ask::Free { anyway, .. }, Some(own)) => {
                let Some((slots, mine)) = self.is_mine(own, was) else {
                    return self.view(Some(own)).await;
                };
                self.depart(self.free(slots, anyway, mine, own, was), own, was).await
            }
            (Ask::Give { slot, was: Was::Free, to }, own) => {
                let slots = match to.record.take {
                    1 => Some([slot].into_iter().collect()),
                    take => was.free_slots(take),
                };
                let Some(slots) = slots else { return self.view(own).await };
                let free = slots.iter().map(|slot| When::absent(self.keys.slot(slot))).collect();
                self.transact(self.give(slots, &to, free, None, was), own).await
            }
            // The head of the queue needs several slots. First free this one.
            (Ask::Give { slot, was: Was::Stale, to }, own) if to.record.take > 1 => {
                self.free_stale(slot, false, was, own).await
            }
            (Ask::Give { slot, was: Was::Stale, to }, own) => {
                let Some(stale) = self.is_stale(slot, was) else { return self.view(own).await };
                let expiries = Op::delete_range(self.keys.gone_from(slot));
                let slots = [slot].into_iter().collect();
                self.transact(self.give(slots, &to, stale, Some(expiries), was), own).await
            }
            (Ask::Reclaim { slot }, own) => self.free_stale(slot, true, was, own).await,
            (Ask::Withdraw, Some(own)) => {
                let then = vec![Op::delete(self.keys.waiting(&own.record.id))];
                self.transact(Step { then, ..Step::default() }, Some(own)).await
            }
            // The other requests are about a claim. Without a claim, only read the hall.
            (Ask::Look | Ask::Watch, own) | (_, own @ None) => self.view(own).await,
        };
        match done {
            // The waiter that should have got the slot is gone.
            Err(StoreError::Failed(Failure::LeaseGone)) => self.view(own).await,
            done => done,
        }
    }

    /// Reads the hall.
    pub(crate) async fn view(&self, own: Option<ClaimRef<'_>>) -> Result<View, StoreError> {
        self.transact(Step::default(), own).await
    }

    /// Reads the records that a holder needs for leaving, from one member without consensus. This is fast, but the
    /// answer may be outdated.
    pub(crate) async fn local_exit_view(&self, own: ClaimRef<'_>) -> Result<View, StoreError> {
        let ops = read::ops_to_leave(&self.keys, own).into_iter();
        let step = Step { then: ops.map(Op::without_consensus).collect(), ..Step::default() };
        Ok(read::read_to_leave(&self.step(step).await?, &own.record.id)?)
    }

    /// Reads the records that a holder needs for leaving, by consensus. This also proves whether its claim exists.
    pub(crate) async fn exit_view(&self, own: ClaimRef<'_>) -> Result<View, StoreError> {
        let then = read::ops_to_leave(&self.keys, own);
        match self.step(Step { then, ..Step::default() }).await {
            Ok(response) => Ok(read::read_to_leave(&response, &own.record.id)?),
            Err(Failure::NoSpace(_)) => self.claim_alone(own).await,
            Err(failure) => Err(failure.into()),
        }
    }

    /// Reads the hall and the whole queue, in order.
    pub(crate) async fn view_with_queue(&self) -> Result<(View, Vec<Waiter>), StoreError> {
        let step = Step { then: vec![Op::list(self.keys.queue())], ..Step::default() };
        let (view, response) = self.answered(step, None).await?;
        let queue = response.answers.first().map_or(&[][..], |answer| answer.kvs());
        let mut queue = queue.iter().map(read::read_waiter).collect::<Result<Vec<_>, _>>()?;
        queue.sort_unstable_by_key(|waiter| waiter.created);
        Ok((view, queue))
    }

    /// Returns how long ago the holders of the slots renewed their claims. Vanished holders are left out.
    pub(crate) async fn renewal_ages(&self) -> Result<BTreeMap<usize, Duration>, StoreError> {
        let step = Step { then: vec![Op::keys(self.keys.all_inside())], ..Step::default() };
        let (view, response) = self.answered(step, None).await?;
        let claims = response.answers.first().map_or(&[][..], |answer| answer.kvs());
        let leases: HashMap<_, _> = claims.iter().map(|kv| (last(&kv.key), kv.lease)).collect();
        let ages = self.store.renewal_ages(&self.name, leases.values().copied().collect()).await?;
        let age = |owner: &Owner| ages.get(leases.get(&owner.record.id)?).copied();
        Ok(view.slots.iter().filter_map(|(slot, owner)| Some((*slot, age(owner)?))).collect())
    }

    /// Reads the hall, and the id of the claim right before the claim that was created in revision `created`.
    pub(crate) async fn view_with_predecessor(
        &self,
        own: ClaimRef<'_>,
        created: Revision,
    ) -> Result<(View, Option<String>), StoreError> {
        let before = Op::youngest_before(self.keys.queue(), created);
        let step = Step { then: vec![before], ..Step::default() };
        let (view, response) = self.answered(step, Some(own)).await?;
        let before = response.answers.first().and_then(|answer| answer.first());
        Ok((view, before.map(|kv| self.keys.waiting_id(&kv.key))))
    }

    /// Watches the records that concern the waiter `id`, which is behind `predecessor` or at the head of the queue.
    pub(crate) async fn watch_turn(
        &self,
        predecessor: Option<&str>,
        id: &str,
    ) -> Result<TurnWatch, Failure> {
        let ranges = turn_ranges(&self.keys, predecessor, id);
        let watch = self.store.watch(&self.name, ranges).await?;
        Ok(TurnWatch::new(watch, &self.keys, predecessor, id))
    }

    /// Watches arrivals in the queue.
    pub(crate) async fn watch_arrivals(&self) -> Result<ArrivalWatch, Failure> {
        Ok(ArrivalWatch(self.store.watch(&self.name, vec![self.keys.queue()]).await?))
    }

    /// Creates the hall, if there is none.
    pub(crate) async fn create(&self, door: Door) -> Result<View, StoreError> {
        let when = vec![When::absent(self.keys.door())];
        let then = vec![self.put_door(door)];
        self.transact(Step { when, then, ..Step::default() }, None).await
    }

    /// Writes the door, if it is unchanged since `was`.
    pub(crate) async fn change_door(&self, door: Door, was: &View) -> Result<View, StoreError> {
        let when = vec![self.same_door(was)];
        let then = vec![self.put_door(door)];
        self.transact(Step { when, then, ..Step::default() }, None).await
    }

    /// Frees a stale slot. If `alone` is set, frees it only while nobody waits. Otherwise wakes all waiters.
    pub(crate) async fn free_stale(
        &self,
        slot: usize,
        alone: bool,
        was: &View,
        own: Option<ClaimRef<'_>>,
    ) -> Result<View, StoreError> {
        let Some(mut when) = self.is_stale(slot, was) else { return self.view(own).await };
        when.push(self.same_door(was));
        when.extend(alone.then(|| When::empty(self.keys.queue())));
        let expiries = Op::delete_range(self.keys.gone_from(slot));
        let mut then = vec![Op::delete(self.keys.slot(slot)), expiries];
        then.extend((!alone).then(|| self.wake_all()));
        self.transact(Step { when, then, ..Step::default() }, own).await
    }

    /// Takes all slots away from the holder of `slot`, if they still have the versions that they had in `was`, and
    /// wakes all waiters.
    pub(crate) async fn evict(&self, slot: usize, was: &View) -> Result<View, StoreError> {
        let Some(owner) = was.slots.get(&slot) else { return self.view(None).await };
        let id = &owner.record.id;
        let (mut when, mut then) = (Vec::new(), vec![Op::delete(self.keys.inside(id))]);
        for (&slot, owner) in was.slots.iter().filter(|(_, owner)| owner.record.id == *id) {
            when.push(When::modified(self.keys.slot(slot), owner.version));
            then.push(Op::delete(self.keys.slot(slot)));
            then.push(Op::delete_range(self.keys.gone_from(slot)));
        }
        then.push(self.wake_all());
        self.transact(Step { when, then, ..Step::default() }, None).await
    }

    /// Records that a slot is stale, if it is still stale and no process with the same clock has recorded this.
    pub(crate) async fn record_expiry(
        &self,
        expiry: &ExpiryRecord,
        was: &View,
    ) -> Result<View, StoreError> {
        let Some(mut when) = self.is_stale(expiry.slot, was) else { return self.view(None).await };
        let key = self.keys.gone(expiry.slot, expiry.token, &expiry.clock);
        when.push(When::absent(key.clone()));
        let then = vec![Op::put(key, records::write(expiry), 0)];
        self.transact(Step { when, then, ..Step::default() }, None).await
    }

    /// Returns the revision in which the door was last written, whatever its contents; `None` if there is no
    /// door.
    pub(crate) async fn door_revision(&self) -> Result<Option<Revision>, StoreError> {
        let look = Step { then: vec![Op::get(self.keys.door())], ..Step::default() };
        let response = self.step(look).await?;
        Ok(response.answers.first().and_then(|door| door.first()).map(|kv| kv.mod_revision))
    }

    /// Removes the hall whose door has this revision. Without `force`, removes it only if there are no holders and
    /// no waiters. With `force`, the slot records stay, so that a new hall of the same name does not assign these
    /// slots before the deadlines of their old holders. With `all`, the slot records are also removed. Returns
    /// `true` if the hall is gone.
    pub(crate) async fn remove(
        &self,
        door: Revision,
        force: bool,
        all: bool,
    ) -> Result<bool, StoreError> {
        let in_use = [self.keys.queue(), self.keys.all_inside(), self.keys.slots()];
        // A request that arrives late must not remove a hall that was created in the meantime.
        let mut when = vec![When::modified(self.keys.door(), door)];
        when.extend((!force).then(|| in_use.map(When::empty)).into_iter().flatten());
        let slots = self.keys.slots();
        let but_slots = self.keys.everything().into_iter().filter(|range| *range != slots);
        let then = match force && !all {
            true => but_slots.map(Op::delete_range).collect(),
            false => self.keys.everything().map(Op::delete_range).into(),
        };
        let otherwise = vec![Op::get(self.keys.door())];
        let response = self.step(Step { when, then, otherwise }).await?;
        Ok(response.succeeded || response.answers.iter().all(|door| door.first().is_none()))
    }

    /// Asks the store for a new lease for records of this hall.
    pub(crate) async fn grant_lease(&self, ttl: Duration) -> Result<LeaseId, Failure> {
        self.store.grant(&self.name, ttl).await
    }

    /// Renews a lease. Returns `false` if the lease no longer exists.
    pub(crate) async fn keep_lease_alive(&self, lease: LeaseId) -> Result<bool, Failure> {
        self.store.keep_alive(&self.name, lease).await
    }

    /// Ends a lease. If there is no answer or the store is busy, tries a second time. Returns whether the lease has
    /// certainly ended.
    pub(crate) async fn revoke_lease(&self, lease: LeaseId) -> bool {
        let revoke = || self.store.revoke(&self.name, lease);
        match revoke().await {
            Err(Failure::Unreachable(_) | Failure::Busy(_)) => revoke().await.is_ok(),
            revoked => revoked.is_ok(),
        }
    }

    async fn step(&self, step: Step) -> Result<StepResponse, Failure> {
        debug_assert!(step.parts() <= MAX_PARTS, "{step:?}");
        self.store.step(&self.name, step).await
    }

    /// Performs a step and reads the hall after it.
    async fn transact(&self, step: Step, own: Option<ClaimRef<'_>>) -> Result<View, StoreError> {
        Ok(self.answered(step, own).await?.0)
    }

    /// Performs a step that ends a passage. If it succeeds, there is nothing left to read.
    async fn depart(
        &self,
        mut step: Step,
        own: ClaimRef<'_>,
        was: &View,
    ) -> Result<View, StoreError> {
        let look = read::ops(&self.keys, Some(&own.record.id));
        step.otherwise.extend(look.iter().cloned());
        let response = self.step(step).await?;
        match response.succeeded {
            true => Ok(View { own: OwnClaim::Released, ..was.clone() }),
            false => Ok(read::read(&response, look.len(), Some(&own.record.id))?),
        }
    }

    async fn answered(
        &self,
        mut step: Step,
        own: Option<ClaimRef<'_>>,
    ) -> Result<(View, StepResponse), StoreError> {
        let id = own.map(|own| own.record.id.as_str());
        let look = read::ops(&self.keys, id);
        step.then.extend(look.iter().cloned());
        if !step.when.is_empty() {
            step.otherwise.extend(look.iter().cloned());
        }
        let response = self.step(step).await?;
        let view = read::read(&response, look.len(), id)?;
        Ok((view, response))
    }
}

/// An activity of this process. It ends when this value is dropped.
pub(crate) struct ActivityGuard {
    store: Arc<dyn Store>,
    activity: Activity,
}

impl Drop for ActivityGuard {
    fn drop(&mut self) {
        self.store.note_activity(self.activity, false);
    }
}
