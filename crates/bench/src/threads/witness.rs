//! Sees whether more than k are in, or two in one place, whatever the semaphore believes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// Counts who is in, and who holds which place.
#[derive(Debug)]
pub struct Witness {
    inside: AtomicUsize,
    most: AtomicUsize,
    places: Vec<AtomicBool>,
    complaint: AtomicBool,
}

impl Witness {
    /// For places below `k`.
    pub fn new(k: usize) -> Self {
        Witness {
            inside: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            places: (0..k).map(|_| AtomicBool::new(false)).collect(),
            complaint: AtomicBool::new(false),
        }
    }

    /// Somebody is in, perhaps in a certain place.
    pub fn enters(&self, slot: Option<usize>) {
        let inside = self.inside.fetch_add(1, SeqCst) + 1;
        self.most.fetch_max(inside, SeqCst);
        if let Some(slot) = slot
            && self.places.get(slot).is_none_or(|place| place.swap(true, SeqCst))
        {
            self.complaint.store(true, SeqCst);
        }
    }

    /// The same, about to leave.
    pub fn leaves(&self, slot: Option<usize>) {
        if let Some(place) = slot.and_then(|slot| self.places.get(slot)) {
            place.store(false, SeqCst);
        }
        self.inside.fetch_sub(1, SeqCst);
    }

    /// The most that were in at once.
    pub fn most_inside(&self) -> usize {
        self.most.load(SeqCst)
    }

    /// Returns `true` if a slot had two holders, or was not below k.
    pub fn saw_wrong_place(&self) -> bool {
        self.complaint.load(SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_held_twice_is_seen_and_one_too_many_too() {
        let witness = Witness::new(2);
        witness.enters(Some(1));
        assert!(!witness.saw_wrong_place());
        witness.enters(Some(1));
        assert!(witness.saw_wrong_place());
        witness.leaves(Some(1));
        witness.enters(None);
        witness.enters(None);
        assert_eq!(witness.most_inside(), 3);
        let witness = Witness::new(2);
        witness.enters(Some(2));
        assert!(witness.saw_wrong_place());
    }
}
