//! The layout of a segment: how many lines it has, and what an entry consists of.

/// The number of bits of a block.
const BLOCK_BITS: usize = 512;

/// The number of bits of a tag.
pub(super) const TAG_BITS: usize = 16;

/// The number of different tags. A tag is never 0: a tag of 0 marks an empty place.
const TAGS: u64 = (1 << TAG_BITS) - 1;

/// The minimum number of entries in a line. With fewer entries, lines overflow too often.
const FEWEST_PER_LINE: usize = 8;

/// The smallest limit on the distance, in lines, between an entry and the line of its address. In a segment with fewer
/// lines, the limit is smaller.
const LEAST_REACH: u64 = 15;

/// The largest limit on the distance, in lines, between an entry and the line of its address. A longer search would
/// cost more time than a larger segment.
const MOST_REACH: u64 = 255;

/// The maximum share of places in use.
const FULL: f64 = 0.92;

/// The layout of a segment.
///
/// An address has `address_bits` bits. The addresses are divided into lines, `range` addresses each. The
/// line and the *remainder*, a number less than `range`, determine the address. An entry is in the line
/// of its address or, if that line is full, a few lines later. Its *distance* says how many lines later, and
/// its *value* is `distance * range + remainder`. So the place of an entry and its value determine its address.
///
/// The value consists of a tag and an upper part. A line has the tags of all its entries first, so that a
/// search compares four of them at once. Then come the upper parts, each with the other words of the state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub lines: usize,
    pub blocks_per_line: usize,
    pub per_line: usize,
    /// The maximum number of lines from the line of an address to its entry.
    pub reach: u64,
    /// The number of bits of the upper part of a value.
    pub upper_bits: u32,
    /// The number of bits of an entry besides its tag.
    pub rest_bits: usize,
    /// The number of entries at which the segment is full.
    pub full: usize,
    /// The number of addresses of a line.
    pub range: u64,
    /// (2^64 - 1) / `range`, rounded down.
    reciprocal: u64,
}

impl Shape {
    /// Creates the layout of a segment with about `lines` lines, for addresses of `address_bits` bits. An
    /// entry also has `other_bits` bits of other words.
    pub fn new(address_bits: u32, other_bits: u32, lines: f64) -> Self {
        let addresses = 1u64 << address_bits;
        let range = addresses.div_ceil((lines as u64).max(1));
        let lines = addresses.div_ceil(range);
        let largest = range * (LEAST_REACH + 1) - 1;
        let upper_bits = u64::BITS - (largest / TAGS).leading_zeros();
        let rest_bits = (upper_bits + other_bits) as usize;
        let entry_bits = TAG_BITS + rest_bits;
        let blocks_per_line = (FEWEST_PER_LINE * entry_bits).div_ceil(BLOCK_BITS);
        let per_line = blocks_per_line * BLOCK_BITS / entry_bits;
        let values = TAGS << upper_bits;
        let always_fits = other_bits == 0 && range <= per_line as u64;
        let lines = lines as usize;
        Shape {
            lines,
            blocks_per_line,
            per_line,
            reach: (values / range - 1).min(MOST_REACH).min(lines as u64 - 1),
            upper_bits,
            rest_bits,
            full: if always_fits {
                usize::MAX
            } else {
                ((lines * per_line) as f64 * FULL) as usize
            },
            range,
            reciprocal: u64::MAX / range,
        }
    }

    /// Returns the line of an address, and the remainder.
    ///
    /// An address has at most 58 bits. So the product with the reciprocal is too small by less than 1, and
    /// one correction is enough.
    #[inline]
    pub fn split(&self, address: u64) -> (usize, u64) {
        let mut line = ((u128::from(address) * u128::from(self.reciprocal)) >> 64) as u64;
        let mut remainder = address - line * self.range;
        if remainder >= self.range {
            line += 1;
            remainder -= self.range;
        }
        (line as usize, remainder)
    }

    /// Returns the address of an entry that is in `line` and has this value.
    #[inline]
    pub fn join(&self, mut line: usize, mut value: u64) -> u64 {
        // Most entries are in the line of their address, so a loop is faster than a division.
        while value >= self.range {
            value -= self.range;
            line = if line == 0 { self.lines } else { line } - 1;
        }
        line as u64 * self.range + value
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.lines * self.blocks_per_line
    }
}

/// Returns the tag and the upper part of a value.
#[inline]
pub(super) fn parts(value: u64) -> (u16, u64) {
    ((value % TAGS + 1) as u16, value / TAGS)
}

/// Returns the value of a tag and an upper part.
#[inline]
pub(super) fn value(tag: u16, upper: u64) -> u64 {
    upper * TAGS + u64::from(tag) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_and_remainder_determine_the_address() {
        let mut random = fastrand::Rng::with_seed(1);
        for bits in [0, 1, 5, 20, 36, 48, 58] {
            for lines in [1.0, 2.0, 7.3, 1000.0, 123_456.0] {
                let shape = Shape::new(bits, 0, lines);
                for _ in 0..1000 {
                    let address = random.u64(..) >> (63 - bits) >> 1;
                    let (home, remainder) = shape.split(address);
                    assert!(home < shape.lines && remainder < shape.range);
                    let distance = random.u64(0..=shape.reach);
                    let (tag, upper) = parts(distance * shape.range + remainder);
                    assert!(tag != 0 && upper >> shape.upper_bits == 0);
                    let line = (home + distance as usize) % shape.lines;
                    assert_eq!(shape.join(line, value(tag, upper)), address, "{shape:?}");
                }
            }
        }
    }

    #[test]
    fn a_line_has_room_for_its_entries() {
        for bits in 0..=58 {
            for other_bits in [0, 1, 17, 64, 128, 192] {
                let shape = Shape::new(bits, other_bits, 10_000.0);
                let entry = TAG_BITS + shape.rest_bits;
                assert!(shape.per_line >= FEWEST_PER_LINE);
                assert!(shape.per_line * entry <= shape.blocks_per_line * BLOCK_BITS);
                assert!(shape.per_line * TAG_BITS <= BLOCK_BITS, "all tags are in one block");
            }
        }
    }
}
