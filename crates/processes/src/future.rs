//! Waiting in a task: a thread waits in its place.

use std::{
    future::Future,
    os::fd::{AsFd, OwnedFd},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Poll, Waker},
    thread,
};

use crate::{Error, hall::SharedHall, pass::OwnedSharedPass, sys};

/// A pass, once it is there. The place in the queue is taken soon after this is first polled, by a thread
/// that waits in its place, and given up when this is dropped.
#[must_use = "a future does nothing until it is polled"]
pub struct Acquire {
    hall: SharedHall,
    helper: Option<Arc<Helper>>,
}

/// What the thread and the task have in common.
struct Helper {
    /// Nobody wants the pass any more.
    given_up: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ready: Option<Result<OwnedSharedPass, Error>>,
    /// What wakes the thread.
    bell: Option<Arc<OwnedFd>>,
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

    fn begin(&self, waker: Waker) -> Result<Arc<Helper>, Error> {
        let state = Mutex::new(State { waker: Some(waker), ..State::default() });
        let helper = Arc::new(Helper { given_up: AtomicBool::new(false), state });
        let (hall, for_task) = (self.hall.clone(), helper.clone());
        let run = move || {
            let pass = hall.acquire_unless(&for_task.given_up, |bell| {
                for_task.state().bell = Some(bell);
            });
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
            // Without a thread if there is nothing to wait for.
            match self.hall.try_acquire_owned() {
                Err(Error::NoPermits) => {}
                done => return Poll::Ready(done),
            }
            return match self.begin(context.waker().clone()) {
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
            helper.given_up.store(true, SeqCst);
            if let Some(bell) = helper.state().bell.take() {
                let _ = sys::write_byte(bell.as_fd());
            }
        }
    }
}
