//! The requests of the claim protocol, as transactions of etcd.

use std::time::Duration;

use hallpass_algorithms::halls::cluster::{Ask, Was};

use super::{
    client::{Client, Op, Txn, TxnResponse, When},
    keys::Keys,
    view,
    watches::{ArrivalWatch, TurnWatch, turn_ranges},
};
use crate::{
    failure::{Failure, StoreError},
    records::{self, Door, ExpiryRecord},
    view::{ClaimRef, LeaseId, OwnClaim, Revision, View, Waiter},
};

/// One hall in etcd.
pub(crate) struct EtcdStore {
    /// The name of the hall.
    pub name: String,
    /// The URL of the cluster, for messages.
    pub url: String,
    client: Client,
    keys: Keys,
}

#[cfg(test)]
mod tests;
mod transactions;

impl EtcdStore {
    pub(crate) fn new(client: Client, prefix: &str, name: &str, url: String) -> Self {
        EtcdStore { name: name.into(), url, client, keys: Keys::new(prefix, name) }
    }

    /// Returns how often this client has noticed that the store lost history.
    pub(crate) fn generation(&self) -> u64 {
        self.client.generation()
    }

    /// Waits until this client has noticed more than `generation` times that the store lost history.
    pub(crate) async fn await_loss(&self, generation: u64) {
        self.client.await_loss(generation).await;
    }

    /// Returns how long ago this client noticed that the store lost history; `None` if it never did.
    pub(crate) fn since_loss(&self) -> Option<Duration> {
        self.client.since_loss()
    }

    /// Fails if the members belong to different clusters.
    pub(crate) async fn check_members(&self) -> Result<(), Failure> {
        self.client.check_members(self.keys.door()).await
    }

    /// Returns the addresses of the members, for messages.
    pub(crate) fn endpoints(&self) -> String {
        self.client.endpoints()
    }

    /// Makes one attempt at `ask`, on behalf of `own`. The transaction takes effect only if the records that it
    /// depends on are still as `was` shows them. Returns the hall after the transaction.
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
            (Ask::Give { slot, was: Was::Mine, to }, Some(own)) => {
                let Some(mine) = self.is_mine(slot, own, was) else {
                    return self.view(Some(own)).await;
                };
                let leaving = Op::delete(self.keys.inside(&own.record.id));
                self.depart(self.give(slot, &to, mine, Some(leaving), was), own, was).await
            }
            (Ask::Free { slot, anyway }, Some(own)) => {
                let Some(mine) = self.is_mine(slot, own, was) else {
                    return self.view(Some(own)).await;
                };
                self.depart(self.free(slot, anyway, mine, own, was), own, was).await
            }
            (Ask::Give { slot, was: Was::Free, to }, own) => {
                let free = vec![When::absent(self.keys.slot(slot))];
                self.transact(self.give(slot, &to, free, None, was), own).await
            }
            (Ask::Give { slot, was: Was::Stale, to }, own) => {
                let Some(stale) = self.is_stale(slot, was) else { return self.view(own).await };
                let expiries = Op::delete_range(self.keys.gone_from(slot));
                self.transact(self.give(slot, &to, stale, Some(expiries), was), own).await
            }
            (Ask::Reclaim { slot }, own) => self.free_stale(slot, true, was, own).await,
            (Ask::Withdraw, Some(own)) => {
                let then = vec![Op::delete(self.keys.waiting(&own.record.id))];
                self.transact(Txn { then, ..Txn::default() }, Some(own)).await
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
        self.transact(Txn::default(), own).await
    }

    /// Reads the records that a holder needs to leave, from one member without consensus. This is fast, but the
    /// answer may be outdated.
    pub(crate) async fn local_exit_view(&self, own: ClaimRef<'_>) -> Result<View, StoreError> {
        let ops = view::ops_to_leave(&self.keys, own).into_iter();
        let txn = Txn { then: ops.map(Op::without_consensus).collect(), ..Txn::default() };
        Ok(view::read_to_leave(&self.client.txn(txn).await?, &own.record.id)?)
    }

    /// Reads the records that a holder needs to leave, by consensus. This also proves whether its claim exists.
    pub(crate) async fn exit_view(&self, own: ClaimRef<'_>) -> Result<View, StoreError> {
        let then = view::ops_to_leave(&self.keys, own);
        match self.client.txn(Txn { then, ..Txn::default() }).await {
            Ok(response) => Ok(view::read_to_leave(&response, &own.record.id)?),
            Err(Failure::NoSpace(_)) => self.claim_alone(own).await,
            Err(failure) => Err(failure.into()),
        }
    }

    /// Reads the state of a claim, without a transaction. The view shows nothing else.
    async fn claim_alone(&self, own: ClaimRef<'_>) -> Result<View, StoreError> {
        let id = &own.record.id;
        // The order of these reads matters. If the claim is not in the queue, the second read shows whether it has
        // a slot or is gone.
        let waiting = self.client.read(self.keys.waiting(id)).await?;
        let inside = self.client.read(self.keys.inside(id)).await?;
        let (revision, generation) = (inside.revision, inside.generation);
        let mut claim = match (&inside.kv, &waiting.kv) {
            (Some(kv), _) => view::read_inside(kv)?,
            (None, Some(kv)) => OwnClaim::Waiting { made: kv.create_revision },
            (None, None) => OwnClaim::Outside,
        };
        if let OwnClaim::Inside { slot, .. } = claim {
            let slot = self.client.read(self.keys.slot(slot)).await?;
            claim = view::with_slot_record(claim, slot.kv.as_ref(), id)?;
        }
        Ok(View::of_claim(claim, revision, generation))
    }

    /// Makes a claim again after its lease has ended, while its slot is still assigned to it. Returns the records
    /// that a holder needs to leave.
    pub(crate) async fn attach(
        &self,
        own: ClaimRef<'_>,
        hall: Revision,
        was: OwnClaim,
    ) -> Result<View, StoreError> {
        let OwnClaim::Detached { slot, version, token } = was else {
            return self.exit_view(own).await;
        };
        let txn = self.attachment(own, hall, (slot, version), token);
        self.client.txn(txn).await?;
        self.exit_view(own).await
    }

    /// Reads the hall and the whole queue, in order.
    pub(crate) async fn view_with_queue(&self) -> Result<(View, Vec<Waiter>), StoreError> {
        let txn = Txn { then: vec![Op::list(self.keys.queue())], ..Txn::default() };
        let (view, response) = self.answered(txn, None).await?;
        let queue = response.answers.first().map_or(&[][..], |answer| answer.kvs());
        let mut queue = queue.iter().map(view::read_waiter).collect::<Result<Vec<_>, _>>()?;
        queue.sort_unstable_by_key(|waiter| waiter.made);
        Ok((view, queue))
    }

    /// Reads the hall, and the id of the claim right before the claim that was made in revision `made`.
    pub(crate) async fn view_with_predecessor(
        &self,
        own: ClaimRef<'_>,
        made: Revision,
    ) -> Result<(View, Option<String>), StoreError> {
        let before = Op::youngest_before(self.keys.queue(), made);
        let txn = Txn { then: vec![before], ..Txn::default() };
        let (view, response) = self.answered(txn, Some(own)).await?;
        let before = response.answers.first().and_then(|answer| answer.first());
        Ok((view, before.map(|kv| self.keys.waiting_id(&kv.key))))
    }

    /// Watches the records that concern the waiter `id`, which is behind `predecessor` or at the head of the queue.
    pub(crate) async fn watch_turn(
        &self,
        predecessor: Option<&str>,
        id: &str,
    ) -> Result<TurnWatch, Failure> {
        let watch = self.client.watch(turn_ranges(&self.keys, predecessor, id)).await?;
        Ok(TurnWatch::new(watch, &self.keys, predecessor, id))
    }

    /// Watches arrivals in the queue.
    pub(crate) async fn watch_arrivals(&self) -> Result<ArrivalWatch, Failure> {
        Ok(ArrivalWatch(self.client.watch(vec![self.keys.queue()]).await?))
    }

    /// Creates the hall, if there is none.
    pub(crate) async fn create(&self, door: Door) -> Result<View, StoreError> {
        let when = vec![When::absent(self.keys.door())];
        let then = vec![self.put_door(door)];
        self.transact(Txn { when, then, ..Txn::default() }, None).await
    }

    /// Writes the door, if it is unchanged since `was`.
    pub(crate) async fn change_door(&self, door: Door, was: &View) -> Result<View, StoreError> {
        let when = vec![self.same_door(was)];
        let then = vec![self.put_door(door)];
        self.transact(Txn { when, then, ..Txn::default() }, None).await
    }

    /// Frees a stale slot. `counts` says whether the slot is below the size of the hall. If so, this frees the
    /// slot only while nobody waits.
    pub(crate) async fn free_stale(
        &self,
        slot: usize,
        counts: bool,
        was: &View,
        own: Option<ClaimRef<'_>>,
    ) -> Result<View, StoreError> {
        let Some(mut when) = self.is_stale(slot, was) else { return self.view(own).await };
        when.push(self.same_door(was));
        when.extend(counts.then(|| When::empty(self.keys.queue())));
        let expiries = Op::delete_range(self.keys.gone_from(slot));
        let then = vec![Op::delete(self.keys.slot(slot)), expiries];
        self.transact(Txn { when, then, ..Txn::default() }, own).await
    }

    /// Takes a slot away from its holder, if it still has this version, and wakes all waiters.
    pub(crate) async fn evict(&self, slot: usize, was: &View) -> Result<View, StoreError> {
        let Some(owner) = was.slots.get(&slot) else { return self.view(None).await };
        let when = vec![When::modified(self.keys.slot(slot), owner.version)];
        let taken = [self.keys.slot(slot), self.keys.inside(&owner.record.id)];
        let mut then: Vec<_> = taken.map(Op::delete).into();
        then.extend([Op::delete_range(self.keys.gone_from(slot)), self.wake_all()]);
        self.transact(Txn { when, then, ..Txn::default() }, None).await
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
        self.transact(Txn { when, then, ..Txn::default() }, None).await
    }

    /// Returns the revision in which the door was last written, whatever its contents; `None` if there is no
    /// door.
    pub(crate) async fn door_revision(&self) -> Result<Option<Revision>, StoreError> {
        let look = Txn { then: vec![Op::get(self.keys.door())], ..Txn::default() };
        let response = self.client.txn(look).await?;
        Ok(response.answers.first().and_then(|door| door.first()).map(|kv| kv.mod_revision))
    }

    /// Removes the hall whose door has this revision. Without `force`, removes it only if there are no holders and
    /// no waiters. With `force`, the slot records stay, so that a new hall of the same name does not assign these
    /// slots before the deadlines of their old holders. With `all`, the slot records are removed too. Returns
    /// whether the hall is gone.
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
        let response = self.client.txn(Txn { when, then, otherwise }).await?;
        Ok(response.succeeded || response.answers.iter().all(|door| door.first().is_none()))
    }

    /// Grants a lease. etcd counts its time in whole seconds.
    pub(crate) async fn grant_lease(&self, ttl: Duration) -> Result<LeaseId, Failure> {
        Ok(self.client.grant(ttl.as_millis().div_ceil(1000) as i64).await?.id)
    }

    /// Renews a lease. Returns `false` if the lease no longer exists.
    pub(crate) async fn keep_lease_alive(&self, lease: LeaseId) -> Result<bool, Failure> {
        self.client.keep_alive(lease).await
    }

    /// Ends a lease, with a second attempt if the first gets no answer. Returns whether the lease has certainly
    /// ended.
    pub(crate) async fn revoke_lease(&self, lease: LeaseId) -> bool {
        match self.client.revoke(lease).await {
            Err(Failure::Unreachable(_)) => self.client.revoke(lease).await.is_ok(),
            revoked => revoked.is_ok(),
        }
    }

    /// Performs a transaction and reads the hall after it.
    async fn transact(&self, txn: Txn, own: Option<ClaimRef<'_>>) -> Result<View, StoreError> {
        Ok(self.answered(txn, own).await?.0)
    }

    /// Performs a transaction that ends a passage. If it succeeds, there is nothing left to read.
    async fn depart(
        &self,
        mut txn: Txn,
        own: ClaimRef<'_>,
        was: &View,
    ) -> Result<View, StoreError> {
        let look = view::ops(&self.keys, Some(&own.record.id));
        txn.otherwise.extend(look.iter().cloned());
        let response = self.client.txn(txn).await?;
        match response.succeeded {
            true => Ok(View { own: OwnClaim::Released, ..was.clone() }),
            false => Ok(view::read(&response, look.len(), Some(&own.record.id))?),
        }
    }

    async fn answered(
        &self,
        mut txn: Txn,
        own: Option<ClaimRef<'_>>,
    ) -> Result<(View, TxnResponse), StoreError> {
        let id = own.map(|own| own.record.id.as_str());
        let look = view::ops(&self.keys, id);
        txn.then.extend(look.iter().cloned());
        if !txn.when.is_empty() {
            txn.otherwise.extend(look.iter().cloned());
        }
        let response = self.client.txn(txn).await?;
        let view = view::read(&response, look.len(), id)?;
        Ok((view, response))
    }
}
