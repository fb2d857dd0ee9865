//! Sets of numbered states, one bit for each state.

use crate::{
    compact::{Memory, OutOfMemory},
    store::Id,
};

/// A set of numbers. Its memory counts towards the limit.
pub(super) struct Bits<'a> {
    words: Vec<u64>,
    memory: &'a Memory,
}

impl<'a> Bits<'a> {
    /// Creates an empty set of numbers below `len`.
    ///
    /// # Errors
    /// Fails if the set would exceed the limit on memory.
    pub fn new(len: Id, memory: &'a Memory) -> Result<Self, OutOfMemory> {
        let words = (len as usize).div_ceil(64);
        memory.take((words * size_of::<u64>()) as u64)?;
        Ok(Bits { words: vec![0; words], memory })
    }

    /// Returns whether the set contains a number.
    #[inline]
    pub fn contains(&self, id: Id) -> bool {
        self.words[id as usize / 64] >> (id % 64) & 1 != 0
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, id: Id) {
        self.words[id as usize / 64] |= 1 << (id % 64);
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }
}

impl Drop for Bits<'_> {
    fn drop(&mut self) {
        self.memory.give_back(size_of_val(&self.words[..]) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_contains_what_was_added_and_gives_its_memory_back() {
        let memory = Memory::new(1 << 10);
        let mut bits = Bits::new(200, &memory).expect("enough memory");
        assert_eq!(memory.left(), (1 << 10) - 32);
        for id in (0..200).step_by(7) {
            bits.insert(id);
        }
        assert!((0..200).all(|id| bits.contains(id) == (id % 7 == 0)));
        bits.clear();
        assert!(!(0..200).any(|id| bits.contains(id)));
        drop(bits);
        assert_eq!(memory.left(), 1 << 10);
        assert!(Bits::new(1 << 20, &memory).is_err());
    }
}
