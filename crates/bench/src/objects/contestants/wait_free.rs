//! The wait-free construction, for a fixed number of threads.

use hallpass_objects::{Handle, WaitFree};

use super::Queue;
use crate::objects::heap::{Heap, Op};

pub fn new(max_threads: usize, heap: Heap) -> WaitFree<Heap> {
    WaitFree::new(max_threads, heap)
}

impl Queue for WaitFree<Heap> {
    type Handle<'a> = Handle<'a, Heap>;

    fn join(&self) -> Handle<'_, Heap> {
        self.handle().expect("at most `max_threads` threads join")
    }

    #[inline]
    fn apply<'a>(&'a self, handle: &mut Handle<'a, Heap>, op: Op) -> Option<u64> {
        handle.apply(op)
    }
}
