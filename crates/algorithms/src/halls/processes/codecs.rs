//! Formats the words for readers: phases, processes and numbers instead of one large number.

use alloc::{format, string::String};

use super::words::{Card, Phase, Size, Tag};
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
            Phase::Waiting(1) => format!("waiting #{number}"),
            Phase::Asleep(1) => format!("asleep #{number}"),
            Phase::Waiting(wants) => format!("waiting for {wants} slots #{number}"),
            Phase::Asleep(wants) => format!("asleep, waits for {wants} slots #{number}"),
            Phase::UnrungMany => format!("granted its slots, not rung #{number}"),
            Phase::GrantedMany => format!("granted its slots #{number}"),
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
            Some(tag) if tag.is_seal() => format!("sealed #{}", tag.number),
            Some(Tag { process, number }) => format!("process {process} #{number}"),
            None => "free".into(),
        }
    }
}

/// The format of a size.
#[derive(Debug)]
pub(super) struct SizeCodec;

impl Codec for SizeCodec {
    fn show(&self, word: Word) -> String {
        match Size::unpack(word) {
            size if size.is_shrunk() => format!("{}, was {} #{}", size.k, size.top, size.epoch),
            size => format!("{} #{}", size.k, size.epoch),
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
        assert_eq!(CardCodec.show(Card::new(Phase::Waiting(1), 4).pack()), "waiting #4");
        assert_eq!(
            CardCodec.show(Card::new(Phase::Waiting(2), 4).pack()),
            "waiting for 2 slots #4"
        );
        assert_eq!(CardCodec.show(Card::new(Phase::In(1), 6).pack()), "in slot 1 #6");
        assert_eq!(TagCodec.show(Tag { process: 0, number: 6 }.pack()), "process 0 #6");
        assert_eq!(TagCodec.show(super::super::words::FREE), "free");
        assert_eq!(SizeCodec.show(Size::new(3).resized(2).pack()), "2, was 3 #1");
        assert_eq!(TagCodec.show(Tag::seal(1).pack()), "sealed #1");
        assert_eq!(LifeCodec.show(DEAD), "dead");
    }
}
