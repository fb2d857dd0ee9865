//! How readers see the words: phases, processes and numbers instead of one large number.

use alloc::{format, string::String};

use super::words::{Card, Phase, Tag};
use crate::framework::{layout::Codec, memory::Word};

// The values of `life`.
pub(super) const NOBODY: Word = 0;
pub(super) const ALIVE: Word = 1;
pub(super) const DEAD: Word = 2;

/// The format of a card.
#[derive(Debug)]
pub(super) struct CardCodec;

impl Codec for CardCodec {
    fn show(&self, word: Word) -> String {
        let Card { phase, number } = Card::unpack(word);
        match phase {
            Phase::Vacant => format!("vacant #{number}"),
            Phase::Idle => format!("idle #{number}"),
            Phase::Arriving => format!("arriving #{number}"),
            Phase::Waiting => format!("waiting #{number}"),
            Phase::Asleep => format!("asleep #{number}"),
            Phase::Unrung(slot) => format!("granted slot {slot}, not rung #{number}"),
            Phase::Granted(slot) => format!("granted slot {slot} #{number}"),
            Phase::In(slot) => format!("in slot {slot} #{number}"),
        }
    }
}

/// The format of a tag.
#[derive(Debug)]
pub(super) struct TagCodec;

impl Codec for TagCodec {
    fn show(&self, word: Word) -> String {
        match Tag::unpack(word) {
            Some(Tag { process, number }) => format!("process {process} #{number}"),
            None => "free".into(),
        }
    }
}

/// The format of `life`.
#[derive(Debug)]
pub(super) struct LifeCodec;

impl Codec for LifeCodec {
    fn show(&self, value: Word) -> String {
        match value {
            NOBODY => "nobody",
            ALIVE => "alive",
            _ => "dead",
        }
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_and_tags_are_shown_with_their_parts() {
        assert_eq!(CardCodec.show(Card::new(Phase::Waiting, 4).pack()), "waiting #4");
        assert_eq!(CardCodec.show(Card::new(Phase::In(1), 6).pack()), "in slot 1 #6");
        assert_eq!(TagCodec.show(Tag { process: 0, number: 6 }.pack()), "process 0 #6");
        assert_eq!(TagCodec.show(super::super::words::FREE), "free");
        assert_eq!(LifeCodec.show(DEAD), "dead");
    }
}
