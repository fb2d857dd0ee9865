//! What one does to a hall without a claim: changing the door, looking at everybody, freeing what the
//! vanished hold.

use std::collections::HashSet;

use hallpass_algorithms::halls::cluster::{Ask, Was};
use tokio::time::sleep;

use crate::{
    Error, Status,
    core::Core,
    records::{self, Claim, Door},
    store::Trouble,
    view::{View, Waiter},
};

impl Core {
    /// Asks for something, once it can be reached.
    pub(crate) async fn ask(&self, ask: Ask<Waiter>, was: &View) -> Result<View, Error> {
        let mut retry = self.retry(self.first_contact);
        loop {
            match self.store.perform(ask.clone(), None, was).await {
                Ok(view) => return Ok(self.take_in(view)),
                Err(trouble) => retry.after(trouble).await?,
            }
        }
    }

    /// Frees a slot whose owner is gone for long enough, if nobody waits.
    pub(crate) async fn strike(&self, slot: usize, was: &View) -> Result<View, Error> {
        let mut retry = self.retry(self.first_contact);
        loop {
            match self.store.strike(slot, true, was).await {
                Ok(view) => return Ok(self.take_in(view)),
                Err(trouble) => retry.after(trouble).await?,
            }
        }
    }

    fn take_in(&self, view: View) -> View {
        self.heard(&view);
        view
    }

    /// Changes the door of a hall that is open.
    pub(crate) async fn change_door(&self, change: impl Fn(Door) -> Door) -> Result<View, Error> {
        let mut view = self.look().await?;
        let mut retry = self.retry(self.first_contact);
        loop {
            let Some((door, revision)) = view.door.filter(|(door, _)| !door.closed) else {
                return Err(Error::Closed);
            };
            let wanted = change(door);
            match self.store.change(wanted, &view).await {
                Ok(now) if now.door.is_some_and(|(now, at)| now == wanted && at > revision) => {
                    return Ok(self.take_in(now));
                }
                Ok(now) => view = self.take_in(now),
                Err(trouble) => retry.after(trouble).await?,
            }
        }
    }

    /// Everybody.
    pub(crate) async fn status(&self) -> Result<Status, Error> {
        let mut retry = self.retry(self.first_contact);
        let (view, queue) = loop {
            match self.store.everybody().await {
                Ok(found) => break found,
                Err(trouble) => retry.after(trouble).await?,
            }
        };
        self.heard(&view);
        let Some((door, _)) = view.door else { return Err(Error::Closed) };
        let holders = view.slots.into_iter().map(|(slot, owner)| {
            let alive = view.inside.contains(&owner.claim.claim);
            Claim { slot: Some(slot), ..owner.claim }.participant(Some(owner.token), alive)
        });
        let mut status = Status::new(self.store.name.clone(), door.slots);
        status.closed = door.closed;
        status.holders = holders.collect();
        status.waiters = queue.into_iter().map(|one| one.claim.participant(None, true)).collect();
        Ok(status)
    }

    /// Frees stale slots, or gives them to those who wait. Says how many.
    pub(crate) async fn reap(&self) -> Result<usize, Error> {
        let mut view = self.look().await?;
        let found: HashSet<_> = view.stale().map(|(slot, owner)| (slot, owner.token)).collect();
        // Who vanishes meanwhile is for the next time.
        while let Some(time) = self.longest_wait(&view, &found).filter(|time| !time.is_zero()) {
            sleep(time).await;
        }
        let mut retry = self.retry(self.first_contact);
        for &(slot, token) in &found {
            loop {
                view = self.look().await?;
                if view.stale().all(|(other, owner)| (other, owner.token) != (slot, token)) {
                    break;
                }
                let counts = slot < view.size();
                let done = match view.first.clone().filter(|_| counts) {
                    Some(to) => {
                        let give = Ask::Give { slot, was: Was::Stale, to };
                        self.store.perform(give, None, &view).await
                    }
                    None => self.store.strike(slot, counts, &view).await,
                };
                if let Err(trouble) = done {
                    retry.after(trouble).await?;
                }
            }
        }
        Ok(found.len())
    }

    /// The hall as it is, made with so many slots if it was not there.
    pub(crate) async fn open(&self, slots: Option<usize>) -> Result<View, Error> {
        let mut view = self.look().await?;
        let mut retry = self.retry(self.first_contact);
        while let (None, Some(slots)) = (view.door, slots) {
            match self.store.make(slots).await {
                Ok(made) => view = self.take_in(made),
                Err(trouble) => retry.after(trouble).await?,
            }
        }
        let Some((door, _)) = view.door else {
            let place = self.store.place.clone();
            return Err(Error::Missing { name: self.store.name.clone(), place });
        };
        if door.version != records::VERSION {
            let name = self.store.name.clone();
            return Err(Error::Version { name, found: door.version, ours: records::VERSION });
        }
        match slots {
            Some(_) if door.closed => Err(Error::Closed),
            Some(asked) if asked != door.slots => {
                Err(Error::Slots { name: self.store.name.clone(), asked, found: door.slots })
            }
            _ => Ok(view),
        }
    }

    /// Removes it.
    pub(crate) async fn remove(&self, force: bool) -> Result<(), Error> {
        let mut retry = self.retry(self.first_contact);
        // What was asked for may have happened though we did not hear of it.
        let mut asked = false;
        loop {
            match self.remove_once(force, &mut asked).await {
                Ok(done) => return done,
                Err(trouble) => retry.after(trouble).await?,
            }
        }
    }

    async fn remove_once(
        &self,
        force: bool,
        asked: &mut bool,
    ) -> Result<Result<(), Error>, Trouble> {
        let (name, place) = (self.store.name.clone(), self.store.place.clone());
        let Some(door) = self.store.door_revision().await? else {
            return Ok(if *asked { Ok(()) } else { Err(Error::Missing { name, place }) });
        };
        // What cannot be read is of no use to anybody.
        let damaged = match self.store.everybody().await {
            Err(Trouble::Wrong(Error::Damaged { .. })) => true,
            seen => seen.map(|_| false)?,
        };
        *asked = true;
        if self.store.remove(door, force, damaged).await? {
            return Ok(Ok(()));
        }
        let (view, queue) = self.store.everybody().await?;
        let (holders, waiting) = (view.slots.len(), queue.len());
        Ok(Err(Error::InUse { name, holders, waiting }))
    }
}
