//! `async_lock::Semaphore`, used through its blocking call.

use async_lock::{Semaphore as AsyncLock, SemaphoreGuard};

use crate::common::Semaphore;

impl Semaphore for AsyncLock {
    type Guard<'a> = SemaphoreGuard<'a>;

    #[inline]
    fn enter(&self, _: usize) -> SemaphoreGuard<'_> {
        self.acquire_blocking()
    }
}
