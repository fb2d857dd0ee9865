//! The wait-free construction, for a fixed number of threads.

use hallpass_objects::{Handle, WaitFree};

use super::Queue;
use crate::objects::heap::{Heap, Op};

pub fn new(places: usize, heap: Heap) -> WaitFree<Heap> {
    WaitFree::new(places, heap)
}

impl Queue for WaitFree<Heap> {
    type Handle<'a> = Handle<'a, Heap>;

    fn join(&self) -> Handle<'_, Heap> {
        self.handle().expect("there are enough places")
    }

    #[inline]
    fn apply<'a>(&'a self, handle: &mut Handle<'a, Heap>, op: Op) -> Option<u64> {
        handle.apply(op)
    }
}
