//! A passage: the lines of the claim protocol, one transaction after the other.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use hallpass_algorithms::{
    Next,
    halls::cluster::{Ask, Line, Picture, Standing},
};
use tokio::{sync::oneshot, task::AbortHandle};

use crate::{
    Error,
    claim::{Claim, Health, Stage},
    client::Failure,
    core::Core,
    store::Trouble,
    view::{Me, View, Waiter},
    waiting::Post,
};

/// How long somebody wants to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Patience {
    /// Not at all.
    None,
    /// Until it is told otherwise.
    Some,
}

/// What a passage holds once it is in.
pub(crate) struct Held {
    pub claim: Arc<Claim>,
    pub slot: usize,
    pub token: i64,
    keeper: AbortHandle,
    /// Finds out who is first in line.
    scout: Option<AbortHandle>,
    view: View,
}

/// A passage on its way in or out.
pub(crate) struct Passage {
    pub core: Arc<Core>,
    pub claim: Arc<Claim>,
    /// Looks after the claim.
    keeper: AbortHandle,
    /// How things were when we last heard.
    pub view: View,
    /// Where we wait, once we do.
    pub post: Option<Post>,
    /// How long to put up with an unreachable cluster.
    pub limit: Duration,
}

impl Passage {
    /// Begins one, with a claim that has yet to be put down.
    async fn begin(core: Arc<Core>) -> Result<Passage, Error> {
        let look = async {
            match core.opening_view() {
                Some(view) => Ok(view),
                None => core.look().await,
            }
        };
        let (claim, view) = tokio::try_join!(core.new_claim(core.first_contact), look)?;
        let keeper = core.keep(&claim);
        let limit = core.first_contact;
        Ok(Passage { core, claim, keeper, view, post: None, limit })
    }

    /// The way in. Who waits gives up when `given_up` says so, or nobody is left who could.
    pub(crate) async fn enter(
        core: Arc<Core>,
        patience: Patience,
        mut given_up: oneshot::Receiver<()>,
    ) -> Result<Held, Error> {
        let mut passage = tokio::select! {
            begun = Passage::begin(core.clone()) => begun?,
            _ = &mut given_up => return Err(core.trouble().unwrap_or(Error::NoPermits)),
        };
        let result = passage.go_in(patience, &mut given_up).await;
        let Passage { core, claim, keeper, view, .. } = passage;
        match result {
            Ok((slot, token)) => {
                claim.enter_stage(Stage::Held);
                let scout = || core.handle().spawn(claim.clone().scout(core.store.clone()));
                // Where there are more slots, somebody else is likely to serve who is first.
                let scout = (core.size() == 1).then(|| scout().abort_handle());
                Ok(Held { claim, slot, token, keeper, scout, view })
            }
            Err(error) => {
                claim.enter_stage(Stage::Done);
                keeper.abort();
                core.retire(claim, !matches!(error, Error::NoPermits | Error::Closed));
                Err(error)
            }
        }
    }

    async fn go_in(
        &mut self,
        patience: Patience,
        given_up: &mut oneshot::Receiver<()>,
    ) -> Result<(usize, i64), Error> {
        let first_line = |view: &View| match (patience, view.free().unwrap_or(0)) {
            (Patience::None, slot) => Line::T1 { slot },
            (Patience::Some, slot) => Line::E1 { slot },
        };
        let mut line = first_line(&self.view);
        let mut unwanted = false;
        loop {
            let picture = tokio::select! {
                biased;
                _ = &mut *given_up, if !unwanted => {
                    unwanted = true;
                    // What was asked for may still happen.
                    self.claim.uncertain.store(true, Relaxed);
                    if let Some(error) = self.core.trouble() {
                        return Err(error);
                    }
                    self.limit = self.core.first_contact;
                    line = Line::E4;
                    continue;
                }
                picture = self.ask(line.clone().ask()) => picture?,
            };
            if !unwanted {
                self.limit = self.core.outage;
            }
            line = match line.answer(picture) {
                Next::Goto(line) | Next::Spin(line) => line,
                Next::Enter(_) => match self.certify().await? {
                    Some(held) => return Ok(held),
                    None => first_line(&self.view),
                },
                Next::Leave if self.view.size() == 0 => return Err(Error::Closed),
                Next::Leave if self.frees_stale(patience).await? => first_line(&self.view),
                Next::Leave => return Err(Error::NoPermits),
            };
            if let (Line::E1 { .. } | Line::T1 { .. }, Some(_)) = (&line, self.claim.health().lost)
            {
                self.renew_claim().await?;
            }
        }
    }

    /// One who does not wait has nobody wait for it either until a vanished owner is surely gone. But if
    /// that is so, and nobody waits, it may have the slot.
    async fn frees_stale(&mut self, patience: Patience) -> Result<bool, Error> {
        let (Patience::None, None) = (patience, &self.view.first) else { return Ok(false) };
        let Some(slot) = self.core.stale(&self.view) else { return Ok(false) };
        self.view = self.core.strike(slot, &self.view).await?;
        Ok(true)
    }

    /// What we hold, if it is certain for long enough.
    async fn certify(&mut self) -> Result<Option<(usize, i64)>, Error> {
        if self.claim.valid_for() < self.core.ttl / 2 {
            self.limit = self.core.first_contact;
            self.ask(Ask::Look).await?;
        }
        match self.claim.health() {
            Health { me: Me::Inside { slot, token }, lost: None, .. } => Ok(Some((slot, token))),
            _ => Ok(None),
        }
    }

    /// Another claim in place of one that is gone.
    async fn renew_claim(&mut self) -> Result<(), Error> {
        self.keeper.abort();
        self.claim = self.core.new_claim(self.limit).await?;
        self.keeper = self.core.keep(&self.claim);
        self.post = None;
        Ok(())
    }

    /// The way out.
    pub(crate) async fn leave(core: Arc<Core>, held: Held, limit: Duration) -> Result<(), Error> {
        let Held { claim, slot, keeper, scout, view, .. } = held;
        if let Some(scout) = scout {
            scout.abort();
        }
        claim.enter_stage(Stage::Done);
        let mut passage = Passage { core, claim, keeper, view, post: None, limit };
        let result = passage.go_out(slot).await;
        passage.keeper.abort();
        passage.core.retire(passage.claim, result.is_err());
        result
    }

    async fn go_out(&mut self, slot: usize) -> Result<(), Error> {
        let mut line = Line::X1 { slot };
        let mut certain = false;
        loop {
            let picture = match line {
                Line::X1 { .. } => self.look_who_is_first().await?,
                _ => self.ask(line.clone().ask()).await?,
            };
            if let (Line::X2 { .. } | Line::X3 { .. }, Standing::Inside(_), false) =
                (&line, picture.me, certain)
            {
                // What we knew was old, and nothing has happened: this is the answer to X1.
                certain = true;
                line = Line::X1 { slot };
            }
            line = match line.answer(picture) {
                Next::Goto(line) | Next::Spin(line) | Next::Enter(line) => line,
                // If it is not known what became of a question, we take it for answered.
                Next::Leave if self.view.me == Me::Released => return Ok(()),
                Next::Leave if self.claim.uncertain.load(Relaxed) => return Ok(()),
                Next::Leave => return Err(Error::Lost),
            };
        }
    }

    /// Line X1. It does no harm if the answer is old, as long as it is of a moment at which we were in: we
    /// could have asked then. What is asked for next is granted only if things still are that way. Where
    /// there is one slot, whoever was first in line most likely still is, and if nobody was, somebody
    /// watches for who comes.
    async fn look_who_is_first(&mut self) -> Result<Picture<Waiter>, Error> {
        let known = self.claim.hint().filter(|view| view.size() == 1);
        let view = match known {
            Some(view) => Ok(view),
            None => self.core.store.look_back(self.claim.asker()).await,
        };
        match view {
            Ok(view) if matches!(view.me, Me::Inside { .. }) => {
                self.view = view;
                Ok(self.core.picture(&self.view))
            }
            // Of a time before that, or not ours any more: it has to be known for certain.
            _ => self.ask(Ask::Look).await,
        }
    }

    /// Asks until there is an answer.
    pub(crate) async fn ask(&mut self, ask: Ask<Waiter>) -> Result<Picture<Waiter>, Error> {
        if let Ask::Watch = ask {
            return self.next_picture().await;
        }
        let mut retry = self.core.retry(self.limit);
        loop {
            let asked = self.core.clock.now();
            let me = Some(self.claim.asker());
            match self.core.store.perform(ask.clone(), me, &self.view).await {
                Ok(view) => return Ok(self.take_in(asked, view)),
                // The lease ended before the claim was put down.
                Err(Trouble::Failed(Failure::LeaseGone)) => self.renew_claim().await?,
                Err(trouble) => {
                    // A claim may be put down later, when nobody looks after it any more.
                    self.claim.uncertain.store(true, Relaxed);
                    retry.after(trouble).await?;
                }
            }
        }
    }

    /// Remembers how things are.
    pub(crate) fn take_in(&mut self, asked: Duration, view: View) -> Picture<Waiter> {
        // Who has left has not looked.
        if view.me != Me::Released {
            self.core.heard(&view);
            if self.core.has_news_of_the_gone(&view) {
                // Others may come and go for ever, none of whom waits for long enough to see its end.
                let (core, view, duty) =
                    (self.core.clone(), view.clone(), self.core.duties().begin());
                self.core.handle().spawn(async move {
                    core.mourn(&view).await;
                    drop(duty);
                });
            }
        }
        self.claim.seen(asked, &view);
        self.view = view;
        self.core.picture(&self.view)
    }
}
