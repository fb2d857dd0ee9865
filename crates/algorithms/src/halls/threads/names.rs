//! Slot numbers for those who were let in by the [`Count`](super::Count) of what is free, as bits of
//! several words. In the manner of Anderson & Moir 1997, Figure 1, with many names in a word.
//!
//! Who was let in goes through the names upwards, and takes the first that is free (N1, N2). It does
//! not go back to a smaller one that has become free since.
//!
//! I1: at most k - i of those who were let in hold name i or a larger one, or look at i or beyond: one
//! goes past i only at a moment at which another holds it, and that one is not beyond i. So the last
//! name is free for whoever comes to it, and nobody looks at more than all names once.
//!
//! That the hall has become smaller changes nothing: those who were let in are fewer then, and find
//! smaller names.

use crate::framework::{
    lines::lines,
    memory::{Op, Word},
};

/// How many names are in a word.
pub const PER_WORD: usize = 64;

/// The words.
pub trait Rack {
    /// Accesses one of them. A bit that is set is a name that is free.
    fn names(&mut self, shelf: usize, op: Op) -> Word;
    /// How many words there are.
    fn shelves(&self) -> usize;
}

lines! {
    /// The next access of a holder that looks for a free slot number.
    pub enum Line {
        N1 { shelf: usize },
        N2 { shelf: usize, bit: Word },
    }
}
use Line::*;

/// What a step of the search leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    /// The search goes on at this line.
    Goto(Line),
    /// The search has taken this bit of this word.
    Taken {
        /// The index of the word.
        shelf: usize,
        /// The bit, as a mask.
        bit: Word,
    },
}

/// Executes a line of the search.
#[inline(always)]
pub fn step<R: Rack>(rack: &mut R, at: Line) -> Search {
    let shelves = rack.shelves();
    let look = |shelf, free: Word| {
        Search::Goto(match free {
            0 => N1 { shelf: (shelf + 1) % shelves }, // never from the last, by I1
            _ => N2 { shelf, bit: free & free.wrapping_neg() },
        })
    };
    match at {
        N1 { shelf } => look(shelf, rack.names(shelf, Op::Read)),
        N2 { shelf, bit } => {
            let free = rack.names(shelf, Op::Clear(bit));
            if free & bit != 0 {
                return Search::Taken { shelf, bit };
            }
            let below = bit.wrapping_sub(1) | bit;
            look(shelf, free & !below)
        }
    }
}

/// Takes the smallest free name.
#[inline]
pub fn take<R: Rack>(rack: &mut R) -> usize {
    let mut at = N1 { shelf: 0 };
    loop {
        match step(rack, at) {
            Search::Goto(next) => at = next,
            Search::Taken { shelf, bit } => {
                return shelf * PER_WORD + bit.trailing_zeros() as usize;
            }
        }
    }
}

/// Puts a name back.
#[inline]
pub fn put<R: Rack>(rack: &mut R, name: usize) {
    rack.names(name / PER_WORD, Op::FetchAdd(1 << (name % PER_WORD)));
}
