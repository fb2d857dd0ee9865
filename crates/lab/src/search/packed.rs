//! Stores a set of processes in the bits of a state that are not in use.

/// The unused bits of the last word.
#[derive(Clone, Copy)]
pub(super) struct Packing<const W: usize> {
    /// The bits of the set, at the upper end of the word. 0 if there is no room for a set.
    mask: u64,
    shift: u32,
}

impl<const W: usize> Packing<W> {
    /// Creates the packing for sets of numbers below `agents`. `word_bits` is the number of bits in use in each
    /// word of a state.
    pub fn new(word_bits: [u32; W], agents: usize) -> Self {
        let unused = (u64::BITS - word_bits[W - 1]) as usize;
        if agents == 0 || agents > unused {
            return Packing { mask: 0, shift: 0 };
        }
        let shift = u64::BITS - agents as u32;
        Packing { mask: u64::MAX << shift, shift }
    }

    /// Adds a set to a state. If there is no room, the set is lost.
    #[inline]
    pub fn pack(self, mut state: [u64; W], set: u64) -> [u64; W] {
        state[W - 1] |= set << self.shift & self.mask;
        state
    }

    /// Returns the state without the set.
    #[inline]
    pub fn state(self, packed: &[u64; W]) -> [u64; W] {
        let mut state = *packed;
        state[W - 1] &= !self.mask;
        state
    }

    /// Returns the set. It is empty if there is no room for sets.
    #[inline]
    pub fn set(self, packed: &[u64; W]) -> u64 {
        (packed[W - 1] & self.mask) >> self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_state_and_its_set_can_be_separated() {
        let mut random = fastrand::Rng::with_seed(1);
        for bits in 0..=64 {
            for agents in 0..=20 {
                let packing = Packing::<2>::new([64, bits], agents);
                for _ in 0..20 {
                    let state =
                        [random.u64(..), random.u64(..).checked_shr(64 - bits).unwrap_or(0)];
                    let set = random.u64(..1 << agents);
                    let packed = packing.pack(state, set);
                    assert_eq!(packing.state(&packed), state);
                    let fits = agents + bits as usize <= 64;
                    assert_eq!(packing.set(&packed), if fits { set } else { 0 });
                }
            }
        }
    }
}
