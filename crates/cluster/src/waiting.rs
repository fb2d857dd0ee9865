//! The waiting room: a waiter is notified only of the changes that concern it.
//!
//! A waiter watches three things: its key below `inside/`, which appears when it is given a slot; the door; and
//! the claim right before it in the queue, because once that is gone, the waiter may be at the head. Only the head
//! watches all claims below `inside/`, because one of them may vanish. So a release is reported to two or three
//! waiters: the one that gets the slot, which is notified both as the head and by its own key, and the next one.
//!
//! A watch reports the changes after a certain revision. If that is later than the revision in which the waiter
//! decided what to watch, it may have missed a change, so it reads the hall once more.

use std::{future, time::Duration};

use tokio::time::sleep;

use crate::{
    Error,
    claim::Claim,
    core::Core,
    etcd::{TurnChange, TurnWatch},
    view::{OwnClaim, Revision, View},
};

/// Where a claim waits: behind another one, or at the head of the queue.
struct Position {
    /// The id of the claim right before ours.
    predecessor: Option<String>,
    /// The revision in which that was so.
    seen: Revision,
    watch: Option<TurnWatch>,
}

/// The pause before another attempt at a watch that failed.
const PAUSE: Duration = Duration::from_millis(100);

/// Waits for the changes that concern one claim in the queue.
#[derive(Default)]
pub(crate) struct WaitingRoom {
    /// `None` until we know where in the queue we are.
    position: Option<Position>,
}

/// News for a waiter.
pub(crate) enum News {
    /// Where its claim is now.
    Own(OwnClaim),
    /// The hall, as a request saw it that was sent at the time `asked`.
    Seen { asked: Duration, view: Box<View> },
    /// Something changed that may concern the waiter, so it has to read the hall.
    Changed,
}

impl WaitingRoom {
    /// Waits until something may have changed for `claim`, whose owner last saw `view`. Tolerates an
    /// unreachable cluster for `limit`.
    pub(crate) async fn next(
        &mut self,
        core: &Core,
        claim: &Claim,
        view: &View,
        limit: Duration,
    ) -> Result<News, Error> {
        let Some(position) = &mut self.position else {
            return self.find_position(core, claim, view, limit).await;
        };
        let watch = match &mut position.watch {
            Some(watch) => watch,
            None => {
                let predecessor = position.predecessor.as_deref();
                match core.store.watch_turn(predecessor, &claim.record.id).await {
                    Ok(watch) => {
                        let missed = watch.since() > position.seen;
                        let watch = position.watch.insert(watch);
                        // A view read by consensus shows all that the watch does not report.
                        if missed {
                            return self.find_position(core, claim, view, limit).await;
                        }
                        watch
                    }
                    // Reading the hall shows whether the store can be reached.
                    Err(_) => {
                        sleep(PAUSE).await;
                        return self.find_position(core, claim, view, limit).await;
                    }
                }
            }
        };
        let reclaimable = core.expiries.until_reclaimable(view);
        let reclaimable = reclaimable.filter(|_| position.predecessor.is_none());
        let until_reclaimable = core.until_trusted(view).or(reclaimable);
        let reclaimable = async {
            match until_reclaimable {
                Some(time) => sleep(time).await,
                None => future::pending().await,
            }
        };
        let mut health = claim.watch();
        let change = tokio::select! {
            change = watch.next(position.seen) => change?,
            moved = health.wait_for(|now| now.lost.is_some() || now.own.is_inside()) => {
                return Ok(News::Own(match moved.map(|now| (now.lost, now.own)) {
                    Ok((None, own)) => own,
                    _ => OwnClaim::Outside,
                }));
            }
            () = reclaimable => TurnChange::Other,
        };
        match change {
            TurnChange::Inside(own) => Ok(News::Own(own)),
            TurnChange::Other => Ok(News::Changed),
            TurnChange::NewPredecessor => {
                self.position = None;
                self.find_position(core, claim, view, limit).await
            }
        }
    }

    /// Finds out which claim is right before this one, and reads the rest of the hall. Keeps the watch if it is
    /// still the right one.
    async fn find_position(
        &mut self,
        core: &Core,
        claim: &Claim,
        view: &View,
        limit: Duration,
    ) -> Result<News, Error> {
        let old = self.position.take();
        let OwnClaim::Waiting { made } = view.own else { return Ok(News::Changed) };
        let mut retry = core.retry(limit);
        loop {
            let asked = core.clock.now();
            match core.store.view_with_predecessor(claim.reference(), made).await {
                Ok((view, predecessor)) => {
                    let same = old.filter(|old| old.predecessor == predecessor);
                    let watch = same.and_then(|old| old.watch);
                    self.position = Some(Position { predecessor, seen: view.revision, watch });
                    return Ok(News::Seen { asked, view: Box::new(view) });
                }
                Err(error) => retry.after(error).await?,
            }
        }
    }
}
