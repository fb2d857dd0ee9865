//! Formats the words for readers: `free {0, 2}, waiting 2` instead of one large number.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    pool::SLOTS_IN_WORD,
    slot_bits::{self, FULL, MARKING},
    words::{CALLED, CLOSED, FREE, HELD, MARK, NEWS, SERVE, TRY, Terms, waiters},
};
use crate::framework::{layout::Codec, memory::Word};

/// The way in which a word shows slots.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slots {
    /// A bit for each slot.
    Bits,
    /// The number of slots.
    Count,
    /// A bit for each of the first slots, and the number of the other slots above these bits. The field is the number
    /// of bits.
    BitsAndCount(u32),
}

impl Slots {
    /// Returns how a word shows slots if each of the first `bits` slots has a bit.
    pub(super) fn of(bits: u32) -> Self {
        match bits {
            0 => Slots::Count,
            _ if bits as usize >= SLOTS_IN_WORD => Slots::Bits,
            _ => Slots::BitsAndCount(bits),
        }
    }

    fn show(self, slots: Word) -> String {
        match self {
            Slots::BitsAndCount(bits) => {
                let set = Slots::Bits.show(slots & ((1 << bits) - 1));
                format!("{set} and {} more", slots >> bits)
            }
            Slots::Count => slots.to_string(),
            Slots::Bits => {
                let set = (0..Word::BITS).filter(|bit| slots >> bit & 1 == 1);
                let set: Vec<String> = set.map(|bit| bit.to_string()).collect();
                format!("{{{}}}", set.join(", "))
            }
        }
    }
}

/// The format of `word`.
#[derive(Debug)]
pub(super) struct WordCodec(pub Slots);

impl Codec for WordCodec {
    fn show(&self, word: Word) -> String {
        let free = self.0.show(word & FREE);
        let called = if word & CALLED != 0 { ", one called" } else { "" };
        let marked = if word >= MARK { ", marked" } else { "" };
        format!("free {free}, waiting {}{called}{marked}", waiters(word))
    }
}

/// The format of `lock`.
#[derive(Debug)]
pub(super) struct LockCodec;

impl Codec for LockCodec {
    fn show(&self, lock: Word) -> String {
        match (lock & HELD != 0, lock & NEWS != 0) {
            (false, false) => "open",
            (true, false) => "held",
            (false, true) => "open, news",
            (true, true) => "held, news",
        }
        .into()
    }
}

/// The format of `terms`.
#[derive(Debug)]
pub(super) struct TermsCodec(pub Slots);

impl Codec for TermsCodec {
    fn show(&self, word: Word) -> String {
        let Terms { k, closed, owed } = Terms::unpack(word);
        let closed = if closed { ", closed" } else { "" };
        match owed {
            0 => format!("k = {k}{closed}"),
            owed => format!("k = {k}{closed}, owed {}", self.0.show(owed)),
        }
    }
}

/// The format of a grant.
#[derive(Debug)]
pub(super) struct GrantCodec(pub Slots);

impl Codec for GrantCodec {
    fn show(&self, grant: Word) -> String {
        match grant {
            0 => "none".into(),
            CLOSED => "closed".into(),
            TRY => "try again".into(),
            SERVE => "serve".into(),
            slots => self.0.show(slots),
        }
    }
}

/// The format of a word of slot numbers.
#[derive(Debug)]
pub(super) struct SlotsCodec;

impl Codec for SlotsCodec {
    fn show(&self, slots: Word) -> String {
        Slots::Bits.show(slots)
    }
}

/// The format of the variable that says whether a group of slot numbers is full.
#[derive(Debug)]
pub(super) struct FullCodec;

impl Codec for FullCodec {
    fn show(&self, full: Word) -> String {
        match full {
            0 => "no".into(),
            FULL => "yes".into(),
            _ => {
                let flags = [(FULL, "full"), (MARKING, "marking"), (slot_bits::NEWS, "news")];
                let set = flags.into_iter().filter(|(flag, _)| full & flag != 0);
                set.map(|(_, name)| name).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::words::WAITER, *};

    #[test]
    fn words_are_shown_with_their_parts() {
        let word = WordCodec(Slots::Bits);
        assert_eq!(word.show(0b101 + 2 * WAITER), "free {0, 2}, waiting 2");
        assert_eq!(word.show(CALLED + WAITER + MARK), "free {}, waiting 1, one called, marked");
        assert_eq!(WordCodec(Slots::Count).show(3), "free 3, waiting 0");
        assert_eq!(WordCodec(Slots::of(2)).show(0b1101), "free {0} and 3 more, waiting 0");
        assert_eq!(LockCodec.show(HELD | NEWS), "held, news");
        assert_eq!(
            [0, FULL, MARKING | slot_bits::NEWS].map(|full| FullCodec.show(full)),
            ["no", "yes", "marking, news"]
        );
        let terms = Terms { k: 1, closed: true, owed: 0b10 };
        assert_eq!(TermsCodec(Slots::Bits).show(terms.pack()), "k = 1, closed, owed {1}");
        assert_eq!(GrantCodec(Slots::Bits).show(SERVE), "serve");
        assert_eq!(GrantCodec(Slots::Bits).show(0b10), "{1}");
    }
}
