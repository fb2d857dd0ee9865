//! Slot numbers of halls with more slots than fit into the word.

use hallpass_algorithms::{
    Op, Word,
    halls::threads::slot_bits::{self, Environment, PER_WORD},
};

use crate::sync::AtomicI64;

/// One bit for each free slot number.
pub(crate) struct SlotBits(Box<[AtomicI64]>);

impl Environment for &SlotBits {
    fn bits(&mut self, index: usize, op: Op) -> Word {
        op.apply(&self.0[index])
    }

    fn words(&self) -> usize {
        self.0.len()
    }
}

impl SlotBits {
    /// Makes room for `max` numbers, all of them free.
    pub(crate) fn new(max: usize) -> Self {
        SlotBits((0..max.div_ceil(PER_WORD)).map(|_| AtomicI64::new(-1)).collect())
    }

    /// Takes the smallest free number. The hall has admitted the caller, so there is a free number.
    #[inline]
    pub(crate) fn take(&self) -> u32 {
        slot_bits::take(&mut &*self) as u32
    }

    /// Takes the `count` smallest free numbers, and returns them in ascending order. The hall has admitted the caller
    /// for `count` slots, so there are enough free numbers.
    pub(crate) fn take_many(&self, count: usize) -> Box<[u32]> {
        let mut numbers = Vec::with_capacity(count);
        slot_bits::take_many(&mut &*self, count, |slot| numbers.push(slot as u32));
        numbers.sort_unstable();
        numbers.into_boxed_slice()
    }

    /// Puts a number back.
    #[inline]
    pub(crate) fn put(&self, slot: u32) {
        slot_bits::put(&mut &*self, slot as usize);
    }
}
