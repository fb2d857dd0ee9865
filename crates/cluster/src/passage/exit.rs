//! The exit section of a passage: the lines X1 to X3.

use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use hallpass_algorithms::{
    Next,
    halls::cluster::{Ask, ClaimState, Line, Picture},
};

use super::{Held, Passage};
use crate::{
    Error,
    claim::Stage,
    core::Core,
    retire::retire,
    view::{OwnClaim, Waiter},
    waiting::WaitingRoom,
};

impl Passage {
    /// Runs the exit section.
    pub(crate) async fn leave(core: Arc<Core>, held: Held, limit: Duration) -> Result<(), Error> {
        let Held { claim, slots, keeper, successor_finder, view, _holding, .. } = held;
        if let Some(finder) = successor_finder {
            finder.abort();
        }
        claim.enter_stage(Stage::Done);
        let waiting_room = WaitingRoom::default();
        let mut passage =
            Passage { core, claim, keeper, view, waiting_room, limit, given_up: None };
        let result = passage.go_out(slots.first().unwrap_or(0)).await;
        passage.keeper.abort();
        retire(&passage.core, &passage.claim, result.is_err());
        result
    }

    async fn go_out(&mut self, slot: usize) -> Result<(), Error> {
        let mut line = Line::X1 { slot };
        let mut certain = false;
        loop {
            let picture = match line {
                Line::X1 { .. } => self.find_head().await?,
                _ => self.ask_to_the_end(line.clone().ask()).await?,
            };
            if let (Line::X2 { .. } | Line::X3 { .. }, ClaimState::Holding(_), false) =
                (&line, picture.me, certain)
            {
                // The view was old, and the request had no effect. This answer counts as the answer to X1.
                certain = true;
                line = Line::X1 { slot };
            }
            line = match line.answer(picture) {
                Next::Goto(line) | Next::Spin(line) | Next::Enter(line) => line,
                Next::Leave if self.view.own == OwnClaim::Released => return Ok(()),
                // A request without an answer may have released the claim. Assume that it did.
                Next::Leave if self.claim.uncertain.load(Relaxed) => return Ok(()),
                Next::Leave => return Err(Error::Lost),
            };
        }
    }

    /// Performs line X1: finds the head of the queue. An old answer is good enough if it is from a moment at which this
    /// claim had its slot, because the passage could have performed X1 at that moment. The next request takes effect
    /// only if the answer is still true. In a hall with one slot, the answer usually is still true: the head of the
    /// queue rarely changes, and if the queue was empty, the successor finder watches for arrivals.
    async fn find_head(&mut self) -> Result<Picture<Waiter>, Error> {
        let known = self.claim.take_exit_hint().filter(|view| view.size() == 1);
        let view = match known {
            Some(view) => Ok(view),
            None => self.core.store.local_exit_view(self.claim.reference()).await,
        };
        match view {
            Ok(view) if view.own.is_inside() => {
                self.view = view;
                Ok(self.core.picture(&self.view, self.claim.record.take))
            }
            // There is no answer, or it is from before this claim got its slot, or the claim is gone. Read by
            // consensus.
            _ => self.ask_to_the_end(Ask::Look).await,
        }
    }

    /// Sends a request until there is an answer or this passage no longer tolerates failures. Ignores a caller that
    /// gives up.
    async fn ask_to_the_end(&mut self, ask: Ask<Waiter>) -> Result<Picture<Waiter>, Error> {
        let given_up = self.given_up.take();
        let picture = self.ask(ask).await;
        self.given_up = given_up;
        Ok(picture?.expect("nobody gives up"))
    }
}
