//! Slot numbers for a hall with more slots than fit into the word: one bit each, in several words. The
//! search follows Anderson & Moir 1997, Figure 1, but one word holds many names.
//!
//! The [`Count`](super::Count) of free slots admits a caller. The caller then goes through the numbers
//! upwards and takes the first free number (N1, N2). It does not go back to a smaller number that has
//! become free in the meantime.
//!
//! I1: for each number i, at most k - i admitted callers hold a number of at least i or look at such a
//! number. The reason: a caller goes past i only at a moment at which another caller holds i, and that
//! holder is not beyond i. So the last number is free for a caller that reaches it, and no caller looks
//! at a number twice.
//!
//! The search needs no change when the hall is made smaller: fewer callers are admitted then, and they
//! find smaller numbers.

use crate::framework::{
    lines::lines,
    memory::{Op, Word},
};

/// The number of slot numbers in one word.
pub const PER_WORD: usize = 64;

/// The words that hold the slot numbers. A set bit is a free slot number.
pub trait Environment {
    /// Accesses the word with this index.
    fn bits(&mut self, index: usize, op: Op) -> Word;
    /// Returns the number of words.
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
            // By I1, the search never goes on from the last word.
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

/// Takes `count` slot numbers in one pass over the words, and calls `found` with each of them.
///
/// This behaves like `count` callers that look at the same number at the same moment. One of them takes
/// the number, and the others go past it while that caller holds it, so I1 holds for them. They look at
/// the same word again, and may take a smaller number that has become free there.
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
