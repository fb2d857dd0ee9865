//! Free slots, represented as a set or only as a number.

use crate::framework::memory::Word;

/// The meaning of the lower half of the word and of a grant: a set of slots, or their number.
///
/// When the hall is made smaller while slots are held, some of these slots become *owed*: after their
/// release, they are not used again.
pub trait Pool: Send + Sync + 'static {
    /// Whether the representation distinguishes the slots.
    const HAS_SLOTS: bool;
    /// Returns all slots of a hall with `k` slots.
    fn all(k: usize) -> Word;
    /// Returns the number of these slots.
    fn count(these: Word) -> u32;
    /// Chooses `need` of the free slots, the smallest first. Returns `None` if too few are free.
    fn choose(free: Word, owed: Word, need: u32) -> Option<Word>;
    /// Returns the free slots that are owed.
    fn settle(free: Word, owed: Word) -> Word;
    /// Resizes a hall from `old` to `new` slots. Returns what to add to the free slots, and what is owed
    /// afterwards.
    fn resize(free: Word, owed: Word, old: usize, new: usize) -> (Word, Word);
}

/// A set: one bit for each free slot, at most [`SLOTS_IN_WORD`] bits.
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
        // A slot that is held above k counts as if it were held below k.
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
        // Every slot that no caller holds is free now.
        ((Self::all(new) & !held) - free, owed)
    }
}

/// A count of the free slots. A caller that was admitted then takes a number from the
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
