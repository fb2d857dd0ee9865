//! Waiting for a pass in an async task.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use hallpass_common::Limit;
use tokio::sync::oneshot;

use crate::{
    ClusterHall, ClusterPass, ClusterPasses, Error,
    core::Core,
    passage::{Held, Passage},
};

/// A future that resolves to a pass. Dropping it leaves the queue.
///
/// Returned by [`ClusterHall::acquire_async`].
#[must_use = "a future does nothing until it is polled"]
pub struct Acquire {
    hall: ClusterHall,
    /// The number of slots to acquire.
    take: usize,
    begun: Option<Begun>,
}

/// A passage in its entry section.
struct Begun {
    /// Dropping this sender makes the passage give up.
    _wanted: oneshot::Sender<()>,
    held: oneshot::Receiver<Result<Held, Error>>,
}

impl Begun {
    fn new(core: &Arc<Core>, take: usize) -> Self {
        let (wanted, given_up) = oneshot::channel();
        let (done, held) = oneshot::channel();
        let (passage_core, task) = (core.clone(), core.begin_task());
        core.spawn(async move {
            let core = passage_core;
            let held = Passage::enter(core.clone(), take, Limit::Never, given_up).await;
            if let Err(Ok(held)) = done.send(held) {
                let limit = core.ttl;
                let _ = Passage::leave(core, held, limit).await;
            }
            drop(task);
        });
        Begun { _wanted: wanted, held }
    }
}

impl Acquire {
    pub(crate) fn new(hall: ClusterHall, take: usize) -> Self {
        Acquire { hall, take, begun: None }
    }
}

impl Future for Acquire {
    type Output = Result<ClusterPass, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Acquire { hall, take, begun } = &mut *self;
        let begun = begun.get_or_insert_with(|| Begun::new(hall.core(), *take));
        let gone = || Error::System {
            doing: "wait for the store",
            why: "the thread that talks to the store has ended".into(),
        };
        let held = Pin::new(&mut begun.held).poll(context);
        held.map(|held| Ok(hall.pass(held.unwrap_or_else(|_| Err(gone()))?)))
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        // End the passage before `hall` is dropped. `hall` may be the last handle, and dropping the last handle waits
        // until the passage has left the queue.
        if let Some(mut begun) = self.begun.take() {
            begun.held.close();
            // If the pass has just arrived, release it.
            if let Ok(Ok(held)) = begun.held.try_recv() {
                drop(self.hall.pass(held));
            }
        }
    }
}

/// A future that resolves to several slots. Dropping it leaves the queue.
///
/// Returned by [`ClusterHall::acquire_many_async`].
#[must_use = "a future does nothing until it is polled"]
pub struct AcquireMany(Option<Acquire>);

impl AcquireMany {
    pub(crate) fn new(hall: ClusterHall, take: usize) -> Self {
        AcquireMany((take > 0).then(|| Acquire::new(hall, take)))
    }
}

impl Future for AcquireMany {
    type Output = Result<ClusterPasses, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            None => Poll::Ready(Ok(ClusterPasses::none())),
            Some(one) => Pin::new(one).poll(context).map(|pass| pass.map(ClusterPasses::from)),
        }
    }
}
