//! States as a few numbers: their parts are kept once each, in tables. Most states share most parts.

use std::{hash::Hash, sync::RwLock};

use indexmap::{Equivalent, IndexSet};

/// Things with numbers.
pub(crate) struct Numbers<T>(RwLock<IndexSet<T, foldhash::fast::FixedState>>);

impl<T: Clone + Eq + Hash> Numbers<T> {
    pub(crate) fn new() -> Self {
        Numbers(RwLock::new(IndexSet::default()))
    }

    /// Returns the thing's number, which must fit into `bits` bits.
    pub(crate) fn number(&self, thing: T, bits: u32) -> u64 {
        self.number_of(&thing, || thing.clone(), bits)
    }

    /// The same for what is made only if it is not known.
    pub(crate) fn number_of<Q>(&self, like: &Q, thing: impl FnOnce() -> T, bits: u32) -> u64
    where
        Q: Equivalent<T> + Hash + ?Sized,
    {
        let known = self.0.read().expect("no panic while held").get_index_of(like);
        let number = known
            .unwrap_or_else(|| self.0.write().expect("no panic while held").insert_full(thing()).0);
        assert!((number as u64) < 1 << bits, "more than 2^{bits} of a kind: too large to explore");
        number as u64
    }

    /// The thing with this number.
    pub(crate) fn thing(&self, number: u64) -> T {
        self.with(number, T::clone)
    }

    /// The things with these numbers.
    pub(crate) fn things(&self, numbers: &[u32]) -> Vec<T> {
        let known = self.0.read().expect("no panic while held");
        numbers.iter().map(|&number| known[number as usize].clone()).collect()
    }

    /// Replaces the numbers of `old` things by those of `new` ones.
    pub(crate) fn renumber(&self, numbers: &mut [u32], old: &[T], new: &[T]) {
        // Looking a number up costs more than comparing, and most things stay as they are.
        for ((number, old), new) in numbers.iter_mut().zip(old).zip(new) {
            if new != old {
                *number = self.number(new.clone(), u32::BITS) as u32;
            }
        }
    }

    /// Looks at the thing with this number.
    pub(crate) fn with<R>(&self, number: u64, look: impl FnOnce(&T) -> R) -> R {
        look(&self.0.read().expect("no panic while held")[number as usize])
    }

    /// All of them, in the order of their numbers.
    pub(crate) fn all(&self) -> Vec<T> {
        self.0.read().expect("no panic while held").iter().cloned().collect()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.read().expect("no panic while held").len()
    }
}

/// Bits from `at` on.
pub(crate) fn bits<const W: usize>(state: &[u64; W], at: u32, bits: u32) -> u64 {
    let (word, shift) = ((at / 64) as usize, at % 64);
    let mut value = state[word] >> shift;
    if shift + bits > 64 {
        value |= state[word + 1] << (64 - shift);
    }
    value & ((1 << bits) - 1)
}

/// Sets bits that are 0.
pub(crate) fn set_bits<const W: usize>(state: &mut [u64; W], at: u32, bits: u32, value: u64) {
    let (word, shift) = ((at / 64) as usize, at % 64);
    state[word] |= value << shift;
    if shift + bits > 64 {
        state[word + 1] |= value >> (64 - shift);
    }
}
