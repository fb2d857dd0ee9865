//! The fast path: the three lines of a passage that finds a slot free and nobody waiting.
//!
//! Each function is one line and one shared access. [`step`](super::step) executes them in the lab, and
//! the native hall calls them directly; there is no second copy.

use super::{
    environment::FastEnvironment,
    lines::Policy,
    pool::Pool,
    words::{CALLED, FREE, MARK, WAITER},
};
use crate::framework::memory::{Op, Word};

/// The word that line L1 saw, and the slots that line L2 is to take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The word as L1 read it.
    pub word: Word,
    /// The slots to take out of it.
    pub take: Word,
}

/// Line L1: reads the word, and chooses `need` of the free slots. Returns `None` if the caller must
/// queue: others wait, too few slots are free, or the hall is closed or owes slots.
#[inline(always)]
pub fn look<P: Pool, M: Policy, E: FastEnvironment>(e: &mut E, need: u32) -> Option<Offer> {
    let word = e.word(Op::Read);
    let barrier = if M::BARGES { MARK } else { WAITER };
    if word >= barrier {
        return None;
    }
    P::choose(word & FREE, 0, need).map(|take| Offer { word, take })
}

/// Line L2: takes what was chosen, in one compare-and-swap. Returns `false` if the word has changed.
#[inline(always)]
pub fn take<E: FastEnvironment>(e: &mut E, Offer { word, take }: Offer) -> bool {
    e.word(Op::CompareAndSwap { old: word, new: word - take }) == word
}

/// Line X1: puts back what a holder had. Returns whether the caller must see to the queue (line L5).
#[inline(always)]
#[must_use = "the waiters depend on it"]
pub fn put_back<M: Policy, E: FastEnvironment>(e: &mut E, take: Word) -> bool {
    let word = e.word(Op::FetchAdd(take));
    let called = M::BARGES && word & CALLED != 0;
    word >= WAITER && (!called || word >= MARK)
}
