//! Free slots, represented as a set, as a number, or as both.

use crate::framework::memory::Word;

/// The meaning of the lower half of the variable `word` and of the variables `grant[p]`: a set of slots, their
/// number, or both.
///
/// When the hall is made smaller while slots are held, some of these slots become *owed*: after their
/// release, they are not used again.
pub trait Pool: Send + Sync + 'static {
    /// The number of slots that are bits. The other slots are only counted.
    const BITS: u32;
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

/// The number of slots that fit into `word` as bits.
pub const SLOTS_IN_WORD: usize = 32;

impl Pool for Bits {
    const BITS: u32 = SLOTS_IN_WORD as u32;

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
        // Every owed slot is still held. For each of them, one of the k slots must stay unused, so that at
        // most k slots are held.
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

/// A set of the free slots among the first `BITS` slots, and above it a count of the other free slots. A caller that
/// was admitted by the count then takes a number from the [`slot_bits`](super::slot_bits).
///
/// The set comes first: a caller takes from the count only if it empties the set. So the first slots of a hall with
/// many slots cost as little as those of a small hall.
pub struct BitsAndCount<const BITS: u32>;

/// Only a count of the free slots.
pub type Count = BitsAndCount<0>;

/// The number of slots that are bits of `word`, in a hall with more slots than fit into `word`.
pub const BITS_OF_WIDE: u32 = 16;

/// The representation of a hall with more slots than fit into `word`. The count has 16 bits, so a hall can have
/// up to [`MAX_SLOTS`](super::MAX_SLOTS) slots.
pub type WideBits = BitsAndCount<BITS_OF_WIDE>;

impl<const BITS: u32> BitsAndCount<BITS> {
    /// The slots that are bits.
    const SET: Word = (1 << BITS) - 1;

    /// Returns all slots of a hall with `k` slots.
    pub const fn of(k: usize) -> Word {
        let (bits, rest) = Self::split(k);
        (1 << bits) - 1 + (rest << BITS)
    }

    /// Returns how many of `k` slots are bits, and how many are only counted.
    const fn split(k: usize) -> (Word, Word) {
        let bits = if k < BITS as usize { k } else { BITS as usize };
        (bits as Word, (k - bits) as Word)
    }

    /// Returns the slots that are bits.
    #[inline]
    pub const fn set(these: Word) -> Word {
        these & Self::SET
    }

    /// Returns the number of slots that are only counted.
    #[inline]
    pub const fn counted(these: Word) -> Word {
        these >> BITS
    }

    /// Returns a set of slots together with a count.
    #[inline]
    pub const fn join(set: Word, counted: Word) -> Word {
        set + (counted << BITS)
    }
}

impl<const BITS: u32> Pool for BitsAndCount<BITS> {
    const BITS: u32 = BITS;

    #[inline]
    fn all(k: usize) -> Word {
        Self::of(k)
    }

    #[inline]
    fn count(these: Word) -> u32 {
        Self::set(these).count_ones() + Self::counted(these) as u32
    }

    #[inline]
    fn choose(free: Word, owed: Word, need: u32) -> Option<Word> {
        let set = Self::set(free);
        if need == 1 && owed == 0 {
            let first = if set == 0 { 1 << BITS } else { set & set.wrapping_neg() };
            return (free != 0).then_some(first);
        }
        // Every owed slot is still held. For each of them, one of the k slots must stay unused, so that at
        // most k slots are held.
        if Self::count(free) < need.saturating_add(Self::count(owed)) {
            return None;
        }
        let (mut rest, mut counted) = (set, Word::from(need));
        while rest != 0 && counted != 0 {
            rest &= rest - 1;
            counted -= 1;
        }
        Some(Self::join(set - rest, counted))
    }

    fn settle(free: Word, owed: Word) -> Word {
        let counted = Self::counted(free).min(Self::counted(owed));
        Self::join(Self::set(free & owed), counted)
    }

    fn resize(free: Word, owed: Word, old: usize, new: usize) -> (Word, Word) {
        let (add, owed_set) = Bits::resize(
            Self::set(free),
            Self::set(owed),
            Self::split(old).0 as usize,
            Self::split(new).0 as usize,
        );
        let size = Self::split(new).1;
        let held = Self::split(old).1 + Self::counted(owed) - Self::counted(free);
        let owed = (held - size).max(0);
        let more = size + owed - held - Self::counted(free);
        (Self::join(add, more), Self::join(owed_set, owed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hall without waiters. It computes free and owed slots as the step machine of the hall does.
    struct Ledger<P> {
        k: usize,
        free: Word,
        owed: Word,
        held: alloc::vec::Vec<Word>,
        pool: core::marker::PhantomData<P>,
    }

    impl<P: Pool> Ledger<P> {
        fn take(&mut self, need: u32) -> Option<Word> {
            let take = P::choose(self.free, self.owed, need)?;
            self.free -= take;
            self.held.push(take);
            Some(take)
        }

        fn put_back(&mut self, index: usize) {
            self.free += self.held.swap_remove(index);
            let paid = P::settle(self.free, self.owed);
            self.free -= paid;
            self.owed -= paid;
        }

        fn resize(&mut self, k: usize) {
            let (add, owed) = P::resize(self.free, self.owed, self.k, k);
            (self.k, self.free, self.owed) = (k, self.free + add, owed);
        }

        fn held_slots(&self) -> u32 {
            self.held.iter().map(|&take| P::count(take)).sum()
        }
    }

    fn random_run<P: Pool>(seed: u64) {
        let mut random = fastrand::Rng::with_seed(seed);
        let pool = core::marker::PhantomData::<P>;
        let mut hall = Ledger { k: 6, free: P::all(6), owed: 0, held: [].into(), pool };
        for _ in 0..200 {
            match random.u32(..8) {
                0 => hall.resize(random.usize(..9)),
                1..4 if !hall.held.is_empty() => hall.put_back(random.usize(..hall.held.len())),
                _ => {
                    let (need, held) = (random.u32(1..4), hall.held_slots());
                    let taken = hall.take(need);
                    let fits = held + need <= hall.k as u32;
                    assert_eq!(taken.is_some(), fits, "seed {seed}: {need} requested, {held} held");
                    if let Some(take) = taken {
                        let set = take & ((1 << P::BITS) - 1);
                        assert!(P::count(take) == need && set >> hall.k == 0, "seed {seed}");
                    }
                }
            }
            let bits = |these: Word| these & ((1 << P::BITS) - 1);
            let held = hall.held.iter().fold(0, |all, &take| all | bits(take));
            assert_eq!(bits(hall.free) & held, 0, "seed {seed}: a slot is free and held");
        }
    }

    #[test]
    fn a_hall_admits_as_many_holders_as_it_has_slots() {
        for seed in 0..500 {
            random_run::<Bits>(seed);
            random_run::<Count>(seed);
            random_run::<BitsAndCount<1>>(seed);
            random_run::<BitsAndCount<3>>(seed);
            random_run::<WideBits>(seed);
        }
    }

    #[test]
    fn the_set_comes_before_the_count() {
        type Both = BitsAndCount<2>;
        let all = Both::all(5);
        assert_eq!((Both::set(all), Both::counted(all)), (0b11, 3));
        assert_eq!(Both::choose(all, 0, 1), Some(0b01));
        assert_eq!(Both::choose(all, 0, 4), Some(Both::join(0b11, 2)));
        assert_eq!(Both::choose(Both::join(0, 3), 0, 1), Some(Both::join(0, 1)));
        assert_eq!(Both::choose(all, 0, 6), None);
    }
}
