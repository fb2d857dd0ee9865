//! Members that are not in use.

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

use crate::{member::Member, wires::lock};

/// Members that are not in use. The first thread that comes has one at hand without a lock or an atomic
/// read-modify-write: what is at hand is its alone.
pub(crate) struct Pool {
    /// Tells the first thread; 0 before it has come.
    first: AtomicUsize,
    at_hand: AtomicPtr<Member>,
    /// Boxed, as they are handed out.
    #[allow(clippy::vec_box)]
    others: Mutex<Vec<Box<Member>>>,
}

impl Pool {
    pub(crate) fn new() -> Self {
        let at_hand = AtomicPtr::new(ptr::null_mut());
        Pool { first: AtomicUsize::new(0), at_hand, others: Mutex::new(Vec::new()) }
    }

    /// Whether this is the first thread.
    #[inline(always)]
    fn is_first(&self) -> bool {
        let me = this_thread();
        // ORDERING: relaxed, for a thread only looks whether it has written its own number here.
        match self.first.load(Relaxed) {
            0 => self.first.compare_exchange(0, me, SeqCst, SeqCst).is_ok(),
            first => first == me,
        }
    }

    /// Takes one out.
    #[inline(always)]
    pub(crate) fn take(&self) -> Option<Box<Member>> {
        if self.is_first() {
            // ORDERING: acquire and release, for a later thread may have the first one's number.
            let at_hand = self.at_hand.load(Acquire);
            if !at_hand.is_null() {
                self.at_hand.store(ptr::null_mut(), Release);
                // SAFETY: `give` made it from a box, and no other thread touches what is at hand.
                return Some(unsafe { Box::from_raw(at_hand) });
            }
        }
        self.take_other()
    }

    #[inline(never)]
    fn take_other(&self) -> Option<Box<Member>> {
        lock(&self.others)?.pop()
    }

    /// Puts one back.
    #[inline(always)]
    pub(crate) fn give(&self, member: Box<Member>) {
        // ORDERING: as in `take`.
        if self.is_first() && self.at_hand.load(Acquire).is_null() {
            self.at_hand.store(Box::into_raw(member), Release);
        } else {
            self.give_other(member);
        }
    }

    #[inline(never)]
    fn give_other(&self, member: Box<Member>) {
        if let Some(mut others) = lock(&self.others) {
            others.push(member);
        }
    }

    /// Takes all out, when nobody else can reach the pool any more.
    #[allow(clippy::vec_box)]
    pub(crate) fn drain(&mut self) -> Vec<Box<Member>> {
        let at_hand = std::mem::replace(self.at_hand.get_mut(), ptr::null_mut());
        let mut all = lock(&self.others).map(|mut others| others.split_off(0)).unwrap_or_default();
        if !at_hand.is_null() {
            // SAFETY: `give` made it from a box, and `self` is borrowed exclusively.
            all.push(unsafe { Box::from_raw(at_hand) });
        }
        all
    }
}

/// A number that no other living thread of this process has.
#[inline(always)]
fn this_thread() -> usize {
    thread_local!(static MARK: u8 = const { 0 });
    MARK.with(|mark| ptr::from_ref(mark).addr()) // there is nothing to drop, so it is never gone
}
