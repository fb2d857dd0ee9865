//! A heap under the queue lock of Mellor-Crummey and Scott, as in the experiments of Anderson and Moir's paper.
//!
//! [`Spin`] only spins, as in the paper. With more threads than cores this is very slow, because the next thread in
//! the queue usually has no core. [`Yield`] yields its core after each look.
#![allow(unsafe_code)]

use std::{
    hint,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

use hallpass_objects::Object;
use mcslock::{
    raw::{Mutex, MutexNode},
    relax::Relax,
};

use super::Queue;
use crate::objects::heap::{Heap, Op};

/// Number of measurements that are about to end.
static DRAINING: AtomicUsize = AtomicUsize::new(0);

/// Makes spinning threads yield until this value is dropped. Otherwise, a queue of spinning threads would need seconds
/// to become empty at the end of a measurement.
#[derive(Debug)]
pub struct Draining(());

impl Draining {
    /// Makes spinning threads yield from now on.
    #[expect(clippy::new_without_default, reason = "creating the value has an effect")]
    pub fn new() -> Self {
        // ORDERING: Relaxed, because no other access depends on the count.
        DRAINING.fetch_add(1, Relaxed);
        Draining(())
    }
}

impl Drop for Draining {
    fn drop(&mut self) {
        // ORDERING: Relaxed, because no other access depends on the count.
        DRAINING.fetch_sub(1, Relaxed);
    }
}

pub struct Spin;
pub struct Yield;

// SAFETY: neither function panics.
unsafe impl Relax for Spin {
    #[inline]
    fn new() -> Self {
        Spin
    }

    #[inline]
    fn relax(&mut self) {
        // ORDERING: Relaxed, because no other access depends on the count.
        match DRAINING.load(Relaxed) {
            0 => hint::spin_loop(),
            _ => thread::yield_now(),
        }
    }
}

// SAFETY: neither function panics.
unsafe impl Relax for Yield {
    #[inline]
    fn new() -> Self {
        Yield
    }

    #[inline]
    fn relax(&mut self) {
        thread::yield_now();
    }
}

pub struct Mcs<R>(Mutex<Heap, R>);

impl<R: Relax> Mcs<R> {
    pub fn new(heap: Heap) -> Self {
        Mcs(Mutex::new(heap))
    }
}

impl<R: Relax + 'static> Queue for Mcs<R> {
    type Handle<'a> = MutexNode;

    fn join(&self) -> MutexNode {
        MutexNode::new()
    }

    #[inline]
    fn apply(&self, node: &mut MutexNode, op: Op) -> Option<u64> {
        self.0.lock_with_then(node, |heap| heap.apply(&op))
    }
}
