//! A count under `std::sync::Mutex` and a `Condvar`, as many programs write it by hand.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::common::Semaphore;

/// A semaphore made of types of the standard library.
pub struct StdCondvar {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A guard; dropping it frees the slot.
pub struct Guard<'a>(&'a StdCondvar);

impl StdCondvar {
    /// Makes a semaphore with `k` slots.
    pub fn new(k: usize) -> Self {
        StdCondvar { free: Mutex::new(k), freed: Condvar::new() }
    }
}

impl Semaphore for StdCondvar {
    type Guard<'a> = Guard<'a>;

    #[inline]
    fn enter(&self, _: usize) -> Guard<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.freed.wait_while(free, |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Guard(self)
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}
