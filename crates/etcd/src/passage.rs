//! A passage: the lines of the claim protocol, one transaction after the other.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use hallpass_algorithms::{
    Next,
    claims::{Ask, Line, Picture, Standing},
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
        let (claim, view) = tokio::try_join!(core.new_claim(core.first_contact), core.look())?;
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
            _ = &mut given_up => return Err(Error::NoPermits),
        };
        let result = passage.go_in(patience, &mut given_up).await;
        let Passage { core, claim, keeper, view, .. } = passage;
        match result {
            Ok((slot, token)) => {
                claim.enter_stage(Stage::Held);
                Ok(Held { claim, slot, token, keeper, view })
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
        let slot = self.view.free().unwrap_or(0);
        let mut line = match patience {
            Patience::None => Line::T1 { slot },
            Patience::Some => Line::E1 { slot },
        };
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
            self.limit = self.core.outage;
            line = match line.answer(picture) {
                Next::Goto(line) | Next::Spin(line) => line,
                Next::Enter(_) => match self.certify().await? {
                    Some(held) => return Ok(held),
                    None => Line::E1 { slot: 0 },
                },
                Next::Leave if self.view.size() == 0 => return Err(Error::Closed),
                Next::Leave => return Err(Error::NoPermits),
            };
            if let (Line::E1 { .. }, Some(_)) = (&line, self.claim.health().lost) {
                self.renew_claim().await?;
            }
        }
    }

    /// What we hold, if it is certain for long enough.
    async fn certify(&mut self) -> Result<Option<(usize, i64)>, Error> {
        if self.claim.valid_for() < self.core.ttl / 2 {
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
        let Held { claim, slot, keeper, view, .. } = held;
        claim.enter_stage(Stage::Done);
        let mut passage = Passage { core, claim, keeper, view, post: None, limit };
        let result = passage.go_out(slot).await;
        passage.keeper.abort();
        passage.core.retire(passage.claim, result.is_err());
        result
    }

    async fn go_out(&mut self, slot: usize) -> Result<(), Error> {
        let mut line = Line::X1 { slot };
        let mut had_it = false;
        loop {
            let picture = self.ask(line.clone().ask()).await?;
            had_it |= picture.me != Standing::Outside;
            line = match line.answer(picture) {
                Next::Goto(line) | Next::Spin(line) | Next::Enter(line) => line,
                Next::Leave if had_it => return Ok(()),
                Next::Leave => return Err(Error::Lost),
            };
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
                    if let Ask::Claim { .. } = ask {
                        // It may be put down later, when nobody looks after it any more.
                        self.claim.uncertain.store(true, Relaxed);
                    }
                    retry.after(trouble).await?;
                }
            }
        }
    }

    /// Remembers how things are.
    pub(crate) fn take_in(&mut self, asked: Duration, view: View) -> Picture<Waiter> {
        self.core.heard(&view);
        self.claim.seen(asked, view.me);
        self.view = view;
        self.core.picture(&self.view)
    }
}
