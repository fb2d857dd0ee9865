//! The pool of idle registrations. A passage takes a registration (a record of the hall's file that belongs to
//! this process) from the pool and puts it back afterwards.

use std::{
    ptr,
    sync::atomic::{
        AtomicPtr, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release, SeqCst},
    },
};

use crate::{fork_mutex::ForkMutex, registration::Registration};

/// The idle registrations of a handle.
///
/// The first thread that uses the pool keeps one registration in `at_hand`. This thread takes the registration and
/// puts it back without a lock or an atomic read-modify-write, because no other living thread accesses `at_hand`. After
/// the first thread has ended, a later thread may get the same number. This thread then counts as the first thread.
pub(crate) struct Pool {
    /// The number of the first thread (see [`this_thread`]); 0 until a thread uses the pool.
    first: AtomicUsize,
    at_hand: AtomicPtr<Registration>,
    /// The other registrations. They are boxed because `take` returns boxes.
    #[allow(clippy::vec_box)]
    others: ForkMutex<Vec<Box<Registration>>>,
}

impl Pool {
    pub(crate) fn new() -> Self {
        let at_hand = AtomicPtr::new(ptr::null_mut());
        Pool { first: AtomicUsize::new(0), at_hand, others: ForkMutex::new(Vec::new()) }
    }

    /// Returns whether the calling thread is the first thread.
    #[inline(always)]
    fn is_first(&self) -> bool {
        let me = this_thread();
        // ORDERING: relaxed. Only the first thread ever stores a number here. A later thread may have the same number;
        // the accesses to `at_hand` then order the two threads (see `take`).
        match self.first.load(Relaxed) {
            0 => self.first.compare_exchange(0, me, SeqCst, SeqCst).is_ok(),
            first => first == me,
        }
    }

    /// Takes a registration out.
    #[inline(always)]
    pub(crate) fn take(&self) -> Option<Box<Registration>> {
        if self.is_first() {
            // ORDERING: acquire and release. When the first thread has ended, a later thread may get the
            // same number. The later thread must see what the ended thread has written.
            let at_hand = self.at_hand.load(Acquire);
            if !at_hand.is_null() {
                self.at_hand.store(ptr::null_mut(), Release);
                // SAFETY: `give` made the pointer from a box. Only threads with the number `first` access
                // `at_hand`, and only one of them is alive at a time. This thread has taken the pointer out, so the
                // box has one owner.
                return Some(unsafe { Box::from_raw(at_hand) });
            }
        }
        self.take_other()
    }

    #[inline(never)]
    fn take_other(&self) -> Option<Box<Registration>> {
        self.others.lock()?.pop()
    }

    /// Puts a registration back.
    #[inline(always)]
    pub(crate) fn give(&self, registration: Box<Registration>) {
        // ORDERING: acquire and release, so that a later thread with the same number sees these writes (see `take`).
        if self.is_first() && self.at_hand.load(Acquire).is_null() {
            self.at_hand.store(Box::into_raw(registration), Release);
        } else {
            self.give_other(registration);
        }
    }

    #[inline(never)]
    fn give_other(&self, registration: Box<Registration>) {
        if let Some(mut others) = self.others.lock() {
            others.push(registration);
        }
    }

    /// Takes all registrations out.
    #[allow(clippy::vec_box)]
    pub(crate) fn drain(&mut self) -> Vec<Box<Registration>> {
        let at_hand = std::mem::replace(self.at_hand.get_mut(), ptr::null_mut());
        let mut all = self.others.lock().map(|mut others| others.split_off(0)).unwrap_or_default();
        if !at_hand.is_null() {
            // SAFETY: `give` made the pointer from a box, and `self` is borrowed exclusively.
            all.push(unsafe { Box::from_raw(at_hand) });
        }
        all
    }
}

/// Returns a number that no other living thread of this process has.
#[inline(always)]
fn this_thread() -> usize {
    thread_local!(static MARK: u8 = const { 0 });
    // The variable has no destructor, so it exists as long as its thread.
    MARK.with(|mark| ptr::from_ref(mark).addr())
}
