//! Who is in, as seen from outside.
//!
//! One is counted after it was let in and until before it leaves, so what is counted here is never
//! more than are in.
//!
//! How many may be in after the hall was made smaller is known when everybody who asked before that
//! is out again: each says when it asks, by the number of times the hall was made smaller, and the
//! bound is lowered when nobody is left from before. It is raised before the hall is made larger.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    thread,
};

pub struct Witness {
    inside: AtomicUsize,
    taken: Box<[AtomicBool]>,
    bound: AtomicUsize,
    smaller: AtomicUsize,
    asked: Box<[Apart]>,
}

/// On a cache line of its own.
#[repr(align(128))]
struct Apart(AtomicUsize);

/// Asks for nothing.
const IDLE: usize = usize::MAX;

pub struct Ends<'a>(&'a AtomicUsize);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(IDLE, SeqCst);
    }
}

impl Witness {
    pub fn new(slots: usize, room: usize, threads: usize) -> Self {
        Witness {
            inside: AtomicUsize::new(0),
            taken: (0..room).map(|_| AtomicBool::new(false)).collect(),
            bound: AtomicUsize::new(slots),
            smaller: AtomicUsize::new(0),
            asked: (0..threads).map(|_| Apart(AtomicUsize::new(IDLE))).collect(),
        }
    }

    /// This thread is about to ask.
    pub fn begins(&self, thread: usize) {
        self.asked[thread].0.store(self.smaller.load(SeqCst), SeqCst);
    }

    /// This thread does not ask any more from when this is dropped.
    pub fn ends(&self, thread: usize) -> Ends<'_> {
        Ends(&self.asked[thread].0)
    }

    /// Somebody was let in with these slots.
    pub fn enter(&self, count: usize, slots: impl Iterator<Item = usize>) {
        let before = self.bound.load(SeqCst);
        let inside = self.inside.fetch_add(count, SeqCst) + count;
        // It is not lowered twice during one passage, so one of the two held all the time between.
        let bound = before.max(self.bound.load(SeqCst));
        assert!(inside <= bound, "{inside} are in, and at most {bound} may be");
        let mut seen = 0;
        let mut last = None;
        for slot in slots {
            assert!(slot < bound, "slot {slot} of {bound}");
            assert!(last < Some(slot), "ascending");
            assert!(!self.taken[slot].swap(true, SeqCst), "slot {slot} is taken twice");
            last = Some(slot);
            seen += 1;
        }
        assert_eq!(seen, count);
    }

    /// Somebody is about to leave.
    pub fn leave(&self, count: usize, slots: impl Iterator<Item = usize>) {
        for slot in slots {
            assert!(self.taken[slot].swap(false, SeqCst));
        }
        self.inside.fetch_sub(count, SeqCst);
    }

    pub fn nobody_is_in(&self) -> bool {
        self.inside.load(SeqCst) == 0 && self.taken.iter().all(|slot| !slot.load(SeqCst))
    }

    /// Watches a resize to `k`. Only one at a time.
    pub fn resize(&self, k: usize, resize: impl FnOnce()) {
        if k >= self.bound.load(SeqCst) {
            self.bound.store(k, SeqCst);
            return resize();
        }
        resize();
        let now = self.smaller.fetch_add(1, SeqCst) + 1;
        while self.asked.iter().any(|asked| asked.0.load(SeqCst) < now) {
            thread::yield_now();
        }
        self.bound.store(k, SeqCst);
    }
}
