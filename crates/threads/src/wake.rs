//! Handles that wake waiters.

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

/// Tasks to wake, in this order. One task needs no allocation.
pub(crate) struct WakeList {
    first: Option<Waker>,
    more: Vec<Waker>,
}

impl WakeList {
    pub(crate) const fn new() -> Self {
        WakeList { first: None, more: Vec::new() }
    }

    pub(crate) fn push(&mut self, waker: Waker) {
        if self.first.is_none() {
            self.first = Some(waker);
        } else {
            self.more.push(waker);
        }
    }

    /// Wakes all tasks. Returns whether there were any.
    #[inline]
    pub(crate) fn wake_all(&mut self) -> bool {
        let Some(first) = self.first.take() else { return false };
        wake(first);
        if !self.more.is_empty() {
            mem::take(&mut self.more).into_iter().for_each(wake);
        }
        true
    }
}

/// Wakes a task.
///
/// A waker is foreign code and may panic. The panic hook reports the panic, and this function then ends it. The panic
/// must not unwind further, because the caller may have a node in the queue, and may have grants to make.
fn wake(waker: Waker) {
    let woken = catch_unwind(AssertUnwindSafe(|| waker.wake()));
    woken.unwrap_or_else(mem::forget); // dropping the payload may panic again
}
