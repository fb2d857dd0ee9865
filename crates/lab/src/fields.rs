//! Packs numbers into machine words.

/// The position of a number in a packed state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Field {
    pub(crate) word: u32,
    pub(crate) shift: u32,
    mask: u64,
}

impl Field {
    /// Reads the number.
    #[inline]
    pub fn get(self, state: &[u64]) -> usize {
        (state[self.word as usize] >> self.shift & self.mask) as usize
    }

    /// Reads the number from a state of known size. The innermost loop calls this function. The
    /// remainder by a constant costs nothing, and it saves the bounds check.
    #[inline]
    pub fn get_in<const W: usize>(self, state: &[u64; W]) -> usize {
        (state[self.word as usize % W] >> self.shift & self.mask) as usize
    }

    /// Returns the number of bits.
    pub fn bits(self) -> u32 {
        self.mask.count_ones()
    }

    /// Overwrites the number.
    #[inline]
    pub fn set(self, state: &mut [u64], number: usize) {
        let word = &mut state[self.word as usize];
        *word = *word & !(self.mask << self.shift) | (number as u64) << self.shift;
    }
}

/// Returns the number of bits that a number below `count` needs.
pub(crate) fn width(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// Assigns fields of these widths to words. No field crosses a word boundary.
pub(crate) fn pack(widths: &[u32]) -> (Vec<Field>, usize) {
    let mut order: Vec<usize> = (0..widths.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(widths[index]));
    let mut used: Vec<u32> = vec![0];
    let mut fields = vec![Field::default(); widths.len()];
    for index in order {
        let bits = widths[index];
        let word = match used.iter().position(|&u| u + bits <= u64::BITS) {
            Some(word) => word,
            None => {
                used.push(0);
                used.len() - 1
            }
        };
        // A variable with a single value takes no bits. Its shift must be less than the word size.
        let shift = if bits == 0 { 0 } else { used[word] };
        fields[index] = Field {
            word: word as u32,
            shift,
            mask: u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0),
        };
        used[word] += bits;
    }
    (fields, used.len())
}
