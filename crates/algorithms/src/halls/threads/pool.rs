//! What is free: slots by number, or only how many.

use crate::framework::memory::Word;

/// What the lower half of the word says, and what a grant carries.
///
/// After the hall was made smaller, some of what is held is *owed*: it does not come back into use.
pub trait Pool: Send + Sync + 'static {
    /// Whether it knows the slots apart.
    const HAS_SLOTS: bool;
    /// What a hall of `k` slots has.
    fn all(k: usize) -> Word;
    /// How many slots these are.
    fn count(these: Word) -> u32;
    /// What to hand out to one who needs `need`, if that much is free; the smallest slots first.
    fn choose(free: Word, owed: Word, need: u32) -> Option<Word>;
    /// Of what is free, what is owed.
    fn settle(free: Word, owed: Word) -> Word;
    /// What to add to the free ones, and what is owed then, when a hall of `old` slots, some of
    /// them owed, gets `new`.
    fn resize(free: Word, owed: Word, old: usize, new: usize) -> (Word, Word);
}

/// Which slots are free, one bit each: up to [`MOST_SLOTS`] of them.
pub struct Slots;

/// The most slots that fit into the word.
pub const MOST_SLOTS: usize = 32;

impl Pool for Slots {
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
        // What is held above k counts as if it were held below.
        if free.count_ones() < need + owed.count_ones() {
            return None;
        }
        let rest = (0..need).fold(free, |rest, _| rest & (rest - 1));
        Some(free - rest)
    }

    fn settle(free: Word, owed: Word) -> Word {
        free & owed
    }

    fn resize(free: Word, owed: Word, old: usize, new: usize) -> (Word, Word) {
        let held = (Self::all(old) | owed) & !free;
        let owed = held & !Self::all(new);
        // The new free ones: every slot that nobody holds.
        ((Self::all(new) & !held) - free, owed)
    }
}

/// How many are free. Who has got in then takes the smallest free name.
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
