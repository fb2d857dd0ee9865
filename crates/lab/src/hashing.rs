//! Computes the position of a state in the table, and the tag by which the table recognises the state.
//!
//! A *bijection* mixes the bits of a small state, which has fewer than 64 bits. So position and tag together identify
//! the state (Cleary, 1984). The table need not read the state itself, as long as it finds the tag near this position
//! (see [`Hashing::certain_within`]). The bijection must map the bits of a state to the same number of bits. Existing
//! hash functions map 64 bits to 64 bits, so the lab has its own bijection. Larger states are hashed with an existing
//! function and then compared.

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
    /// The tag, which is stored in the slot of the state.
    pub tag: u32,
}

const TAG_BITS: u32 = 32;

/// The factors of the bijection.
const FACTORS: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93, 0xc2b2_ae3d_27d4_eb4f];

/// The numbers by which a multiplication with [`FACTORS`] is undone.
const INVERSES: [u64; 3] = [inverse(FACTORS[0]), inverse(FACTORS[1]), inverse(FACTORS[2])];

/// Returns the inverse of an odd number modulo 2^64. The first guess is correct in 3 bits, and each step of
/// Newton's method doubles the number of correct bits.
const fn inverse(odd: u64) -> u64 {
    let mut guess = odd;
    let mut correct = 3;
    while correct < u64::BITS {
        guess = guess.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(guess)));
        correct *= 2;
    }
    guess
}

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
        for odd in [FACTORS[0], FACTORS[1]] {
            mixed = mixed.wrapping_mul(odd) & self.mask;
            mixed ^= mixed >> half;
        }
        mixed.wrapping_mul(FACTORS[2]) & self.mask
    }

    /// Returns the state that [`mix`](Hashing::mix) maps to `mixed`. XORing the upper half into the lower
    /// half twice changes nothing, because the upper half stays the same.
    #[inline]
    fn unmix(self, mixed: u64) -> u64 {
        let half = self.bits.div_ceil(2);
        let mut state = mixed.wrapping_mul(INVERSES[2]) & self.mask;
        for inverse in [INVERSES[1], INVERSES[0]] {
            state ^= state >> half;
            state = state.wrapping_mul(inverse) & self.mask;
        }
        state
    }

    /// Returns a distance in a table that is divided into `parts` equal parts, such as cache lines. The distance is a
    /// number of parts. Within this distance of the part in which a state has its position, no other state has the
    /// same tag. The reason is that two mixed states with the same tag differ by a multiple of 2^32, so their
    /// positions in the table are far apart.
    pub fn certain_within(self, words: usize, parts: usize) -> usize {
        if !self.is_bijective(words) {
            0
        } else if self.bits <= TAG_BITS {
            usize::MAX
        } else {
            parts.checked_shr(self.bits - TAG_BITS).unwrap_or(0).saturating_sub(1)
        }
    }
}

/// A bijection on states of any size. It mixes all words into the first word and leaves the other words as
/// they are. So the mixed first word serves as an address, and the mixing can be undone if the other words
/// are known.
#[derive(Clone, Copy, Debug)]
pub struct Bijection<const W: usize> {
    first: Hashing,
}

impl<const W: usize> Bijection<W> {
    /// Creates the bijection for states whose first word has `bits` bits. The higher bits of that word
    /// are 0.
    pub fn new(bits: u32) -> Self {
        Bijection { first: Hashing::new(bits) }
    }

    /// Returns the mixed first word.
    #[inline]
    pub fn mix(self, state: &[u64; W]) -> u64 {
        self.first.mix(state[0] ^ self.others(state))
    }

    /// Returns the first word of the state whose mixed first word is `mixed`. The other words are those of
    /// `state`.
    #[inline]
    pub fn unmix(self, mixed: u64, state: &[u64; W]) -> u64 {
        self.first.unmix(mixed) ^ self.others(state)
    }

    /// Returns a number that depends on all words but the first.
    #[inline]
    fn others(self, state: &[u64; W]) -> u64 {
        let mut sum = 0u64;
        for &word in &state[1..] {
            sum = (sum ^ word).wrapping_mul(FACTORS[0]);
            sum ^= sum >> 32;
        }
        sum & self.first.mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmixing_undoes_mixing() {
        let mut random = fastrand::Rng::with_seed(1);
        for bits in 0..=u64::BITS {
            let mask = Hashing::new(bits).mask;
            for _ in 0..100 {
                let state = [random.u64(..) & mask, random.u64(..), random.u64(..)];
                let bijection = Bijection::new(bits);
                let mixed = bijection.mix(&state);
                assert_eq!(mixed & !mask, 0, "{bits} bits");
                assert_eq!(bijection.unmix(mixed, &state), state[0], "{bits} bits");
            }
        }
    }

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
