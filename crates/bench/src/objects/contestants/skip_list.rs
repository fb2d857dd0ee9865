//! A skip list that many threads change at the same time. The list is a set, so each element gets a unique number.
//! Otherwise, the set would keep only one of several equal elements.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crossbeam_skiplist::SkipSet;

use super::Queue;
use crate::{
    common::Padded,
    objects::{
        heap::{Heap, Op},
        stall,
    },
};

pub struct SkipList {
    elements: SkipSet<(u64, u64)>,
    joined: AtomicU64,
}

/// The numbers that a thread assigns: the number of the thread in the upper half, a count in the lower half.
pub struct Unique(u64);

impl Unique {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

impl SkipList {
    pub fn new(heap: Heap) -> Self {
        let list = SkipList { elements: SkipSet::new(), joined: AtomicU64::new(0) };
        let mut unique = list.join();
        for element in heap.elements() {
            list.elements.insert((element, unique.0.next()));
        }
        list
    }
}

impl Queue for SkipList {
    type Handle<'a> = Padded<Unique>;

    fn join(&self) -> Padded<Unique> {
        // ORDERING: Relaxed, because only the uniqueness of the number matters.
        Padded(Unique(self.joined.fetch_add(1, Relaxed) << 32))
    }

    #[inline]
    fn apply(&self, unique: &mut Padded<Unique>, op: Op) -> Option<u64> {
        let ret = match op {
            Op::Push(element) => {
                self.elements.insert((element, unique.0.next()));
                None
            }
            Op::Pop => self.elements.pop_front().map(|entry| entry.value().0),
        };
        if stall::is_armed() {
            // If a thread stops here, it stays pinned. Then no element that is removed later is freed.
            let _pinned = crossbeam_epoch::pin();
            stall::point();
        }
        ret
    }
}
