//! Operations on a hall that need no claim: opening the hall, changing its door, listing its holders and waiters,
//! reclaiming the slots of vanished holders, and removing the hall.
//!
//! `resize` and `reap` give slots to waiters. In the lab's model of the protocol
//! ([`hallpass_algorithms::halls::cluster`]), a process called the *manager* does this. `reclaim_own` also gives slots
//! to waiters; the lab **does not check** this. To give a slot, all three functions send the transaction of line E3. It
//! takes effect only while the slot is still free or stale and the receiver still waits.

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use hallpass_algorithms::halls::cluster::{Ask, Was};
use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};

use crate::{
    Error, Status,
    core::Core,
    expiry::assignments,
    failure::StoreError,
    records::{self, ClaimRecord, Door},
    slot_set::SlotSet,
    view::{SeenDoor, View, Waiter},
};

/// How long opening a hall waits for the servers to say which cluster they belong to.
const SERVERS_ANSWER_WITHIN: Duration = Duration::from_millis(300);

/// Returns the present state of the hall. If the hall does not exist and `slots` is given, creates it.
pub(crate) async fn open(core: &Core, slots: Option<usize>) -> Result<View, Error> {
    let (done, checked) = oneshot::channel();
    let store = core.store.clone();
    core.spawn(async move { drop(done.send(store.check_servers().await)) });
    let mut view = core.look().await?;
    view = core.compare_with_mark(view).await?;
    // A server that does not answer must not delay every call. If such a server belongs to another cluster, later
    // requests to it fail.
    if let Ok(Ok(Err(failure))) = timeout(SERVERS_ANSWER_WITHIN, checked).await {
        return Err(failure.into_error(&core.store.place()));
    }
    let mut retry = core.retry(core.first_contact);
    while let (None, Some(slots)) = (view.door, slots) {
        match core
            .store
            .create(Door { epoch: core.epoch_of_new_hall(&view), ..Door::with(slots) })
            .await
        {
            Ok(created) => view = core.note(created),
            Err(error) => retry.after(error).await?,
        }
    }
    let Some(SeenDoor { door, .. }) = view.door else {
        let place = core.store.url.clone();
        return Err(Error::Missing { name: core.store.name.clone(), place });
    };
    if door.version != records::VERSION {
        let name = core.store.name.clone();
        return Err(Error::Version { name, found: door.version, ours: records::VERSION });
    }
    match slots {
        Some(_) if door.closed => Err(Error::Closed),
        Some(asked) if asked != door.slots => {
            Err(Error::Slots { name: core.store.name.clone(), asked, found: door.slots })
        }
        _ => Ok(view),
    }
}

/// Raises the epoch of the hall, so that new tokens are larger than those that the store has lost. Tolerates an
/// unreachable cluster for `limit`.
pub(crate) async fn raise_epoch(core: &Core, limit: Duration) -> Result<View, Error> {
    let epoch = core.epoch();
    change_door(core, limit, |door| Door { epoch: door.epoch.max(epoch), ..door }).await
}

/// Changes the number of slots, and gives new slots to waiters.
pub(crate) async fn resize(core: &Core, slots: usize) -> Result<(), Error> {
    let mut view = change_door(core, core.first_contact, |door| Door { slots, ..door }).await?;
    // Waiters would also take the new slots themselves, a moment later.
    while let (Some(to), None) = (view.first.clone(), core.until_trusted(&view)) {
        let slots = view.free_slots(to.record.take);
        let Some(slot) = slots.and_then(SlotSet::first) else { break };
        view = ask(core, Ask::Give { slot, was: Was::Free, to }, &view).await?;
    }
    Ok(())
}

/// Closes the hall. Does nothing if the hall is closed or removed.
pub(crate) async fn close(core: &Core) -> Result<(), Error> {
    match change_door(core, core.first_contact, |door| Door { closed: true, ..door }).await {
        Ok(_) | Err(Error::Closed) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Lists the holders and waiters.
pub(crate) async fn status(core: &Core) -> Result<Status, Error> {
    let mut retry = core.retry(core.first_contact);
    let (view, queue) = loop {
        match core.store.view_with_queue().await {
            Ok((view, queue)) => break (core.note(view), queue),
            Err(error) => retry.after(error).await?,
        }
    };
    let Some(SeenDoor { door, .. }) = view.door else { return Err(Error::Closed) };
    let holders = view.slots.iter().map(|(&slot, owner)| {
        let alive = view.inside.contains(&owner.record.id);
        let record = ClaimRecord { slot: Some(slot), ..owner.record.clone() };
        record.participant(Some(owner.token()), alive)
    });
    let mut status = Status::new(core.store.name.clone(), door.slots);
    status.closed = door.closed;
    status.holders = holders.collect();
    status.waiters = queue.into_iter().map(|one| one.record.participant(None, true)).collect();
    Ok(status)
}

/// Returns how long ago the holder of each slot renewed its claim.
pub(crate) async fn renewal_ages(core: &Core) -> Result<BTreeMap<usize, Duration>, Error> {
    let mut retry = core.retry(core.first_contact);
    loop {
        match core.store.renewal_ages().await {
            Ok(ages) => return Ok(ages),
            Err(error) => retry.after(error).await?,
        }
    }
}

/// Frees the slots that are stale now, or gives them to waiters. Returns the number of slots that were still stale
/// when this call changed them.
pub(crate) async fn reap(core: &Core) -> Result<usize, Error> {
    let mut view = core.look().await?;
    // The next call of `reap` handles claims that vanish from now on.
    let found: HashSet<_> = assignments(&view).collect();
    let wait = |view: &View| core.expiries.until_all_reclaimable(view, &found);
    let wait = |view: &View| core.until_trusted(view).or(wait(view));
    while let Some(time) = wait(&view).filter(|time| !time.is_zero()) {
        sleep(time).await;
    }
    let mut retry = core.retry(core.first_contact);
    let mut reaped = 0;
    for &(slot, token) in &found {
        let mut asked = false;
        loop {
            view = core.look().await?;
            if assignments(&view).all(|assignment| assignment != (slot, token)) {
                reaped += usize::from(asked); // otherwise another caller was first
                break;
            }
            asked = true;
            if let Err(error) = hand_over_stale(core, slot, &view).await {
                retry.after(error).await?;
            }
        }
    }
    Ok(reaped)
}

/// Takes this slot, and all other slots of its holder, away from the holder immediately, and wakes the waiters.
pub(crate) async fn evict(core: &Core, slot: usize) -> Result<(), Error> {
    let mut retry = core.retry(core.first_contact);
    let mut view = core.look().await?;
    let vacant = || Error::Vacant { name: core.store.name.clone(), slot };
    let holder = view.slots.get(&slot).ok_or_else(vacant)?.record.id.clone();
    // Evict only this holder. Another one may get the slot at any time.
    while view.slots.get(&slot).is_some_and(|owner| owner.record.id == holder) {
        match core.store.evict(slot, &view).await {
            Ok(now) => view = core.note(now),
            Err(error) => retry.after(error).await?,
        }
    }
    Ok(())
}

/// If the claim `id` is gone, gives its slot to the head of the queue, or frees the slot. Only the owner of the claim
/// may call this, because only the owner knows that it no longer uses the slot. Other processes have to wait until the
/// slot is [reclaimable](crate::expiry).
pub(crate) async fn reclaim_own(core: &Core, id: &str) -> Result<(), Error> {
    let mut retry = core.retry(core.first_contact);
    loop {
        let view = core.look().await?;
        let mut stale = view.stale();
        let Some((slot, _)) = stale.find(|(_, owner)| owner.record.id == id) else {
            return Ok(());
        };
        if let Err(error) = hand_over_stale(core, slot, &view).await {
            retry.after(error).await?;
        }
    }
}

/// Gives a stale slot to the head of the queue. Frees it if nobody waits, or if the hall has no such slot any
/// more.
async fn hand_over_stale(core: &Core, slot: usize, was: &View) -> Result<View, StoreError> {
    let counts = slot < was.size();
    match was.first.clone().filter(|_| counts) {
        Some(to) => core.store.perform(Ask::Give { slot, was: Was::Stale, to }, None, was).await,
        None => core.store.free_stale(slot, counts, was, None).await,
    }
}

/// Removes the hall.
pub(crate) async fn remove(core: &Core, force: bool) -> Result<(), Error> {
    let mut retry = core.retry(core.first_contact);
    // Whether a request to remove the hall was sent. It may have taken effect even if no answer came.
    let mut asked = false;
    loop {
        match remove_once(core, force, &mut asked).await {
            Ok(done) => return done,
            Err(error) => retry.after(error).await?,
        }
    }
}

/// Makes one attempt to remove the hall. The outer error is one that another attempt may fix.
async fn remove_once(
    core: &Core,
    force: bool,
    asked: &mut bool,
) -> Result<Result<(), Error>, StoreError> {
    let store = &core.store;
    let (name, place) = (store.name.clone(), store.url.clone());
    let Some(door) = store.door_revision().await? else {
        return Ok(if *asked { Ok(()) } else { Err(Error::Missing { name, place }) });
    };
    // If records cannot be read, remove them with the rest.
    let damaged = match store.view_with_queue().await {
        Err(StoreError::Invalid(Error::Damaged { .. })) => true,
        seen => seen.map(|_| false)?,
    };
    *asked = true;
    if store.remove(door, force, damaged).await? {
        return Ok(Ok(()));
    }
    let (view, queue) = store.view_with_queue().await?;
    let (holders, waiting) = (view.slots.len(), queue.len());
    Ok(Err(Error::InUse { name, holders, waiting }))
}

/// Sends a request without a claim until there is an answer.
async fn ask(core: &Core, ask: Ask<Waiter>, was: &View) -> Result<View, Error> {
    let mut retry = core.retry(core.first_contact);
    loop {
        match core.store.perform(ask.clone(), None, was).await {
            Ok(view) => return Ok(core.note(view)),
            Err(error) => retry.after(error).await?,
        }
    }
}

/// Changes the door of a hall that is open. Tolerates an unreachable cluster for `limit`.
async fn change_door(
    core: &Core,
    limit: Duration,
    change: impl Fn(Door) -> Door,
) -> Result<View, Error> {
    let mut view = core.look_within(limit).await?;
    let mut retry = core.retry(limit);
    loop {
        let Some(SeenDoor { door, modified, .. }) = view.door.filter(|seen| !seen.door.closed)
        else {
            return Err(Error::Closed);
        };
        let wanted = change(door);
        match core.store.change_door(wanted, &view).await {
            Ok(now)
                if now.door.is_some_and(|now| now.door == wanted && now.modified > modified) =>
            {
                return Ok(core.note(now));
            }
            Ok(now) => view = core.note(now),
            Err(error) => retry.after(error).await?,
        }
    }
}
