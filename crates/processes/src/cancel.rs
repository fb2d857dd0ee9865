//! Ends a wait from another thread.

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use crate::sys;

/// Ends a wait in [`SharedHall::acquire_unless`](crate::SharedHall::acquire_unless) or
/// [`SharedHall::acquire_many_unless`](crate::SharedHall::acquire_many_unless) from another thread.
///
/// A `Cancel` can end one wait at a time. After a call of [`cancel`](Cancel::cancel), the current wait ends soon, and
/// every later wait with this `Cancel` ends immediately.
#[derive(Default, Debug)]
pub struct Cancel {
    cancelled: AtomicBool,
    /// The lifeline of the waiter: a pipe that the waiter has open. A byte written to it wakes the waiter.
    lifeline: Mutex<Option<Arc<OwnedFd>>>,
}

impl Cancel {
    /// Makes the waiter give up soon. If the waiter has already got a slot, its call returns the pass.
    pub fn cancel(&self) {
        // The waiter sets its lifeline before it reads the flag. So either the waiter sees the flag, or this thread
        // sees the lifeline.
        self.cancelled.store(true, SeqCst);
        let lifeline = self.lifeline.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(lifeline) = lifeline {
            let _ = sys::write_byte(lifeline.as_fd());
        }
    }

    /// Returns `true` once [`cancel`](Cancel::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(SeqCst)
    }

    /// Sets the lifeline of the waiter, before it waits.
    pub(crate) fn watch(&self, lifeline: Arc<OwnedFd>) {
        *self.lifeline.lock().unwrap_or_else(PoisonError::into_inner) = Some(lifeline);
    }

    /// Forgets the lifeline after the wait, so that this value does not keep it open. While a lifeline is open, other
    /// processes treat its owner as alive.
    pub(crate) fn unwatch(&self) {
        *self.lifeline.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.cancelled
    }
}
