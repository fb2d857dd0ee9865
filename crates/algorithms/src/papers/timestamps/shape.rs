//! The fields of a register: its bits, its values, and how to print it. [`linear`](super::linear) explains the colours
//! and the copies.

use alloc::{string::String, vec, vec::Vec};
use core::fmt::Write as _;

use super::labels;
use crate::framework::{
    layout::{Codec, Decl, Init, Kind},
    memory::Word,
};

/// The number of bits of a colour.
pub(super) const COLOUR_BITS: u32 = 2;
/// The number of colours.
pub(super) const COLOURS: u64 = 1 << COLOUR_BITS;
/// The number of bits of a *hand*, which a writer shows to a reader. The lower bits are the colour that the
/// writer announces. The upper bits are the colour of its copy, or none.
pub(super) const HAND_BITS: u32 = 5;
/// The value that stands for no colour.
pub(super) const NONE: u64 = COLOURS;

/// The maximum number of bits of a register: a [`Word`] that is not negative has 63 bits.
pub(super) const MAX_BITS: u32 = 63;
/// A register with at most this many values declares a list of them, so that the lab can explore it.
const MAX_LISTED: u64 = 1000;

/// The fields of a word, from the lowest bit up: labels with their marks, hands, colours, and flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// The number of labels.
    pub labels: u8,
    /// The number of digits of a label.
    pub digits: u8,
    /// The number of bits of the mark of a label.
    pub mark_bits: u8,
    /// The number of hands. A hand has the colour that its writer announces, and the colour of its copy.
    pub hands: u8,
    /// The number of colours.
    pub colours: u8,
    /// The number of flags.
    pub flags: u8,
}

impl Shape {
    /// Returns the number of bits and the number of values of each field.
    fn fields(self) -> impl Iterator<Item = (u32, u64)> {
        let mark = u32::from(self.mark_bits);
        let label = (0..self.digits).map(|_| (3, labels::CHAIN + 3)).chain([(mark, 1 << mark)]);
        let label: Vec<_> = label.collect();
        let labels = (0..self.labels).flat_map(move |_| label.clone());
        let hands = (0..self.hands).flat_map(|_| [(COLOUR_BITS, COLOURS), (3, COLOURS + 1)]);
        let colours = (0..self.colours).map(|_| (COLOUR_BITS, COLOURS));
        labels.chain(hands).chain(colours).chain((0..self.flags).map(|_| (1, 2)))
    }

    /// Returns the number of bits.
    pub fn bits(self) -> u32 {
        self.fields().map(|(bits, _)| bits).sum()
    }

    /// Declares a register of this shape, initially 0.
    pub(super) fn declare(self, name: String) -> Decl {
        let kind = Kind::custom(self);
        let mut count = self.fields().map(|(_, values)| values);
        if count.try_fold(1, u64::checked_mul).is_none_or(|count| count > MAX_LISTED) {
            return Decl::wide(name, kind, self.bits(), 0);
        }
        let (mut words, mut below) = (vec![0], 0);
        for (bits, values) in self.fields() {
            let with = |value: u64| words.iter().map(move |word| word | (value as Word) << below);
            words = (0..values).flat_map(with).collect();
            below += bits;
        }
        Decl::listed(name, kind, words, Init::Is(0))
    }

    /// Formats a word: labels with their marks, then hands as `announced/copied`, then colours, then
    /// flags.
    pub fn show(self, word: Word) -> String {
        let mut rest = word as u64;
        let mut take = |bits: u32| {
            let field = rest & ((1 << bits) - 1);
            rest >>= bits;
            field
        };
        let mut parts = Vec::new();
        for _ in 0..self.labels {
            let mut label = labels::show(take(3 * u32::from(self.digits)), self.digits);
            if self.mark_bits > 0 {
                let _ = write!(label, "#{}", take(self.mark_bits.into()));
            }
            parts.push(label);
        }
        for _ in 0..self.hands {
            let mut hand = String::new();
            let _ = match (take(COLOUR_BITS), take(3)) {
                (ann, NONE) => write!(hand, "{ann}/-"),
                (ann, copy) => write!(hand, "{ann}/{copy}"),
            };
            parts.push(hand);
        }
        for bits in (0..self.colours).map(|_| COLOUR_BITS).chain((0..self.flags).map(|_| 1)) {
            let mut number = String::new();
            let _ = write!(number, "{}", take(bits));
            parts.push(number);
        }
        parts.join(" ")
    }
}

impl Codec for Shape {
    fn show(&self, word: Word) -> String {
        (*self).show(word)
    }

    fn bits(&self) -> Option<u32> {
        Some((*self).bits() - u32::from(self.labels) * u32::from(self.mark_bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_word_is_listed_first() {
        let main = Shape { labels: 1, digits: 1, hands: 1, ..Shape::default() };
        let decl = main.declare("MAIN[0]".into());
        assert_eq!((main.bits(), decl.domain.listed().len()), (8, 100));
        assert_eq!(decl.domain.listed()[0], 0);
        let large = Shape { labels: 1, digits: 2, hands: 2, ..Shape::default() };
        assert!(large.declare("MAIN[0]".into()).domain.listed().is_empty());
    }

    #[test]
    #[allow(clippy::unusual_byte_groupings)] // a group is a field
    fn words_are_shown_part_by_part() {
        let shape = Shape { labels: 1, digits: 2, hands: 2, ..Shape::default() };
        assert_eq!(shape.show(0b_100_01__011_10__001_100), "25 2/3 1/-");
        let shape = Shape { labels: 1, digits: 1, mark_bits: 2, flags: 2, ..Shape::default() };
        assert_eq!(shape.show(0b_10__11__100), "5#3 0 1");
    }
}
