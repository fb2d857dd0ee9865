//! A block of a segment, and the tags at its beginning. [`Shape`](super::shape::Shape) explains lines and tags.

use super::shape::TAG_BITS;

/// 64 bytes: one cache line of the processor.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct Block(pub [u64; WORDS]);

pub(super) const WORDS: usize = 8;

/// The number of tags that a block could contain.
pub(super) const LANES: usize = WORDS * u64::BITS as usize / TAG_BITS;

/// A word with a 1 in each of its four tags.
const EACH_TAG: u64 = 0x0001_0001_0001_0001;

/// Returns the tag at this place of a line. `words` is the first block of the line.
#[inline]
pub(super) fn tag_at(words: &[u64; WORDS], place: usize) -> u16 {
    (words[place / 4 % WORDS] >> (place % 4 * TAG_BITS)) as u16
}

/// Returns a block as numbers of the size of a tag. The tag at place p is the number with the index `place_of(p)`.
#[inline]
pub(super) fn lanes(Block(words): &Block) -> &[u16; LANES] {
    bytemuck::cast_ref(words)
}

/// Returns a number that is not 0 if a tag of the block equals `tag`. Each bit of the number that is set stands for one
/// of these tags (see [`place_of_bit`]).
#[inline]
pub(super) fn equal_tags(Block(words): &Block, tag: u16) -> u64 {
    const LOW: u64 = 0x7fff * EACH_TAG;
    let wanted = u64::from(tag) * EACH_TAG;
    let mut equal = 0;
    for (index, &word) in words.iter().enumerate() {
        // The highest bit of each tag: an addition carries into it if a lower bit of the tag differs.
        let different = word ^ wanted;
        let bits = !(((different & LOW) + LOW) | different) & !LOW;
        equal |= bits >> index;
    }
    equal
}

/// Returns the place of a tag that a bit of [`equal_tags`] stands for.
#[inline]
pub(super) fn place_of_bit(bit: u32) -> usize {
    let bit = bit as usize;
    (TAG_BITS - 1 - bit % TAG_BITS) * (LANES / WORDS) + bit / TAG_BITS
}

/// Returns the place of a lane, and the lane of a place.
#[inline]
pub(super) const fn place_of(lane: usize) -> usize {
    if cfg!(target_endian = "big") { lane ^ 3 } else { lane }
}
