//! The shared memory of a hall.
#![allow(unsafe_code)]

use std::panic::{RefUnwindSafe, UnwindSafe};

use crossbeam_utils::CachePadded;
use hallpass_algorithms::Word;

use crate::{
    sync::{AtomicI64, UnsafeCell},
    waiter::{Newcomers, Queue},
};

/// The variables of the step machine. Different threads write them, so the three that everybody writes
/// have cache lines of their own.
#[repr(C)]
pub(crate) struct HallState {
    pub(crate) word: CachePadded<AtomicI64>,
    pub(crate) lock: CachePadded<AtomicI64>,
    pub(crate) newcomers: CachePadded<Newcomers>,
    pub(crate) terms: AtomicI64,
    pub(crate) queue: UnsafeCell<Queue>,
}

// SAFETY: only the server touches the queue and the contents of its nodes (see `waiter`); everything else
// is atomic. The handle in a node, a `Thread` or a `Waker`, may be used on any thread.
unsafe impl Send for HallState {}
// SAFETY: as above.
unsafe impl Sync for HallState {}

// A call that unwinds leaves nothing half done, so there is nothing to poison.
impl UnwindSafe for HallState {}
impl RefUnwindSafe for HallState {}

macro_rules! constructor {
    ($($const:tt)?) => {
        pub(crate) $($const)? fn new(word: Word, terms: Word) -> Self {
            HallState {
                word: CachePadded::new(AtomicI64::new(word)),
                lock: CachePadded::new(AtomicI64::new(0)),
                newcomers: CachePadded::new(Newcomers::new()),
                terms: AtomicI64::new(terms),
                queue: UnsafeCell::new(Queue::new()),
            }
        }
    };
}

impl HallState {
    #[cfg(not(loom))]
    constructor!(const);
    #[cfg(loom)]
    constructor!(); // loom's atomics have no `const fn new`
}
