//! Detects if there are more than k holders, or two holders of one slot. It does not depend on the semaphore.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// Counts the holders, and records which slots are held.
#[derive(Debug)]
pub struct Witness {
    inside: AtomicUsize,
    most: AtomicUsize,
    holds: Vec<AtomicBool>,
    saw_wrong_slot: AtomicBool,
}

impl Witness {
    /// Makes a witness for slots below `k`.
    pub fn new(k: usize) -> Self {
        Witness {
            inside: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            holds: (0..k).map(|_| AtomicBool::new(false)).collect(),
            saw_wrong_slot: AtomicBool::new(false),
        }
    }

    /// Records that a holder has entered, with this slot if the semaphore numbers its slots.
    pub fn enters(&self, slot: Option<usize>) {
        let inside = self.inside.fetch_add(1, SeqCst) + 1;
        self.most.fetch_max(inside, SeqCst);
        if let Some(slot) = slot
            && self.holds.get(slot).is_none_or(|held| held.swap(true, SeqCst))
        {
            self.saw_wrong_slot.store(true, SeqCst);
        }
    }

    /// Records that a holder is about to leave.
    pub fn leaves(&self, slot: Option<usize>) {
        if let Some(held) = slot.and_then(|slot| self.holds.get(slot)) {
            held.store(false, SeqCst);
        }
        self.inside.fetch_sub(1, SeqCst);
    }

    /// Returns the largest number of holders at once.
    pub fn max_holders(&self) -> usize {
        self.most.load(SeqCst)
    }

    /// Returns `true` if a slot had two holders, or was not below k.
    pub fn saw_wrong_slot(&self) -> bool {
        self.saw_wrong_slot.load(SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_with_two_holders_and_too_many_holders_are_seen() {
        let witness = Witness::new(2);
        witness.enters(Some(1));
        assert!(!witness.saw_wrong_slot());
        witness.enters(Some(1));
        assert!(witness.saw_wrong_slot());
        witness.leaves(Some(1));
        witness.enters(None);
        witness.enters(None);
        assert_eq!(witness.max_holders(), 3);
        let witness = Witness::new(2);
        witness.enters(Some(2));
        assert!(witness.saw_wrong_slot());
    }
}
