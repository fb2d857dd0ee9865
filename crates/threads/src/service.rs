//! Slots for services that are polled.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use crate::{error::AcquireError, future::AcquireOwned, hall::Hall, pass::OwnedPass};

/// Takes slots of a hall from `poll` functions, such as `poll_ready` of a `tower` service.
///
/// An acquirer keeps its position in the queue from one call to the next. Dropping it leaves the queue.
///
/// ```
/// # use hallpass_threads::{Acquirer, Hall};
/// # use std::{future::poll_fn, sync::Arc};
/// # pollster::block_on(async {
/// let mut acquirer = Acquirer::new(Arc::new(Hall::new(1)));
/// let pass = poll_fn(|context| acquirer.poll_acquire(context)).await?;
/// assert_eq!((pass.slot(), acquirer.hall().available()), (0, 0));
/// # Ok::<(), hallpass_threads::AcquireError>(())
/// # }).unwrap();
/// ```
pub struct Acquirer {
    hall: Arc<Hall>,
    /// The request that is waiting. It is boxed, because the acquirer may move but the request's node in the
    /// queue must not.
    waiting: Option<Pin<Box<AcquireOwned>>>,
}

impl Acquirer {
    /// Creates an acquirer that does not wait yet.
    pub fn new(hall: Arc<Hall>) -> Self {
        Acquirer { hall, waiting: None }
    }

    /// Polls for a pass. If no slot is free yet, the acquirer keeps its position in the queue until the next call.
    /// When its turn comes, it wakes the task that called this function last.
    ///
    /// A call that finds a slot free does not allocate, and does not use up the budget of a tokio task. A loop that
    /// takes slots in this way, and never waits, must yield by itself.
    ///
    /// # Errors
    /// Returns [`AcquireError::Closed`] if the hall is closed.
    pub fn poll_acquire(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<OwnedPass, AcquireError>> {
        if self.waiting.is_none()
            && let Ok(pass) = self.hall.try_acquire_owned()
        {
            return Poll::Ready(Ok(pass));
        }
        let hall = &self.hall;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(hall.acquire_owned_async()));
        let given = ready!(Future::poll(waiting.as_mut(), context));
        self.waiting = None;
        Poll::Ready(given)
    }

    /// Returns the hall.
    pub fn hall(&self) -> &Arc<Hall> {
        &self.hall
    }
}

/// A clone does not share the position in the queue. It joins the queue itself.
impl Clone for Acquirer {
    fn clone(&self) -> Self {
        Acquirer::new(Arc::clone(&self.hall))
    }
}

impl fmt::Debug for Acquirer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquirer").field("waits", &self.waiting.is_some()).finish_non_exhaustive()
    }
}
