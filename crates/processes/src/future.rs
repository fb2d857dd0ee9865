//! Waiting in a task. A helper thread waits on behalf of the task.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    thread,
};

use crate::{Cancel, Error, hall::SharedHall, pass::OwnedSharedPass};

/// Future returned by [`SharedHall::acquire_async`].
///
/// If no slot is free when the future is first polled, it starts a thread, which joins the queue and waits. Dropping
/// the future leaves the queue.
#[must_use = "a future does nothing until it is polled"]
pub struct Acquire {
    hall: SharedHall,
    helper: Option<Arc<Helper>>,
}

/// The state that the thread and the task share.
struct Helper {
    /// Cancelled when the future is dropped.
    cancel: Cancel,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ready: Option<Result<OwnedSharedPass, Error>>,
    /// Wakes the task.
    waker: Option<Waker>,
}

impl Helper {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Acquire {
    pub(crate) fn new(hall: SharedHall) -> Self {
        Acquire { hall, helper: None }
    }

    fn start_helper(&self, waker: Waker) -> Result<Arc<Helper>, Error> {
        let state = Mutex::new(State { waker: Some(waker), ..State::default() });
        let helper = Arc::new(Helper { cancel: Cancel::default(), state });
        let (hall, for_task) = (self.hall.clone(), helper.clone());
        let run = move || {
            let pass = hall.acquire_owned_unless(&for_task.cancel);
            let mut state = for_task.state();
            state.ready = Some(pass);
            if let Some(waker) = state.waker.take() {
                drop(state);
                waker.wake();
            }
        };
        let spawned = thread::Builder::new().name("hallpass".into()).spawn(run);
        spawned.map_err(Error::system("start a thread for", self.hall.path()))?;
        Ok(helper)
    }
}

impl Future for Acquire {
    type Output = Result<OwnedSharedPass, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(helper) = &self.helper else {
            // A free slot needs no thread.
            match self.hall.try_acquire_owned() {
                Err(Error::NoPermits | Error::Full { .. }) => {}
                done => return Poll::Ready(done),
            }
            return match self.start_helper(context.waker().clone()) {
                Ok(helper) => {
                    self.helper = Some(helper);
                    Poll::Pending
                }
                Err(error) => Poll::Ready(Err(error)),
            };
        };
        let mut state = helper.state();
        match state.ready.take() {
            Some(pass) => Poll::Ready(pass),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        if let Some(helper) = &self.helper {
            helper.cancel.cancel();
        }
    }
}
