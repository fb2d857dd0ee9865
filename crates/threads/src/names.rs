//! Slot numbers of halls with more slots than fit into the word.

use hallpass_algorithms::{
    Op, Word,
    halls::threads::names::{self, PER_WORD, Rack},
};

use crate::sync::{AtomicI64, access};

/// A bit for each free number.
pub(crate) struct Names(Box<[AtomicI64]>);

struct Shelf<'a>(&'a [AtomicI64]);

impl Rack for Shelf<'_> {
    fn names(&mut self, shelf: usize, op: Op) -> Word {
        access(&self.0[shelf], op)
    }

    fn shelves(&self) -> usize {
        self.0.len()
    }
}

impl Names {
    /// Room for so many.
    pub(crate) fn new(most: usize) -> Self {
        Names((0..most.div_ceil(PER_WORD)).map(|_| AtomicI64::new(-1)).collect())
    }

    /// Takes the smallest free one. The caller was let in, so that one is free.
    #[inline]
    pub(crate) fn take(&self) -> usize {
        names::take(&mut Shelf(&self.0))
    }

    /// Puts one back.
    #[inline]
    pub(crate) fn put(&self, name: usize) {
        names::put(&mut Shelf(&self.0), name);
    }
}
