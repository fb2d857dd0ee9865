//! A heap under a lock whose waiters sleep.

use std::sync::{Mutex, PoisonError};

use hallpass_objects::Object;

use super::Queue;
use crate::objects::heap::{Heap, Op};

impl Queue for Mutex<Heap> {
    type Handle<'a> = ();

    fn join(&self) {}

    #[inline]
    fn apply(&self, (): &mut (), op: Op) -> Option<u64> {
        self.lock().unwrap_or_else(PoisonError::into_inner).apply(&op)
    }
}

impl Queue for parking_lot::Mutex<Heap> {
    type Handle<'a> = ();

    fn join(&self) {}

    #[inline]
    fn apply(&self, (): &mut (), op: Op) -> Option<u64> {
        self.lock().apply(&op)
    }
}
