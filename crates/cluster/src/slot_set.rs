//! Sets of slots.

use hallpass_common::MAX_SLOTS;
use serde::{Deserialize, Serialize};

const WORDS: usize = MAX_SLOTS.div_ceil(64);

/// A set of slots. Numbers that are not below [`MAX_SLOTS`] are ignored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(from = "Vec<usize>", into = "Vec<usize>")]
pub(crate) struct SlotSet([u64; WORDS]);

impl SlotSet {
    /// Iterates over the slots, in ascending order.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        (0..MAX_SLOTS).filter(move |slot| self.0[slot / 64] >> (slot % 64) & 1 == 1)
    }

    /// Returns the smallest slot.
    pub(crate) fn first(self) -> Option<usize> {
        self.iter().next()
    }

    pub(crate) fn len(self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == SlotSet::default()
    }
}

impl FromIterator<usize> for SlotSet {
    fn from_iter<I: IntoIterator<Item = usize>>(slots: I) -> Self {
        let mut set = SlotSet::default();
        for slot in slots.into_iter().filter(|slot| *slot < MAX_SLOTS) {
            set.0[slot / 64] |= 1 << (slot % 64);
        }
        set
    }
}

impl From<Vec<usize>> for SlotSet {
    fn from(slots: Vec<usize>) -> Self {
        slots.into_iter().collect()
    }
}

impl From<SlotSet> for Vec<usize> {
    fn from(slots: SlotSet) -> Self {
        slots.iter().collect()
    }
}

impl std::fmt::Debug for SlotSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_contains_the_slots_that_were_added() {
        let slots: SlotSet = [1023, 0, 64, 63, MAX_SLOTS, usize::MAX].into_iter().collect();
        assert_eq!(slots.iter().collect::<Vec<_>>(), [0, 63, 64, 1023]);
        assert_eq!((slots.len(), slots.first()), (4, Some(0)));
        let text = serde_json::to_string(&slots).expect("a list of numbers");
        assert_eq!(text, "[0,63,64,1023]");
        assert_eq!(serde_json::from_str::<SlotSet>(&text).expect("the same list"), slots);
        assert!(SlotSet::default().is_empty() && SlotSet::default().first().is_none());
    }
}
