//! Tables that number the parts of states. Most states share most of their parts, so each distinct part
//! is stored once.

use std::{hash::Hash, sync::RwLock};

use indexmap::{Equivalent, IndexSet};

/// A table of distinct values, each with a number.
pub(crate) struct Numbers<T>(RwLock<IndexSet<T, foldhash::fast::FixedState>>);

impl<T: Clone + Eq + Hash> Numbers<T> {
    pub(crate) fn new() -> Self {
        Numbers(RwLock::new(IndexSet::default()))
    }

    /// Returns the number of the value. Adds the value if it is new. The number must fit into `bits`
    /// bits.
    pub(crate) fn number(&self, thing: T, bits: u32) -> u64 {
        self.number_of(&thing, || thing.clone(), bits)
    }

    /// Returns the number of the value that equals `like`. Calls `thing` to make the value only if it is
    /// new.
    pub(crate) fn number_of<Q>(&self, like: &Q, thing: impl FnOnce() -> T, bits: u32) -> u64
    where
        Q: Equivalent<T> + Hash + ?Sized,
    {
        let known = self.0.read().expect("no panic while held").get_index_of(like);
        let number = known
            .unwrap_or_else(|| self.0.write().expect("no panic while held").insert_full(thing()).0);
        assert!(
            (number as u64) < 1 << bits,
            "more than 2^{bits} different values: too large to explore"
        );
        number as u64
    }

    /// Returns the value with this number.
    pub(crate) fn thing(&self, number: u64) -> T {
        self.with(number, T::clone)
    }

    /// Returns the values with these numbers.
    pub(crate) fn things(&self, numbers: &[u32]) -> Vec<T> {
        let known = self.0.read().expect("no panic while held");
        numbers.iter().map(|&number| known[number as usize].clone()).collect()
    }

    /// Replaces the numbers of the values `old` with those of the values `new`.
    pub(crate) fn renumber(&self, numbers: &mut [u32], old: &[T], new: &[T]) {
        // Most values stay the same, and a comparison costs less than a look-up.
        for ((number, old), new) in numbers.iter_mut().zip(old).zip(new) {
            if new != old {
                *number = self.number(new.clone(), u32::BITS) as u32;
            }
        }
    }

    /// Calls `look` with the value that has this number.
    pub(crate) fn with<R>(&self, number: u64, look: impl FnOnce(&T) -> R) -> R {
        look(&self.0.read().expect("no panic while held")[number as usize])
    }

    /// Returns all values, in the order of their numbers.
    pub(crate) fn all(&self) -> Vec<T> {
        self.0.read().expect("no panic while held").iter().cloned().collect()
    }

    /// Returns the number of values.
    pub(crate) fn len(&self) -> usize {
        self.0.read().expect("no panic while held").len()
    }
}

/// Reads `bits` bits, starting at bit `at`.
pub(crate) fn bits<const W: usize>(state: &[u64; W], at: u32, bits: u32) -> u64 {
    let (word, shift) = ((at / 64) as usize, at % 64);
    let mut value = state[word] >> shift;
    if shift + bits > 64 {
        value |= state[word + 1] << (64 - shift);
    }
    value & ((1 << bits) - 1)
}

/// Writes `value` to `bits` bits, starting at bit `at`. These bits must be 0.
pub(crate) fn set_bits<const W: usize>(state: &mut [u64; W], at: u32, bits: u32, value: u64) {
    let (word, shift) = ((at / 64) as usize, at % 64);
    state[word] |= value << shift;
    if shift + bits > 64 {
        state[word + 1] |= value >> (64 - shift);
    }
}
