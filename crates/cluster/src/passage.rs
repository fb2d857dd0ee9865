//! A passage: the lines of the claim protocol, one transaction after the other.
//!
//! The lines E1 to X3 and their order are those of the step machine in [`hallpass_algorithms::halls::cluster`], which
//! the lab checks. This driver makes a few transitions that the step machine does not have. The lab **does not check**
//! them. Each is safe because its transaction takes effect only if the records that it depends on are unchanged:
//!
//! - `Passage::go_out`: the answer to X1 may be an old view. If X2 or X3 then finds that the claim still has its
//!   slot, the first such answer counts as a new answer to X1, and the passage continues from there.
//! - `Passage::certify`: if the claim of a passage is lost by the time the passage gets a slot, the passage starts over
//!   with a new claim.
//! - `Passage::note`: expiries are [recorded](crate::expiry) for other processes of this machine.
//! - `retire`: if a request got no answer, the owner ends the lease of the claim. If the claim has got a slot, the
//!   owner gives this slot to the next claim.

mod exit;

use std::{
    future,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use hallpass_algorithms::{
    Next,
    halls::cluster::{Ask, Line, Picture},
};
use hallpass_common::Limit;
use tokio::{sync::oneshot, task::AbortHandle, time::sleep};

use crate::{
    Error, Loss,
    claim::{Claim, Health, Stage},
    core::Core,
    failure::{Failure, StoreError},
    manage,
    requests::ActivityGuard,
    retire::retire,
    slot_set::SlotSet,
    store::{Activity, MAX_PARTS},
    successor::find_successor,
    view::{OwnClaim, View, Waiter},
    waiting::{News, WaitingRoom},
};

/// The time limit for the requests of a newcomer that may wait. It is longer than any caller lives. It differs from
/// [`Duration::MAX`] in one way: if the store has no space, a request with this limit fails, and a request with the
/// limit `Duration::MAX` is sent again.
const AS_LONG_AS_THE_CALLER: Duration = Duration::from_secs(1 << 32);

/// The maximum number of slots of one request. A step has up to two operations for each slot, and up to eight others.
pub const MAX_TOGETHER: usize = (MAX_PARTS - 8) / 2;

/// A passage in its critical section.
pub(crate) struct Held {
    pub claim: Arc<Claim>,
    pub slots: SlotSet,
    pub token: u64,
    /// The task that renews the claim.
    keeper: AbortHandle,
    /// The task that finds the head of the queue.
    successor_finder: Option<AbortHandle>,
    view: View,
    _holding: ActivityGuard,
}

/// A passage in its entry or exit section.
pub(crate) struct Passage {
    core: Arc<Core>,
    claim: Arc<Claim>,
    /// The task that renews the claim.
    keeper: AbortHandle,
    /// The last view of the hall.
    view: View,
    waiting_room: WaitingRoom,
    /// How long this passage tolerates an unreachable cluster.
    limit: Duration,
    /// Resolves when the caller gives up. `None` once it has resolved, and in the exit section.
    given_up: Option<oneshot::Receiver<()>>,
}

impl Passage {
    /// Starts a passage for `take` slots, with a claim that is not in the store yet.
    async fn begin(core: Arc<Core>, take: usize, limit: Limit) -> Result<Passage, Error> {
        let patience = match limit {
            Limit::Now => core.first_contact,
            Limit::Until(_) | Limit::Never => AS_LONG_AS_THE_CALLER,
        };
        // The first answer must come soon, because the options may be wrong.
        let opening = core.take_opening_view();
        let has_answered = opening.as_ref().is_some_and(|it| it.at.elapsed() < core.first_contact);
        let first_limit = if has_answered { patience } else { core.first_contact };
        let look = async {
            match opening {
                Some(opening) => Ok(opening.view),
                None => core.look().await,
            }
        };
        let (claim, view) = tokio::try_join!(core.new_claim(take, first_limit), look)?;
        let most = view.size().min(MAX_TOGETHER);
        if view.size() > 0 && take > most {
            core.leases.put_back(claim.lease());
            return Err(Error::TooMany { asked: take, slots: most });
        }
        let keeper = core.keep(&claim);
        let limit = patience;
        let waiting_room = WaitingRoom::default();
        Ok(Passage { core, claim, keeper, view, waiting_room, limit, given_up: None })
    }

    /// Runs the entry section of a request for `take` slots. The passage gives up when `given_up` resolves, which
    /// happens when the sender is dropped: at the time limit, or when the caller no longer waits. A request for
    /// its claim is not interrupted, because the answer shows what has to be cleaned up.
    pub(crate) async fn enter(
        core: Arc<Core>,
        take: usize,
        limit: Limit,
        mut given_up: oneshot::Receiver<()>,
    ) -> Result<Held, Error> {
        let mut passage = tokio::select! {
            begun = Passage::begin(core.clone(), take, limit) => begun?,
            _ = &mut given_up => return Err(core.current_error().unwrap_or(Error::NoPermits)),
        };
        passage.given_up = Some(given_up);
        let result = passage.go_in(limit).await;
        let Passage { core, claim, keeper, view, .. } = passage;
        match result {
            Ok((slots, token)) => {
                claim.enter_stage(Stage::Held);
                core.raise_mark(token);
                let holding = core.store.begin(Activity::Holding);
                let find = || core.spawn(find_successor(core.store.clone(), claim.clone()));
                // If the hall has more than one slot, another holder will probably leave first, and give its slot to
                // the head of the queue.
                let successor_finder = (core.size() == 1).then(find);
                Ok(Held { claim, slots, token, keeper, successor_finder, view, _holding: holding })
            }
            Err(error) => {
                claim.enter_stage(Stage::Done);
                keeper.abort();
                retire(&core, &claim, !matches!(error, Error::NoPermits | Error::Closed));
                Err(error)
            }
        }
    }

    async fn go_in(&mut self, limit: Limit) -> Result<(SlotSet, u64), Error> {
        let mut line = self.first_line(limit);
        loop {
            if let Line::T1 { .. } = line
                && self.core.until_trusted(&self.view).is_some()
            {
                return Err(Error::NoPermits);
            }
            let Some(picture) = self.ask(line.clone().ask()).await? else {
                if let Some(error) = self.core.current_error() {
                    return Err(error);
                }
                self.limit = self.core.first_contact;
                line = Line::E4;
                continue;
            };
            if self.given_up.is_some() && !matches!(limit, Limit::Now) {
                // A waiter waits as long as its caller allows, even if the store does not answer for a long time.
                self.limit = Duration::MAX;
            }
            line = match line.answer(picture) {
                Next::Goto(line) | Next::Spin(line) => line,
                Next::Enter(_) => match self.certify().await? {
                    Some(held) => return Ok(held),
                    None => self.first_line(limit),
                },
                Next::Leave if self.view.size() == 0 => return Err(Error::Closed),
                Next::Leave => return Err(Error::NoPermits),
            };
            let starts_over = matches!(line, Line::E1 { .. } | Line::T1 { .. });
            if starts_over && self.claim.health().lost.is_some() {
                self.replace_claim().await?;
            }
        }
    }

    /// Returns the first line of the entry section, for a slot that was free in the last view, or slot 0 if none was.
    fn first_line(&self, limit: Limit) -> Line<Waiter> {
        match (limit, self.view.free().unwrap_or(0)) {
            (Limit::Now, slot) => Line::T1 { slot },
            (Limit::Until(_) | Limit::Never, slot) => Line::E1 { slot },
        }
    }

    /// Returns the slots and the token of this passage; `None` if the claim is lost. If the claim is not valid for long
    /// enough, looks at the hall first. Fails if the caller gives up first.
    async fn certify(&mut self) -> Result<Option<(SlotSet, u64)>, Error> {
        if self.claim.valid_for() < self.core.ttl / 2 && self.ask(Ask::Look).await?.is_none() {
            // `retire` then gives the slot to the next claim.
            self.claim.uncertain.store(true, Relaxed);
            return Err(self.reason_to_give_up());
        }
        match self.claim.health() {
            Health { own: OwnClaim::Inside { slots, token, .. }, lost: None, .. } => {
                Ok(Some((slots, token)))
            }
            _ => Ok(None),
        }
    }

    /// If the store lost history, waits until slots may be assigned again, and makes sure that tokens grow. Returns
    /// `false` if the caller gives up first.
    async fn await_trust(&mut self) -> Result<bool, Error> {
        loop {
            while let Some(time) = self.core.until_trusted(&self.view) {
                tokio::select! {
                    () = sleep(time) => {}
                    () = resolved(&mut self.given_up) => return Ok(false),
                }
            }
            self.view = tokio::select! {
                view = self.core.look_for_loss(self.view.clone(), self.limit) => view?,
                () = resolved(&mut self.given_up) => return Ok(false),
            };
            if self.core.until_trusted(&self.view).is_none() {
                break;
            }
        }
        if self.view.door.is_some_and(|seen| seen.door.epoch < self.core.epoch()) {
            self.view = tokio::select! {
                view = manage::raise_epoch(&self.core, self.limit) => view?,
                () = resolved(&mut self.given_up) => return Ok(false),
            };
        }
        Ok(true)
    }

    /// Replaces a claim that is gone with a new one. Fails if the caller gives up first.
    async fn replace_claim(&mut self) -> Result<(), Error> {
        self.keeper.abort();
        let lost_history = self.claim.health().lost == Some(Loss::HistoryLost);
        if lost_history || self.claim.uncertain.load(Relaxed) {
            // The old claim may exist again, if the store lost history or a request arrives late.
            self.claim.enter_stage(Stage::Done);
            retire(&self.core, &self.claim, true);
        }
        self.claim = tokio::select! {
            claim = self.core.new_claim(self.claim.record.take, self.limit) => claim?,
            () = resolved(&mut self.given_up) => {
                // The lease of the old claim may be gone, so it must not become a spare lease.
                self.claim.uncertain.store(true, Relaxed);
                return Err(self.reason_to_give_up());
            }
        };
        self.keeper = self.core.keep(&self.claim);
        self.waiting_room = WaitingRoom::default();
        Ok(())
    }

    /// Returns the error for a caller that gives up.
    fn reason_to_give_up(&self) -> Error {
        self.core.current_error().unwrap_or(Error::NoPermits)
    }

    /// Sends a request until there is an answer. Returns `None` if the caller gives up first, and an error if it gives up
    /// while the claim is replaced. A caller can give up while it waits for news, or between two attempts. An attempt that is under way is not interrupted.
    async fn ask(&mut self, ask: Ask<Waiter>) -> Result<Option<Picture<Waiter>>, Error> {
        let ask = match ask {
            Ask::Watch => {
                let news = self.waiting_room.next(&self.core, &self.claim, &self.view, self.limit);
                let news = tokio::select! {
                    biased;
                    () = resolved(&mut self.given_up) => return Ok(None),
                    news = news => news?,
                };
                match news {
                    News::Own(own) => {
                        self.claim.note_entry(own, self.view.hall());
                        self.view.own = own;
                        return Ok(Some(self.core.picture(&self.view, self.claim.record.take)));
                    }
                    News::Seen { asked, view } => return Ok(Some(self.note(asked, *view))),
                    News::Changed => Ask::Look,
                }
            }
            Ask::Claim { .. } if !self.await_trust().await? => return Ok(None),
            ask => ask,
        };
        let mut retry = self.core.retry(self.limit);
        loop {
            let asked = self.core.clock.now();
            let own = Some(self.claim.reference());
            match self.core.store.perform(ask.clone(), own, &self.view).await {
                Ok(view) => return Ok(Some(self.note(asked, view))),
                // The lease ended before the claim was in the store. The reason may be that the store lost history.
                Err(StoreError::Failed(Failure::LeaseGone)) => {
                    self.replace_claim().await?;
                    if !self.await_trust().await? {
                        return Ok(None);
                    }
                }
                Err(error) => {
                    // The request may create the claim later, when no task renews the claim any more.
                    self.claim.uncertain.store(true, Relaxed);
                    tokio::select! {
                        biased;
                        // This branch comes first, because it also reports the error.
                        pause = retry.after(error) => pause?,
                        () = resolved(&mut self.given_up) => return Ok(None),
                    }
                }
            }
        }
    }

    /// Notes the answer to a request that was sent at the time `asked`.
    fn note(&mut self, asked: Duration, view: View) -> Picture<Waiter> {
        // The transaction that ends a passage does not read the hall.
        if view.own != OwnClaim::Released {
            self.view = self.core.note(view);
            if self.core.expiries.has_unrecorded_expiry(&self.view) {
                let (core, view, task) =
                    (self.core.clone(), self.view.clone(), self.core.begin_task());
                self.core.spawn(async move {
                    core.expiries.record_expiry(&core.store, &view).await;
                    drop(task);
                });
            }
        } else {
            self.view = view;
        }
        self.claim.note(asked, &self.view);
        self.core.picture(&self.view, self.claim.record.take)
    }
}

/// Waits until the caller gives up. Without a caller that can give up, waits forever.
async fn resolved(given_up: &mut Option<oneshot::Receiver<()>>) {
    match given_up {
        Some(receiver) => {
            let _ = receiver.await;
            *given_up = None;
        }
        None => future::pending().await,
    }
}
