//! A lower bound on the cost of any semaphore: one atomic access to enter, one to leave, no exclusion.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::common::Semaphore;

/// Counts the holders and admits every thread.
#[derive(Default)]
pub struct Floor(AtomicUsize);

/// Makes the second access of the floor when it is dropped.
pub struct Guard<'a>(&'a Floor);

impl Semaphore for Floor {
    type Guard<'a> = Guard<'a>;

    #[inline]
    fn enter(&self, _: usize) -> Guard<'_> {
        self.0.fetch_add(1, SeqCst);
        Guard(self)
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, SeqCst);
    }
}
