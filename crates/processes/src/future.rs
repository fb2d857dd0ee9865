//! Waiting in a task. A helper thread waits on behalf of the task.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    thread,
};

use crate::{Cancel, Error, hall::SharedHall, pass::OwnedSharedPass, passes::OwnedSharedPasses};

/// Future returned by [`SharedHall::acquire_async`].
///
/// If no slot is free when the future is first polled, it starts a thread, which joins the queue and waits. Each
/// waiting future has its own thread and descriptor.
///
/// Dropping the future makes the thread leave the queue, but does not wait until it has done so. For some milliseconds,
/// other callers still find a waiter in the queue. If the thread gets a slot in the meantime, it frees the slot.
#[must_use = "a future does nothing until it is polled"]
pub struct Acquire {
    hall: SharedHall,
    helper: Option<Helper<OwnedSharedPass>>,
}

/// Future returned by [`SharedHall::acquire_many_async`].
///
/// If the slots are not free when the future is first polled, it starts one thread, which joins the queue and waits.
/// Dropping the future makes the thread leave the queue, as for [`Acquire`].
#[must_use = "a future does nothing until it is polled"]
pub struct AcquireMany {
    hall: SharedHall,
    m: usize,
    helper: Option<Helper<OwnedSharedPasses>>,
}

/// The thread that waits for `T`. Dropping this value makes the thread give up.
struct Helper<T>(Arc<Shared<T>>);

/// The state that the thread and the task share.
struct Shared<T> {
    cancel: Cancel,
    state: Mutex<State<T>>,
}

struct State<T> {
    ready: Option<Result<T, Error>>,
    /// Wakes the task.
    waker: Option<Waker>,
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + 'static> Helper<T> {
    /// Starts a thread that calls `wait`, and wakes the task when it returns.
    fn start(
        hall: &SharedHall,
        waker: Waker,
        wait: impl FnOnce(&SharedHall, &Cancel) -> Result<T, Error> + Send + 'static,
    ) -> Result<Self, Error> {
        let state = Mutex::new(State { ready: None, waker: Some(waker) });
        let shared = Arc::new(Shared { cancel: Cancel::default(), state });
        let (for_thread, hall_of_thread) = (shared.clone(), hall.clone());
        let run = move || {
            let ready = wait(&hall_of_thread, &for_thread.cancel);
            let mut state = for_thread.state();
            state.ready = Some(ready);
            if let Some(waker) = state.waker.take() {
                drop(state);
                waker.wake();
            }
        };
        let spawned = thread::Builder::new().name("hallpass".into()).spawn(run);
        spawned.map_err(Error::system("start a thread for", hall.path()))?;
        Ok(Helper(shared))
    }

    /// Returns the result of the thread. If there is no result yet, the thread will wake `waker` later.
    fn poll(&self, waker: &Waker) -> Poll<Result<T, Error>> {
        let mut state = self.0.state();
        match state.ready.take() {
            Some(ready) => Poll::Ready(ready),
            None => {
                state.waker = Some(waker.clone());
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for Helper<T> {
    fn drop(&mut self) {
        self.0.cancel.cancel();
    }
}

/// Polls the helper. If there is no helper yet, calls `try_now`, and starts a helper if the caller must wait.
fn poll_helper<T: Send + 'static>(
    hall: &SharedHall,
    helper: &mut Option<Helper<T>>,
    waker: &Waker,
    try_now: impl FnOnce(&SharedHall) -> Result<T, Error>,
    wait: impl FnOnce(&SharedHall, &Cancel) -> Result<T, Error> + Send + 'static,
) -> Poll<Result<T, Error>> {
    if let Some(helper) = helper {
        return helper.poll(waker);
    }
    // A free slot needs no thread.
    match try_now(hall) {
        Err(Error::NoPermits | Error::Full { .. }) => {}
        done => return Poll::Ready(done),
    }
    match Helper::start(hall, waker.clone(), wait) {
        Ok(started) => {
            *helper = Some(started);
            Poll::Pending
        }
        Err(error) => Poll::Ready(Err(error)),
    }
}

impl Acquire {
    pub(crate) fn new(hall: SharedHall) -> Self {
        Acquire { hall, helper: None }
    }
}

impl AcquireMany {
    pub(crate) fn new(hall: SharedHall, m: usize) -> Self {
        AcquireMany { hall, m, helper: None }
    }
}

impl Future for Acquire {
    type Output = Result<OwnedSharedPass, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Acquire { hall, helper } = &mut *self;
        let wait = |hall: &SharedHall, cancel: &Cancel| hall.acquire_owned_unless(cancel);
        poll_helper(hall, helper, context.waker(), SharedHall::try_acquire_owned, wait)
    }
}

impl Future for AcquireMany {
    type Output = Result<OwnedSharedPasses, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let AcquireMany { hall, m, helper } = &mut *self;
        let m = *m;
        let wait =
            move |hall: &SharedHall, cancel: &Cancel| hall.acquire_many_owned_unless(m, cancel);
        poll_helper(hall, helper, context.waker(), |hall| hall.try_acquire_many_owned(m), wait)
    }
}
