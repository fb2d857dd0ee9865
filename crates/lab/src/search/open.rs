//! The numbers of open states: a hash table from which states are removed as often as they are added.
//!
//! The table of the standard library keeps deleted places, doubles its size when it grows, and does not report how much
//! memory it takes. So its memory could not be counted exactly.

use super::numbers::UNSEEN;
use crate::{
    compact::{Memory, OutOfMemory},
    store::Id,
};

/// The number of places of the first table.
const FEWEST: usize = 1 << 10;

/// A hash table with linear probing. A removal moves later entries forward, so the table has no deleted places, and it
/// grows only if more states are open than ever before.
pub(super) struct OpenStates<'a> {
    /// States and their numbers. A place with the number [`UNSEEN`] is empty.
    places: Vec<(Id, u32)>,
    count: usize,
    memory: &'a Memory,
}

impl<'a> OpenStates<'a> {
    pub fn new(memory: &'a Memory) -> Self {
        OpenStates { places: Vec::new(), count: 0, memory }
    }

    fn bytes(places: usize) -> u64 {
        (places * size_of::<(Id, u32)>()) as u64
    }

    /// Returns the place at which the search for a state begins.
    #[inline]
    fn home(&self, id: Id) -> usize {
        let hash = id.wrapping_mul(0x9e37_79b9);
        ((u64::from(hash) * self.places.len() as u64) >> 32) as usize
    }

    #[inline]
    fn after(&self, place: usize) -> usize {
        if place + 1 == self.places.len() { 0 } else { place + 1 }
    }

    /// Returns the place of a state, or the empty place where the search for it ends.
    #[inline]
    fn find(&self, id: Id) -> usize {
        let mut place = self.home(id);
        while self.places[place].1 != UNSEEN && self.places[place].0 != id {
            place = self.after(place);
        }
        place
    }

    /// Returns the number of an open state.
    #[inline]
    pub fn get(&self, id: Id) -> u32 {
        self.places[self.find(id)].1
    }

    /// Changes the number of an open state.
    #[inline]
    pub fn set(&mut self, id: Id, number: u32) {
        let place = self.find(id);
        self.places[place].1 = number;
    }

    /// Adds a state that is not in the table.
    ///
    /// # Errors
    /// Fails if this reaches the limit on memory.
    #[inline]
    pub fn insert(&mut self, id: Id, number: u32) -> Result<(), OutOfMemory> {
        if self.count >= self.places.len() / 4 * 3 {
            self.grow()?;
        }
        let place = self.find(id);
        self.places[place] = (id, number);
        self.count += 1;
        Ok(())
    }

    #[cold]
    fn grow(&mut self) -> Result<(), OutOfMemory> {
        let larger = (self.places.len() / 2 * 3).max(FEWEST);
        self.memory.take(Self::bytes(larger))?;
        let old = std::mem::replace(&mut self.places, vec![(0, UNSEEN); larger]);
        for &(id, number) in old.iter().filter(|(_, number)| *number != UNSEEN) {
            let place = self.find(id);
            self.places[place] = (id, number);
        }
        self.memory.give_back(Self::bytes(old.len()));
        Ok(())
    }

    /// Removes an open state.
    #[inline]
    pub fn remove(&mut self, id: Id) {
        let len = self.places.len();
        let distance =
            |from: usize, to: usize| if to >= from { to - from } else { to + len - from };
        let mut hole = self.find(id);
        let mut place = hole;
        loop {
            place = self.after(place);
            let (other, number) = self.places[place];
            if number == UNSEEN {
                break;
            }
            // The search for the other state passes the hole, so the state moves there.
            if distance(self.home(other), place) >= distance(hole, place) {
                self.places[hole] = (other, number);
                hole = place;
            }
        }
        self.places[hole] = (0, UNSEEN);
        self.count -= 1;
    }
}

impl Drop for OpenStates<'_> {
    fn drop(&mut self) {
        self.memory.give_back(Self::bytes(self.places.len()));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_table_agrees_with_a_hash_map_and_gives_its_memory_back() {
        let memory = Memory::new(1 << 20);
        let mut table = OpenStates::new(&memory);
        let mut expected: HashMap<Id, u32> = HashMap::new();
        let mut random = fastrand::Rng::with_seed(1);
        for round in 0..200_000 {
            let id = random.u32(..6_000);
            match expected.remove(&id) {
                Some(_) => table.remove(id),
                None => {
                    let number = random.u32(1..);
                    table.insert(id, 1).expect("enough memory");
                    table.set(id, number);
                    expected.insert(id, number);
                }
            }
            if round % 10_000 == 0 {
                assert!(expected.iter().all(|(&id, &number)| table.get(id) == number));
                assert_eq!(table.count, expected.len());
            }
        }
        assert!(table.places.len() < 8_000, "removed states leave no trace");
        drop(table);
        assert_eq!(memory.left(), 1 << 20);
    }
}
