//! The fast path: the three lines (L1, L2 and X1) of a passage that finds a slot free and no waiter. The other lines
//! use a queue. The *server* is the caller that serves this queue (see the [parent module](super)).
//!
//! Each function makes one shared access. [`look`], [`take`] and [`put_back`] are one line each. In the lab,
//! [`step`](super::step) executes them. The native hall calls the same functions directly. It also calls
//! [`look_or_take`], which can execute L1 and L2 in one access.

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

/// Line L1: reads `word`, and chooses `need` of the free slots. Returns `None` if the fast path fails: others wait and
/// the hall does not barge, too few slots are free, or only the server may take slots (see [`MARK`]).
#[inline(always)]
pub fn look<P: Pool, M: Policy, E: FastEnvironment>(e: &mut E, need: u32) -> Option<Offer> {
    let word = e.word(Op::Read);
    offer::<P, M>(word, need)
}

/// Chooses `need` of the slots that are free in `word`, if a newcomer may take them.
#[inline(always)]
fn offer<P: Pool, M: Policy>(word: Word, need: u32) -> Option<Offer> {
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

/// The result of [`look_or_take`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Looked {
    /// Lines L1 and L2 were executed: the caller has these slots.
    Taken(Word),
    /// Line L1 was executed, with this result.
    Offer(Option<Offer>),
}

/// Executes lines L1 and L2 in one access if `word` equals `guess`, and L1 chooses slots in this word. Otherwise
/// executes line L1.
///
/// The compare-and-swap expects `guess`. This saves the read, which takes about a third of the time of a passage. Every
/// guess is safe. If `word` equals the guess, the compare-and-swap is L1 and L2, with no other access in between.
/// Otherwise it only reads `word`, and is L1.
#[inline(always)]
pub fn look_or_take<P: Pool, M: Policy, E: FastEnvironment>(
    e: &mut E,
    need: u32,
    guess: Word,
) -> Looked {
    let Some(Offer { take, .. }) = offer::<P, M>(guess, need) else {
        return Looked::Offer(look::<P, M, E>(e, need));
    };
    let word = e.word(Op::CompareAndSwap { old: guess, new: guess - take });
    if word == guess { Looked::Taken(take) } else { Looked::Offer(offer::<P, M>(word, need)) }
}

/// Line X1: puts back the slots of a holder. Returns whether the caller must serve the queue (line L5).
#[inline(always)]
#[must_use = "if this is true, waiters depend on the caller"]
pub fn put_back<M: Policy, E: FastEnvironment>(e: &mut E, take: Word) -> bool {
    let word = e.word(Op::FetchAdd(take));
    let called = M::BARGES && word & CALLED != 0;
    word >= WAITER && (!called || word >= MARK)
}

#[cfg(test)]
mod tests {
    use super::{super::*, *};

    impl FastEnvironment for Word {
        fn word(&mut self, op: Op) -> Word {
            let old = *self;
            *self = op.leaves(old);
            old
        }
    }

    /// Compares one guess with lines L1 and L2.
    fn compare<P: Pool, M: Policy>(word: Word, guess: Word, need: u32) {
        let (mut guessed, mut stepwise) = (word, word);
        let looked = look_or_take::<P, M, _>(&mut guessed, need, guess);
        let offer = look::<P, M, _>(&mut stepwise, need);
        match looked {
            Looked::Offer(other) => assert_eq!(other, offer, "{word:#x}, {guess:#x}"),
            Looked::Taken(taken) => {
                let offer = offer.expect("L1 finds the same slots");
                assert!(take(&mut stepwise, offer) && offer.take == taken, "{word:#x}, {guess:#x}");
            }
        }
        assert_eq!(guessed, stepwise, "{word:#x}, {guess:#x}");
    }

    #[test]
    fn a_guess_has_the_effect_of_l1_or_of_l1_and_l2() {
        let above = [0, WAITER, 2 * WAITER, CALLED + WAITER, MARK, MARK + WAITER];
        let words: alloc::vec::Vec<Word> =
            above.iter().flat_map(|above| (0..16).map(move |free| above + free)).collect();
        for (&word, &guess) in
            words.iter().flat_map(|word| words.iter().map(move |guess| (word, guess)))
        {
            for need in 1..4 {
                compare::<Bits, Fair>(word, guess, need);
                compare::<Bits, Barging>(word, guess, need);
                compare::<BitsAndCount<2>, Fair>(word, guess, need);
            }
        }
    }
}
