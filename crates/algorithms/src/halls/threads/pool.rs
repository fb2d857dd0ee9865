//! The free slots: a set of them, or only their number.

use crate::framework::memory::Word;

/// The meaning of the lower half of the word, and of a grant: a set of slots, or their number.
///
/// After the hall was made smaller, some of what is held is *owed*: it does not come back into use.
pub trait Pool: Send + Sync + 'static {
    /// Whether it distinguishes the slots.
    const HAS_SLOTS: bool;
    /// Returns all slots of a hall of `k`.
    fn all(k: usize) -> Word;
    /// Returns how many slots these are.
    fn count(these: Word) -> u32;
    /// Chooses `need` of the free slots, the smallest first. Returns `None` if too few are free.
    fn choose(free: Word, owed: Word, need: u32) -> Option<Word>;
    /// Returns which of the free slots are owed.
    fn settle(free: Word, owed: Word) -> Word;
    /// Returns what to add to the free slots, and what is owed afterwards, when a hall of `old` slots is
    /// given `new`.
    fn resize(free: Word, owed: Word, old: usize, new: usize) -> (Word, Word);
}

/// One bit for each free slot: up to [`SLOTS_IN_WORD`] of them.
pub struct Bits;

/// The number of slots that fit into the word as bits.
pub const SLOTS_IN_WORD: usize = 32;

impl Pool for Bits {
    const HAS_SLOTS: bool = true;

    #[inline]
    fn all(k: usize) -> Word {
        (1 << k) - 1
    }

    #[inline]
    fn count(these: Word) -> u32 {
        these.count_ones()
    }

    #[inline]
    fn choose(free: Word, owed: Word, need: u32) -> Option<Word> {
        if need == 1 && owed == 0 {
            return (free != 0).then_some(free & free.wrapping_neg());
        }
        // A slot held above k counts as if it were held below.
        if owed != 0 && free.count_ones() < need + owed.count_ones() {
            return None;
        }
        let mut rest = free;
        for _ in 0..need {
            if rest == 0 {
                return None;
            }
            rest &= rest - 1;
        }
        Some(free - rest)
    }

    fn settle(free: Word, owed: Word) -> Word {
        free & owed
    }

    fn resize(free: Word, owed: Word, old: usize, new: usize) -> (Word, Word) {
        let held = (Self::all(old) | owed) & !free;
        let owed = held & !Self::all(new);
        // Every slot that nobody holds is free now.
        ((Self::all(new) & !held) - free, owed)
    }
}

/// The number of free slots. A caller that was let in then takes a number from the
/// [`slot_bits`](super::slot_bits).
pub struct Count;

impl Pool for Count {
    const HAS_SLOTS: bool = false;

    #[inline]
    fn all(k: usize) -> Word {
        k as Word
    }

    #[inline]
    fn count(these: Word) -> u32 {
        these as u32
    }

    #[inline]
    fn choose(free: Word, owed: Word, need: u32) -> Option<Word> {
        (free >= Word::from(need) + owed).then_some(need.into())
    }

    fn settle(free: Word, owed: Word) -> Word {
        free.min(owed)
    }

    fn resize(free: Word, owed: Word, old: usize, new: usize) -> (Word, Word) {
        let held = old as Word + owed - free;
        let owed = (held - new as Word).max(0);
        (new as Word + owed - held - free, owed)
    }
}
