//! `tokio::sync::Semaphore`. It is made for tasks. Here, the callers are threads that block until the future is ready.
//!
//! futures-lite's `block_on` keeps its waker for the next call, so no passage includes the cost of making a waker.

use futures_lite::future::block_on;
use tokio::sync::{Semaphore as Tokio, SemaphorePermit};

use crate::common::Semaphore;

impl Semaphore for Tokio {
    type Guard<'a> = SemaphorePermit<'a>;

    #[inline]
    fn enter(&self, _: usize) -> SemaphorePermit<'_> {
        block_on(self.acquire()).expect("nobody closes the semaphore")
    }
}
