//! The waiting room. It notifies a waiter only of the changes that concern this waiter.
//!
//! A waiter that is not at the head of the queue watches three things:
//!
//! - its key below `inside/`, which appears when the waiter gets a slot;
//! - the door;
//! - the claim right before it in the queue. Once that claim is gone, the waiter may be at the head.
//!
//! Only the head watches all claims below `inside/`: if one of them vanishes, the head reclaims its slot. The head also
//! watches the door. So the store reports a hand-over to only two waiters: to the head, which gets the slot, and to the
//! waiter behind it. If the holder or the head has asked for several slots, the holder frees its slots instead, and
//! writes the door, which all waiters watch.
//!
//! A watch reports the changes after a certain revision. If this revision is later than the one in which the waiter
//! decided which keys to watch, the waiter may have missed a change. Then it reads the hall once more.

use std::{future, time::Duration};

use tokio::{task::AbortHandle, time::sleep};

use crate::{
    Error,
    claim::Claim,
    core::Core,
    requests::{TurnChange, TurnWatch},
    store::Activity,
    view::{OwnClaim, Revision, View},
};

/// The position of a claim: behind another claim, or at the head of the queue.
struct Position {
    /// The id of the claim right before this one; `None` at the head of the queue.
    predecessor: Option<String>,
    /// The revision in which the claim had this position.
    seen: Revision,
    watch: Option<TurnWatch>,
}

/// The pause before another attempt at a watch that failed.
const PAUSE: Duration = Duration::from_millis(100);

/// After this time, a waiter assumes that its wait will be long.
const REST_AFTER: Duration = Duration::from_millis(250);

/// Reports to the store that this claim waits, after [`REST_AFTER`]. Dropping this value withdraws the report.
struct Rest(AbortHandle);

impl Rest {
    fn begin(core: &Core) -> Rest {
        let store = core.store.clone();
        Rest(core.spawn(async move {
            sleep(REST_AFTER).await;
            let _waiting = store.begin(Activity::Waiting);
            future::pending::<()>().await;
        }))
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Waits for the changes that concern one claim in the queue.
#[derive(Default)]
pub(crate) struct WaitingRoom {
    rest: Option<Rest>,
    /// `None` until the position is known.
    position: Option<Position>,
}

/// The news that the waiting room reports to a waiter.
pub(crate) enum News {
    /// The new state of the waiter's claim.
    Own(OwnClaim),
    /// A view of the hall, from a request that was sent at the time `asked`.
    Seen { asked: Duration, view: Box<View> },
    /// A change that may concern the waiter. The waiter has to read the hall.
    Changed,
}

impl WaitingRoom {
    /// Waits for a change that may concern `claim`, whose owner last saw `view`. Tolerates an unreachable cluster for
    /// `limit`.
    pub(crate) async fn next(
        &mut self,
        core: &Core,
        claim: &Claim,
        view: &View,
        limit: Duration,
    ) -> Result<News, Error> {
        self.rest.get_or_insert_with(|| Rest::begin(core));
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
                        // A view that is read by consensus shows all changes that the watch does not report.
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

    /// Finds out which claim is right before this one, and reads the rest of the hall. Keeps the present watch if the
    /// claim before this one is still the same.
    async fn find_position(
        &mut self,
        core: &Core,
        claim: &Claim,
        view: &View,
        limit: Duration,
    ) -> Result<News, Error> {
        let old = self.position.take();
        let OwnClaim::Waiting { created } = view.own else { return Ok(News::Changed) };
        let mut retry = core.retry(limit);
        loop {
            let asked = core.clock.now();
            match core.store.view_with_predecessor(claim.reference(), created).await {
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
