//! Slots for services that are polled.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use crate::{
    error::AcquireError,
    future::{AcquireManyOwned, AcquireOwned},
    hall::Hall,
    pass::{OwnedPass, OwnedPasses},
};

/// Takes slots of a hall from `poll` functions, such as `poll_ready` of a `tower` service.
///
/// An acquirer keeps its position in the queue from one call to the next. Dropping it leaves the queue.
///
/// ```
/// # use hallpass_threads as hallpass;
/// use hallpass::{Acquirer, Hall};
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
    /// The request that is waiting for one slot. It is boxed, because the acquirer may move but the request's node in
    /// the queue must not.
    one: Option<Pin<Box<AcquireOwned>>>,
    /// The request that is waiting for several slots, and their number. At most one of the two requests waits.
    many: Option<(usize, Pin<Box<AcquireManyOwned>>)>,
}

impl Acquirer {
    /// Creates an acquirer that does not wait yet.
    pub fn new(hall: Arc<Hall>) -> Self {
        Acquirer { hall, one: None, many: None }
    }

    /// Polls for a pass. If no slot is free yet, the acquirer keeps its position in the queue until the next call.
    /// When the acquirer gets a slot, the hall wakes the task that called this function last.
    ///
    /// A call that finds a slot free does not allocate, and does not use up the budget of a tokio task. A loop that
    /// takes slots in this way, and never waits, must yield by itself.
    ///
    /// If the acquirer waits for several slots ([`poll_acquire_many`](Acquirer::poll_acquire_many)), this call leaves
    /// the queue first, and then asks for one slot.
    ///
    /// # Errors
    /// Returns [`AcquireError::Closed`] if the hall is closed.
    pub fn poll_acquire(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<OwnedPass, AcquireError>> {
        self.many = None;
        if self.one.is_none()
            && let Ok(pass) = self.hall.try_acquire_owned()
        {
            return Poll::Ready(Ok(pass));
        }
        let hall = &self.hall;
        let waiting = self.one.get_or_insert_with(|| Box::pin(hall.acquire_owned_async()));
        let given = ready!(waiting.as_mut().poll(context));
        self.one = None;
        Poll::Ready(given)
    }

    /// Polls for passes for `m` slots together, like [`poll_acquire`](Acquirer::poll_acquire).
    ///
    /// If the acquirer waits for a different number of slots, this call leaves the queue first, and then asks for `m`
    /// slots.
    ///
    /// # Errors
    /// Returns [`AcquireError::Closed`] if the hall is closed, and [`AcquireError::TooMany`] if the hall has fewer than
    /// `m` slots when the acquirer asks for them.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::{Acquirer, Hall};
    /// # use std::{future::poll_fn, sync::Arc};
    /// # pollster::block_on(async {
    /// let mut acquirer = Acquirer::new(Arc::new(Hall::new(4)));
    /// let passes = poll_fn(|context| acquirer.poll_acquire_many(context, 3)).await?;
    /// assert_eq!((passes.len(), acquirer.hall().available()), (3, 1));
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// # }).unwrap();
    /// ```
    pub fn poll_acquire_many(
        &mut self,
        context: &mut Context<'_>,
        m: usize,
    ) -> Poll<Result<OwnedPasses, AcquireError>> {
        self.one = None;
        self.many.take_if(|(waits_for, _)| *waits_for != m);
        if self.many.is_none()
            && let Ok(passes) = self.hall.try_acquire_many_owned(m)
        {
            return Poll::Ready(Ok(passes));
        }
        let hall = &self.hall;
        let (_, waiting) =
            self.many.get_or_insert_with(|| (m, Box::pin(hall.acquire_many_owned_async(m))));
        let given = ready!(waiting.as_mut().poll(context));
        self.many = None;
        Poll::Ready(given)
    }

    /// Returns the hall from which this value takes slots.
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
        let waits = self.one.is_some() || self.many.is_some();
        f.debug_struct("Acquirer").field("waits", &waits).finish_non_exhaustive()
    }
}
