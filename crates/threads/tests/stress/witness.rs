//! Counts the slots that are held, independently of the hall.
//!
//! A holder reports to the witness after it has got its slots, and again before it frees them. So the witness never
//! counts more slots than are held.
//!
//! After the hall was made smaller, the new bound holds once every caller that asked for slots before the change has
//! left. So when a caller asks, it records how many times the hall has been made smaller. The witness lowers the bound
//! when no caller from before the change is left. It raises the bound before the hall is made larger.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    thread,
};

pub struct Witness {
    /// The number of slots that are held.
    inside: AtomicUsize,
    /// For each slot, whether it is held.
    taken: Box<[AtomicBool]>,
    /// The largest number of slots that may be held.
    bound: AtomicUsize,
    /// How many times the hall was made smaller.
    smaller: AtomicUsize,
    /// For each thread, the value of `smaller` when it last asked for slots, or [`IDLE`].
    asked: Box<[Padded]>,
}

/// A counter on a separate cache line.
#[repr(align(128))]
struct Padded(AtomicUsize);

/// The entry of a thread that does not ask for slots.
const IDLE: usize = usize::MAX;

pub struct EndsOnDrop<'a>(&'a AtomicUsize);

impl Drop for EndsOnDrop<'_> {
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
            asked: (0..threads).map(|_| Padded(AtomicUsize::new(IDLE))).collect(),
        }
    }

    /// Records that `thread` is about to ask for slots.
    pub fn begins(&self, thread: usize) {
        self.asked[thread].0.store(self.smaller.load(SeqCst), SeqCst);
    }

    /// Returns a guard. Dropping it records that `thread` no longer asks for slots.
    pub fn ends_on_drop(&self, thread: usize) -> EndsOnDrop<'_> {
        EndsOnDrop(&self.asked[thread].0)
    }

    /// Records that a caller has got these slots, and checks the bound.
    pub fn enter(&self, count: usize, slots: impl Iterator<Item = usize>) {
        let before = self.bound.load(SeqCst);
        let inside = self.inside.fetch_add(count, SeqCst) + count;
        // The bound is not lowered twice between a caller's request and its leaving, so the larger of the two values is
        // a valid bound.
        let bound = before.max(self.bound.load(SeqCst));
        assert!(inside <= bound, "{inside} slots are held, but the bound is {bound}");
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

    /// Records that a holder is about to leave.
    pub fn leave(&self, count: usize, slots: impl Iterator<Item = usize>) {
        for slot in slots {
            assert!(self.taken[slot].swap(false, SeqCst));
        }
        self.inside.fetch_sub(count, SeqCst);
    }

    pub fn has_no_holders(&self) -> bool {
        self.inside.load(SeqCst) == 0 && self.taken.iter().all(|slot| !slot.load(SeqCst))
    }

    /// Resizes to `k`, and moves the bound. Only one thread may call this.
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
