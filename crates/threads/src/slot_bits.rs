//! The free slots of a hall with more slots than fit into its `word`. The first slots are bits of `word`. This module
//! has the bits of the other slots, and numbers them from 0.

use hallpass_algorithms::{
    Op, Word,
    halls::threads::slot_bits::{self, Environment, PER_WORD},
};

use crate::sync::AtomicI64;

/// The number of words in a group. If all 1024 numbers of a group are held, a search skips the group in one step.
const WORDS_PER_GROUP: usize = 16;

/// One bit for each number, set while the number is free. Number 0 is the first slot that is not a bit of `word`.
pub(crate) struct SlotBits {
    bits: Box<[AtomicI64]>,
    /// For each group, whether all its numbers are held. Empty if there is only one group.
    full: Box<[AtomicI64]>,
}

impl Environment for &SlotBits {
    #[inline(always)]
    fn bits(&mut self, index: usize, op: Op) -> Word {
        op.apply(&self.bits[index])
    }

    #[inline(always)]
    fn full(&mut self, group: usize, op: Op) -> Word {
        op.apply(&self.full[group])
    }

    #[inline(always)]
    fn words(&self) -> usize {
        self.bits.len()
    }

    #[inline(always)]
    fn words_per_group(&self) -> usize {
        WORDS_PER_GROUP
    }
}

impl SlotBits {
    /// Makes room for `max` numbers, all of them free.
    pub(crate) fn new(max: usize) -> Self {
        let all = |count: usize, word| (0..count).map(|_| AtomicI64::new(word)).collect();
        let words = max.div_ceil(PER_WORD);
        let groups = if words > WORDS_PER_GROUP { words.div_ceil(WORDS_PER_GROUP) } else { 0 };
        SlotBits { bits: all(words, -1), full: all(groups, 0) }
    }

    /// Takes a free number. The search goes upwards and takes the first number that it finds free, so this is the
    /// smallest free number unless a smaller one is being put back at the same time. The hall has admitted the caller,
    /// so there is a free number.
    #[inline(never)]
    pub(crate) fn take(&self) -> u32 {
        slot_bits::take(&mut &*self) as u32
    }

    /// Takes `count` free numbers, with one search upwards as in [`take`](Self::take). The hall has
    /// admitted the caller for `count` slots, so there are enough free numbers.
    pub(crate) fn take_many(&self, count: usize) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(count);
        slot_bits::take_many(&mut &*self, count, |number| numbers.push(number as u32));
        numbers
    }

    /// Puts a number back.
    #[inline(never)]
    pub(crate) fn put(&self, number: u32) {
        slot_bits::put(&mut &*self, number as usize);
    }
}
