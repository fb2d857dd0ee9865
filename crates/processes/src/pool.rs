//! Idle registrations.

use std::{
    ptr,
    sync::{
        Mutex,
        atomic::{
            AtomicPtr, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release, SeqCst},
        },
    },
};

use crate::{registration::Registration, wires::lock};

/// The idle registrations of a handle.
///
/// The first thread that uses the pool has one registration at hand, without a lock or an atomic
/// read-modify-write: no other thread touches it.
pub(crate) struct Pool {
    /// Identifies the first thread; 0 before any has come.
    first: AtomicUsize,
    at_hand: AtomicPtr<Registration>,
    /// Boxed, as they are handed out.
    #[allow(clippy::vec_box)]
    others: Mutex<Vec<Box<Registration>>>,
}

impl Pool {
    pub(crate) fn new() -> Self {
        let at_hand = AtomicPtr::new(ptr::null_mut());
        Pool { first: AtomicUsize::new(0), at_hand, others: Mutex::new(Vec::new()) }
    }

    /// Returns `true` on the first thread.
    #[inline(always)]
    fn is_first(&self) -> bool {
        let me = this_thread();
        // ORDERING: relaxed. A thread only looks whether it has written its own number here.
        match self.first.load(Relaxed) {
            0 => self.first.compare_exchange(0, me, SeqCst, SeqCst).is_ok(),
            first => first == me,
        }
    }

    /// Takes a registration out.
    #[inline(always)]
    pub(crate) fn take(&self) -> Option<Box<Registration>> {
        if self.is_first() {
            // ORDERING: acquire and release. A later thread may have the number of a first thread that
            // has ended, and must see what that thread has written.
            let at_hand = self.at_hand.load(Acquire);
            if !at_hand.is_null() {
                self.at_hand.store(ptr::null_mut(), Release);
                // SAFETY: `give` made the pointer from a box. Only the first thread touches what is at
                // hand, and it has taken the pointer out, so the box is owned once.
                return Some(unsafe { Box::from_raw(at_hand) });
            }
        }
        self.take_other()
    }

    #[inline(never)]
    fn take_other(&self) -> Option<Box<Registration>> {
        lock(&self.others)?.pop()
    }

    /// Puts a registration back.
    #[inline(always)]
    pub(crate) fn give(&self, registration: Box<Registration>) {
        // ORDERING: as in `take`.
        if self.is_first() && self.at_hand.load(Acquire).is_null() {
            self.at_hand.store(Box::into_raw(registration), Release);
        } else {
            self.give_other(registration);
        }
    }

    #[inline(never)]
    fn give_other(&self, registration: Box<Registration>) {
        if let Some(mut others) = lock(&self.others) {
            others.push(registration);
        }
    }

    /// Takes all registrations out. No other thread can reach the pool any more.
    #[allow(clippy::vec_box)]
    pub(crate) fn drain(&mut self) -> Vec<Box<Registration>> {
        let at_hand = std::mem::replace(self.at_hand.get_mut(), ptr::null_mut());
        let mut all = lock(&self.others).map(|mut others| others.split_off(0)).unwrap_or_default();
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
    // Without a destructor, the variable exists as long as its thread.
    MARK.with(|mark| ptr::from_ref(mark).addr())
}
