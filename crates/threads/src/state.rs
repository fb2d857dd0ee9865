//! The part of a hall's memory that only callers on the contended path access.
#![allow(unsafe_code)]

use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::{lock::Lock, sync::UnsafeCell, waiter::Queue};

/// The lock and the queue of the step machine. They are on a separate cache line, so that callers that queue do not
/// slow down callers on the fast path.
#[repr(align(64))]
pub(crate) struct QueueState {
    pub(crate) lock: Lock,
    pub(crate) queue: UnsafeCell<Queue>,
}

// SAFETY: only the server (the holder of `lock`) touches the queue and the contents of its nodes (see `waiter`);
// everything else is atomic. The handle in a node, a `Thread` or a `Waker`, may be used on any thread.
unsafe impl Send for QueueState {}
// SAFETY: the reasons for `Send` also hold for `Sync`.
unsafe impl Sync for QueueState {}

// A call that unwinds leaves no change half done, so there is no need to poison the hall.
impl UnwindSafe for QueueState {}
impl RefUnwindSafe for QueueState {}

macro_rules! constructor {
    ($($const:tt)?) => {
        pub(crate) $($const)? fn new() -> Self {
            QueueState { lock: Lock::new(), queue: UnsafeCell::new(Queue::new()) }
        }
    };
}

impl QueueState {
    #[cfg(not(loom))]
    constructor!(const);
    #[cfg(loom)]
    constructor!(); // loom's atomics have no `const fn new`
}
