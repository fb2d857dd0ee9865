//! The fast path: the three lines of a passage that finds a slot free and no waiter.
//!
//! Each function is one line and makes one shared access. In the lab, [`step`](super::step) executes
//! these functions. The native hall calls the same functions directly.

use super::{
    environment::FastEnvironment,
    policy::Policy,
    pool::Pool,
    words::{CALLED, FREE, MARK, WAITER},
};
use crate::framework::memory::{Op, Word};

/// The value of `word` that line L1 saw, and the slots that line L2 takes if `word` still has that value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The value of `word` that L1 read.
    pub word: Word,
    /// The slots to take out of `word`.
    pub take: Word,
}

/// Line L1: reads `word`, and chooses `need` of the free slots. Returns `None` if the caller must join the
/// queue, because others wait, too few slots are free, the hall is closed, or the hall owes slots.
#[inline(always)]
pub fn look<P: Pool, M: Policy, E: FastEnvironment>(e: &mut E, need: u32) -> Option<Offer> {
    let word = e.word(Op::Read);
    let barrier = if M::BARGES { MARK } else { WAITER };
    if word >= barrier {
        return None;
    }
    P::choose(word & FREE, 0, need).map(|take| Offer { word, take })
}

/// Line L2: takes the chosen slots in one compare-and-swap. Returns `false` if `word` has changed.
#[inline(always)]
pub fn take<E: FastEnvironment>(e: &mut E, Offer { word, take }: Offer) -> bool {
    e.word(Op::CompareAndSwap { old: word, new: word - take }) == word
}

/// Line X1: puts back the slots of a holder. Returns whether the caller must serve the queue (line L5).
#[inline(always)]
#[must_use = "if this is true, waiters depend on the caller"]
pub fn put_back<M: Policy, E: FastEnvironment>(e: &mut E, take: Word) -> bool {
    let word = e.word(Op::FetchAdd(take));
    let called = M::BARGES && word & CALLED != 0;
    word >= WAITER && (!called || word >= MARK)
}
