//! Slot numbers for a hall with more slots than fit into the word: one bit each, in several words.
//! After Anderson & Moir 1997, Figure 1, with many names in a word.
//!
//! A caller that was let in by the [`Count`](super::Count) of free slots goes through the numbers upwards
//! and takes the first that is free (N1, N2). It does not go back to a smaller number that has become free
//! in the meantime.
//!
//! I1: of the callers that were let in, at most k - i hold number i or a larger one, or look at i or
//! beyond: a caller goes past i only at a moment at which another holds i, and that holder is not beyond
//! i. So the last number is free for a caller that reaches it, and nobody looks at a number twice.
//!
//! Making the hall smaller changes nothing: fewer callers are let in then, and they find smaller numbers.

use crate::framework::{
    lines::lines,
    memory::{Op, Word},
};

/// How many slot numbers one word holds.
pub const PER_WORD: usize = 64;

/// The words. A bit that is set is a free slot number.
pub trait Environment {
    /// Accesses the word with this index.
    fn bits(&mut self, index: usize, op: Op) -> Word;
    /// Returns how many words there are.
    fn words(&self) -> usize;
}

lines! {
    /// The next access of a holder that looks for a free slot number.
    pub enum Line {
        N1 { index: usize },
        N2 { index: usize, bit: Word },
    }
}
use Line::*;

/// The result of a step of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    /// The search goes on at this line.
    Goto(Line),
    /// The search has taken this bit of this word.
    Taken {
        /// The index of the word.
        index: usize,
        /// The bit, as a mask.
        bit: Word,
    },
}

/// Executes a line of the search.
#[inline(always)]
pub fn step<E: Environment>(e: &mut E, at: Line) -> Search {
    let words = e.words();
    let look = |index, free: Word| {
        Search::Goto(match free {
            // Never from the last, by I1.
            0 => N1 { index: if index + 1 < words { index + 1 } else { 0 } },
            _ => N2 { index, bit: free & free.wrapping_neg() },
        })
    };
    match at {
        N1 { index } => look(index, e.bits(index, Op::Read)),
        N2 { index, bit } => {
            let free = e.bits(index, Op::Clear(bit));
            if free & bit != 0 {
                return Search::Taken { index, bit };
            }
            let below = bit.wrapping_sub(1) | bit;
            look(index, free & !below)
        }
    }
}

/// Takes the smallest free slot number, in one pass over the words.
#[inline]
pub fn take<E: Environment>(e: &mut E) -> usize {
    let mut at = N1 { index: 0 };
    loop {
        match step(e, at) {
            Search::Goto(next) => at = next,
            Search::Taken { index, bit } => {
                return index * PER_WORD + bit.trailing_zeros() as usize;
            }
        }
    }
}

/// Takes `count` slot numbers, in one pass over the words, and calls `found` with each.
///
/// This behaves like `count` callers that look at the same number at the same moment. One of them takes it, and the
/// others go past it while that one holds it, so I1 holds for them. They look at the same word again, and may
/// take a smaller number that has become free there.
pub fn take_many<E: Environment>(e: &mut E, count: usize, mut found: impl FnMut(usize)) {
    let mut at = N1 { index: 0 };
    let mut left = count;
    while left > 0 {
        match step(e, at) {
            Search::Goto(next) => at = next,
            Search::Taken { index, bit } => {
                found(index * PER_WORD + bit.trailing_zeros() as usize);
                at = N1 { index };
                left -= 1;
            }
        }
    }
}

/// Puts a slot number back.
#[inline]
pub fn put<E: Environment>(e: &mut E, slot: usize) {
    e.bits(slot / PER_WORD, Op::FetchAdd(1 << (slot % PER_WORD)));
}
