//! How a waiter is woken.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    task::Waker,
};

use crate::sync::Thread;

/// Wakes a waiter: unparks its thread, or wakes its task.
pub(crate) enum WakeHandle {
    Thread(Thread),
    Task(Waker),
}

impl WakeHandle {
    /// Wakes the waiter.
    ///
    /// A waker is foreign code and may panic. The panic hook has reported that by now, and it goes no
    /// further: the caller may have a node in the queue, and may have grants to make.
    pub(crate) fn wake(self) {
        match self {
            WakeHandle::Thread(thread) => thread.unpark(),
            WakeHandle::Task(waker) => {
                let woken = catch_unwind(AssertUnwindSafe(|| waker.wake()));
                woken.unwrap_or_else(mem::forget); // dropping the payload may panic again
            }
        }
    }
}
