//! Computes the position of a state in the table, and the tag by which the table recognises the state.
//!
//! A *bijection* mixes the bits of a small state. So position and tag together identify the state, and
//! the table need not read the state itself (Cleary, 1984). The bijection must map the bits of a state to
//! the same number of bits. Existing hash functions map 64 bits to 64 bits, so the lab has its own
//! bijection. Larger states are hashed with an existing function and then compared.

use std::hash::{BuildHasher, Hasher};

/// A hash function for states of a fixed number of bits.
#[derive(Clone, Copy, Debug)]
pub struct Hashing {
    bits: u32,
    mask: u64,
}

/// The position of a state in a table of any size, and its tag.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// The position in the table, as a fraction of 2^64.
    pub position: u64,
    /// The tag that the slot keeps.
    pub tag: u32,
}

const TAG_BITS: u32 = 32;

impl Hashing {
    /// Creates the function for states of `bits` bits.
    pub fn new(bits: u32) -> Self {
        Hashing { bits, mask: u64::MAX.checked_shr(u64::BITS.saturating_sub(bits)).unwrap_or(0) }
    }

    /// Returns whether states are small enough for the bijection.
    #[inline]
    fn is_bijective(self, words: usize) -> bool {
        words == 1 && self.bits > 1 && self.bits < u64::BITS
    }

    /// Returns the state's mark.
    #[inline]
    pub fn mark<const W: usize>(self, state: &[u64; W]) -> Mark {
        if self.is_bijective(W) {
            let mixed = self.mix(state[0]);
            return Mark { position: mixed << (u64::BITS - self.bits), tag: mixed as u32 };
        }
        let mut hasher = foldhash::fast::FixedState::with_seed(0).build_hasher();
        state.iter().for_each(|&word| hasher.write_u64(word));
        let hash = hasher.finish();
        Mark { position: hash, tag: hash as u32 }
    }

    /// Maps a state with a bijection on `bits` bits. Multiplying by an odd number is a bijection, and so
    /// is XORing the upper half into the lower half. Both are needed, because a bit of the product does
    /// not depend on higher bits of the state.
    #[inline]
    fn mix(self, state: u64) -> u64 {
        let half = self.bits.div_ceil(2);
        let mut mixed = state;
        for odd in [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93] {
            mixed = mixed.wrapping_mul(odd) & self.mask;
            mixed ^= mixed >> half;
        }
        mixed.wrapping_mul(0xc2b2_ae3d_27d4_eb4f) & self.mask
    }

    /// Returns a distance in slots of the table. Within this distance of a state's position, no other state
    /// has the same tag: before the positions are scaled to the table, states with the same tag are a
    /// multiple of 2^32 apart.
    pub fn certain_within(self, words: usize, slots: usize) -> usize {
        if !self.is_bijective(words) {
            0
        } else if self.bits <= TAG_BITS {
            usize::MAX
        } else {
            slots.checked_shr(self.bits - TAG_BITS).unwrap_or(0).saturating_sub(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_states_are_mixed_by_a_bijection() {
        for bits in 2..=16 {
            let hashing = Hashing::new(bits);
            let mut seen = vec![false; 1 << bits];
            for state in 0..1u64 << bits {
                let mixed = hashing.mix(state) as usize;
                assert!(!std::mem::replace(&mut seen[mixed], true), "{bits} bits: {state}");
            }
        }
    }

    #[test]
    fn equal_tags_of_different_states_lie_far_apart() {
        let hashing = Hashing::new(40);
        let slots = 1usize << 16;
        let slot = |position: u64| ((u128::from(position) * slots as u128) >> 64) as usize;
        let marks: Vec<Mark> = (0..1u64 << 20).map(|state| hashing.mark(&[state])).collect();
        let mut by_tag: Vec<(u32, usize)> =
            marks.iter().map(|mark| (mark.tag, slot(mark.position))).collect();
        by_tag.sort_unstable();
        let certain = hashing.certain_within(1, slots);
        assert!(certain > 100);
        let equal: Vec<_> = by_tag.windows(2).filter(|pair| pair[0].0 == pair[1].0).collect();
        assert!(!equal.is_empty());
        assert!(equal.iter().all(|pair| pair[1].1 - pair[0].1 > certain));
    }
}
