//! What the lines of the claim protocol ask for, as transactions of etcd.

use hallpass_algorithms::halls::cluster::{Ask, Was};

use crate::{
    Error,
    client::{Client, Failure, KeyRange, Op, Txn, TxnResponse, When},
    keys::Keys,
    records::{self, Claim, Door, Gone},
    view::{Me, View, Waiter},
};

/// A hall in etcd.
pub(crate) struct Store {
    pub name: String,
    /// Where it is, for people.
    pub place: String,
    pub client: Client,
    pub keys: Keys,
}

/// Who asks.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub claim: &'a Claim,
    pub lease: i64,
}

/// Why a transaction did not work.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It can be asked again.
    Failed(Failure),
    /// It cannot.
    Wrong(Error),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Failed(failure)
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Wrong(error)
    }
}

/// etcd allows 128 conditions in a transaction.
const MAX_CONDITIONS: usize = 100;

impl Store {
    /// Asks once, in view of how things were.
    pub(crate) async fn perform(
        &self,
        ask: Ask<Waiter>,
        me: Option<Asker<'_>>,
        was: &View,
    ) -> Result<View, Trouble> {
        let done = match (ask, me) {
            (Ask::Claim { slot, wait }, Some(me)) => {
                return self.transact(self.claim(slot, wait, me, was), Some(me)).await;
            }
            (Ask::Give { slot, was: Was::Mine, to }, Some(me)) => {
                let Some(mine) = self.is_mine(slot, was) else { return self.look(Some(me)).await };
                let leaving = Op::delete(self.keys.inside(&me.claim.claim));
                self.depart(self.give(slot, &to, mine, Some(leaving), was), me, was).await
            }
            (Ask::Free { slot, anyway }, Some(me)) => {
                let Some(mine) = self.is_mine(slot, was) else { return self.look(Some(me)).await };
                self.depart(self.free(slot, anyway, mine, me, was), me, was).await
            }
            (Ask::Give { slot, was: Was::Free, to }, me) => {
                let free = vec![When::absent(self.keys.slot(slot))];
                self.transact(self.give(slot, &to, free, None, was), me).await
            }
            (Ask::Give { slot, was: Was::Stale, to }, me) => {
                let Some(stale) = self.is_stale(slot, was) else { return self.look(me).await };
                let mourned = Op::delete_range(self.keys.gone_from(slot));
                self.transact(self.give(slot, &to, stale, Some(mourned), was), me).await
            }
            (Ask::Withdraw, Some(me)) => {
                let then = vec![Op::delete(self.keys.waiting(&me.claim.claim))];
                self.transact(Txn { then, ..Txn::default() }, Some(me)).await
            }
            // Whoever has no claim has nothing to ask for it.
            (Ask::Look | Ask::Watch, me) | (_, me @ None) => self.look(me).await,
        };
        match done {
            // The one that was to get the slot has gone.
            Err(Trouble::Failed(Failure::LeaseGone)) => self.look(me).await,
            done => done,
        }
    }

    /// Looks.
    pub(crate) async fn look(&self, me: Option<Asker<'_>>) -> Result<View, Trouble> {
        self.transact(Txn::default(), me).await
    }

    /// As much as one needs to leave, as it is or was: the member tells that is asked.
    pub(crate) async fn look_back(&self, me: Asker<'_>) -> Result<View, Trouble> {
        let ops = View::ops_to_leave(&self.keys, &me.claim.claim).into_iter();
        let txn = Txn { then: ops.map(Op::of_the_past).collect(), ..Txn::default() };
        Ok(View::read_to_leave(&self.client.txn(txn).await?)?)
    }

    /// As much as one needs to leave, as it is: and so, whether our claim is there.
    pub(crate) async fn look_after(&self, me: Asker<'_>) -> Result<View, Trouble> {
        let then = View::ops_to_leave(&self.keys, &me.claim.claim);
        let response = self.client.txn(Txn { then, ..Txn::default() }).await?;
        Ok(View::read_to_leave(&response)?)
    }

    /// Looks, and at all who wait, in their order.
    pub(crate) async fn everybody(&self) -> Result<(View, Vec<Waiter>), Trouble> {
        let txn = Txn { then: vec![Op::list(self.keys.queue())], ..Txn::default() };
        let (view, response) = self.answered(txn, None).await?;
        let queue = response.answers.first().map_or(&[][..], |answer| answer.kvs());
        let mut queue = queue.iter().map(Waiter::read).collect::<Result<Vec<_>, _>>()?;
        queue.sort_unstable_by_key(|waiter| waiter.made);
        Ok((view, queue))
    }

    /// Makes the door, if there is none.
    pub(crate) async fn make(&self, slots: usize) -> Result<View, Trouble> {
        let when = vec![When::absent(self.keys.door())];
        let then = vec![self.put_door(Door::with(slots))];
        self.transact(Txn { when, then, ..Txn::default() }, None).await
    }

    /// Changes the door, if it still is what it was.
    pub(crate) async fn change(&self, door: Door, was: &View) -> Result<View, Trouble> {
        let when = vec![self.same_door(was)];
        let then = vec![self.put_door(door)];
        self.transact(Txn { when, then, ..Txn::default() }, None).await
    }

    /// Removes the record of a stale slot, if nobody waits for it or it is none of those that count.
    pub(crate) async fn strike(
        &self,
        slot: usize,
        counts: bool,
        was: &View,
    ) -> Result<View, Trouble> {
        let Some(mut when) = self.is_stale(slot, was) else { return self.look(None).await };
        when.push(self.same_door(was));
        when.extend(counts.then(|| When::empty(self.keys.queue())));
        let mourned = Op::delete_range(self.keys.gone_from(slot));
        let then = vec![Op::delete(self.keys.slot(slot)), mourned];
        self.transact(Txn { when, then, ..Txn::default() }, None).await
    }

    /// Writes down for others that a slot is stale, if it still is and nobody has.
    pub(crate) async fn mourn(&self, gone: &Gone, was: &View) -> Result<View, Trouble> {
        let Some(mut when) = self.is_stale(gone.slot, was) else { return self.look(None).await };
        let key = self.keys.gone(gone.slot, gone.token, &gone.clock);
        when.push(When::absent(key.clone()));
        let then = vec![Op::put(key, records::write(gone), 0)];
        self.transact(Txn { when, then, ..Txn::default() }, None).await
    }

    /// The revision in which the door was last written, if there is one, whatever is written there.
    pub(crate) async fn door_revision(&self) -> Result<Option<i64>, Trouble> {
        let look = Txn { then: vec![Op::get(self.keys.door())], ..Txn::default() };
        let response = self.client.txn(look).await?;
        Ok(response.answers.first().and_then(|door| door.first()).map(|kv| kv.mod_revision))
    }

    /// Removes the hall with this door; unless by force, only if nobody is in or waits. By force, whose
    /// slots they are stays, so that they are given to nobody in a new hall of that name before they must be
    /// out; unless all of it is to go. Says whether there is none any more.
    pub(crate) async fn remove(&self, door: i64, force: bool, all: bool) -> Result<bool, Trouble> {
        let in_use = [self.keys.queue(), self.keys.all_inside(), self.keys.slots()];
        // Asked late, it would be somebody else's.
        let mut when = vec![When::modified(self.keys.door(), door)];
        when.extend((!force).then(|| in_use.map(When::empty)).into_iter().flatten());
        let but_slots = [
            KeyRange::one(self.keys.door()),
            self.keys.queue(),
            self.keys.all_inside(),
            self.keys.all_gone(),
        ];
        let then = match force && !all {
            true => but_slots.map(Op::delete_range).into(),
            false => vec![Op::delete_range(self.keys.everything())],
        };
        let otherwise = vec![Op::get(self.keys.door())];
        let response = self.client.txn(Txn { when, then, otherwise }).await?;
        Ok(response.succeeded || response.answers.iter().all(|door| door.first().is_none()))
    }

    fn claim(&self, slot: usize, wait: bool, me: Asker<'_>, was: &View) -> Txn {
        let id = &me.claim.claim;
        let new = || vec![When::absent(self.keys.waiting(id)), When::absent(self.keys.inside(id))];
        let mut when = new();
        when.extend([self.same_door(was), When::empty(self.keys.queue())]);
        when.push(When::absent(self.keys.slot(slot)));
        let below = slot.saturating_sub(MAX_CONDITIONS)..slot;
        when.extend(below.map(|smaller| When::present(self.keys.slot(smaller))));
        let put = Op::put(self.keys.waiting(id), records::write(me.claim), me.lease);
        let join = Txn { when: new(), then: vec![put], ..Txn::default() };
        let otherwise = if wait { vec![Op::nested(join)] } else { vec![] };
        if slot >= was.size() {
            // It has no such slot, as far as we know: there is nothing but to wait.
            return Txn { then: otherwise, ..Txn::default() };
        }
        Txn { when, then: self.seat(slot, me.claim, me.lease), otherwise }
    }

    /// Gives a slot away, if this is so, and does this besides.
    fn give(
        &self,
        slot: usize,
        to: &Waiter,
        if_so: Vec<When>,
        besides: Option<Op>,
        was: &View,
    ) -> Txn {
        let waiting = self.keys.waiting(&to.claim.claim);
        let mut when = if_so;
        when.extend([self.same_door(was), When::created(waiting.clone(), to.made)]);
        let mut then = self.seat(slot, &to.claim, to.lease);
        then.push(Op::delete(waiting));
        then.extend(besides);
        Txn { when, then, ..Txn::default() }
    }

    /// Gives a slot back, if this is so.
    fn free(&self, slot: usize, anyway: bool, if_so: Vec<When>, me: Asker<'_>, was: &View) -> Txn {
        let mut when = if_so;
        when.extend((!anyway).then(|| When::empty(self.keys.queue())));
        let mine = [self.keys.slot(slot), self.keys.inside(&me.claim.claim)];
        let mut then: Vec<_> = mine.map(Op::delete).into();
        if anyway && slot < was.size() {
            // The door as it is: whoever waits looks up when it is written.
            let there = vec![When::present(self.keys.door())];
            let touch = vec![Op::touch(self.keys.door())];
            then.push(Op::nested(Txn { when: there, then: touch, ..Txn::default() }));
        }
        Txn { when, then, ..Txn::default() }
    }

    /// Lets a claim in.
    fn seat(&self, slot: usize, claim: &Claim, lease: i64) -> Vec<Op> {
        let record = records::write(&claim.inside(slot));
        vec![
            Op::put(self.keys.inside(&claim.claim), record.clone(), lease),
            Op::put(self.keys.slot(slot), record, 0),
        ]
    }

    fn same_door(&self, was: &View) -> When {
        match was.door {
            Some((_, revision)) => When::modified(self.keys.door(), revision),
            None => When::absent(self.keys.door()),
        }
    }

    /// The slot is mine, if it was.
    fn is_mine(&self, slot: usize, was: &View) -> Option<Vec<When>> {
        match was.me {
            Me::Inside { token, .. } => Some(vec![When::modified(self.keys.slot(slot), token)]),
            _ => None,
        }
    }

    /// The slot is stale, if it was.
    fn is_stale(&self, slot: usize, was: &View) -> Option<Vec<When>> {
        let owner = was.slots.get(&slot)?;
        Some(vec![
            When::modified(self.keys.slot(slot), owner.token),
            When::absent(self.keys.inside(&owner.claim.claim)),
        ])
    }

    fn put_door(&self, door: Door) -> Op {
        Op::put(self.keys.door(), records::write(&door), 0)
    }

    /// Looks, and tells who is before a claim that was made in this revision.
    pub(crate) async fn look_ahead(
        &self,
        me: Asker<'_>,
        made: i64,
    ) -> Result<(View, Option<Vec<u8>>), Trouble> {
        let before = Op::youngest_before(self.keys.queue(), made);
        let txn = Txn { then: vec![before], ..Txn::default() };
        let (view, response) = self.answered(txn, Some(me)).await?;
        let before = response.answers.first().and_then(|answer| answer.first());
        Ok((view, before.map(|kv| kv.key.clone())))
    }

    /// Performs it, and looks.
    async fn transact(&self, txn: Txn, me: Option<Asker<'_>>) -> Result<View, Trouble> {
        Ok(self.answered(txn, me).await?.0)
    }

    /// Performs what ends a passage. If it has, there is nothing to look for.
    async fn depart(&self, mut txn: Txn, me: Asker<'_>, was: &View) -> Result<View, Trouble> {
        let look = View::ops(&self.keys, Some(&me.claim.claim));
        txn.otherwise.extend(look.iter().cloned());
        let response = self.client.txn(txn).await?;
        match response.succeeded {
            true => Ok(View { me: Me::Released, ..was.clone() }),
            false => Ok(View::read(&response, look.len())?),
        }
    }

    async fn answered(
        &self,
        mut txn: Txn,
        me: Option<Asker<'_>>,
    ) -> Result<(View, TxnResponse), Trouble> {
        let look = View::ops(&self.keys, me.map(|me| me.claim.claim.as_str()));
        txn.then.extend(look.iter().cloned());
        if !txn.when.is_empty() {
            txn.otherwise.extend(look.iter().cloned());
        }
        let response = self.client.txn(txn).await?;
        let view = View::read(&response, look.len())?;
        Ok((view, response))
    }
}
