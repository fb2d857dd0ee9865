//! The content of the words: numbers, cards and tags. The [parent module](super) explains the algorithm.

use core::fmt;

use crate::framework::memory::Word;

/// A number that distinguishes the tickets of a process. It is `2 t` while the process waits with ticket `t`, and while
/// it holds the one slot for which it waited. Then it is `2 t + 1` until the process draws another ticket. A process
/// that waited for several slots holds them with `2 t + 1`. So a tag for an old ticket never counts for a new ticket.
/// Passages for one slot that do not wait draw no ticket, so they share a number. This does no harm, because each
/// passage removes its own tag.
pub type Number = Word;

const NUMBER_BITS: u32 = 48;
/// The number of bits of a slot number on a card. Every value of these bits is less than [`MAX_SLOTS`], so even a
/// damaged card names a slot number that can exist.
const SLOT_BITS: u32 = 10;
const PROCESS_BITS: u32 = 14;

/// The maximum number of slots that a card can distinguish.
pub const MAX_SLOTS: usize = 1 << SLOT_BITS;
/// The maximum number of processes that a tag can distinguish.
pub const PROCESSES_IN_TAG: usize = 1 << PROCESS_BITS;

/// Returns the number of a process that waits with this ticket.
pub const fn waits_with(ticket: Word) -> Number {
    ticket.wrapping_mul(2) & ((1 << NUMBER_BITS) - 1)
}

/// Returns the number of a process after it has waited with this number.
pub const fn after(number: Number) -> Number {
    number | 1
}

/// The phase of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// No process uses the card: its last owner is gone, or it has had none. A new owner may be about to write it.
    Vacant,
    /// The process does not wait. It holds the slots that are tagged with its number, if there are any.
    Idle,
    /// The process is about to wait.
    Arriving,
    /// The process waits for this many slots, and looks at its card before it sleeps. The numbers of waiters order
    /// the queue.
    Waiting(usize),
    /// The process waits for this many slots, and sleeps or is about to: a process that gives it slots must ring.
    Asleep(usize),
    /// The process was given this slot, and needs no ring: it was awake, or its bell was rung.
    Granted(usize),
    /// The process was given this slot while it was asleep, and its bell may not have been rung yet.
    Unrung(usize),
    /// The process was given this slot and has noticed.
    In(usize),
    /// The process was given all slots that are tagged for it, and needs no ring.
    GrantedMany,
    /// The process was given all slots that are tagged for it while it was asleep, and its bell may not have been
    /// rung yet.
    UnrungMany,
}

/// The slots that a waiter was given.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Given {
    /// This slot.
    One(usize),
    /// All slots that are tagged for it.
    Many,
}

impl Given {
    /// Returns the phase of a process that was given these slots and needs no ring.
    pub const fn rung(self) -> Phase {
        match self {
            Given::One(slot) => Phase::Granted(slot),
            Given::Many => Phase::GrantedMany,
        }
    }

    /// Returns the phase of a process that was given these slots, and whose bell may not have been rung yet.
    pub const fn unrung(self) -> Phase {
        match self {
            Given::One(slot) => Phase::Unrung(slot),
            Given::Many => Phase::UnrungMany,
        }
    }
}

/// The card of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Card {
    /// The phase of the process.
    pub phase: Phase,
    /// The number of the process.
    pub number: Number,
}

impl Card {
    /// Creates a card.
    pub const fn new(phase: Phase, number: Number) -> Self {
        Card { phase, number }
    }

    /// Packs the card into a word.
    #[inline]
    pub const fn pack(self) -> Word {
        let (phase, slot) = match self.phase {
            Phase::Vacant => (0, 0),
            Phase::Idle => (1, 0),
            Phase::Arriving => (2, 0),
            Phase::Waiting(wants) => (3, wants - 1),
            Phase::Granted(slot) => (4, slot),
            Phase::In(slot) => (5, slot),
            Phase::Asleep(wants) => (6, wants - 1),
            Phase::Unrung(slot) => (7, slot),
            Phase::GrantedMany => (8, 0),
            Phase::UnrungMany => (9, 0),
        };
        (phase << SLOT_BITS | slot as Word) << NUMBER_BITS | self.number
    }

    /// Unpacks a word. A word with an unknown phase becomes a vacant card.
    #[inline]
    pub const fn unpack(word: Word) -> Self {
        let slot = (word >> NUMBER_BITS) as usize & (MAX_SLOTS - 1);
        let phase = match word >> (NUMBER_BITS + SLOT_BITS) {
            1 => Phase::Idle,
            2 => Phase::Arriving,
            3 => Phase::Waiting(slot + 1),
            4 => Phase::Granted(slot),
            5 => Phase::In(slot),
            6 => Phase::Asleep(slot + 1),
            7 => Phase::Unrung(slot),
            8 => Phase::GrantedMany,
            9 => Phase::UnrungMany,
            _ => Phase::Vacant,
        };
        Card { phase, number: word & ((1 << NUMBER_BITS) - 1) }
    }

    /// Returns the card after its process is gone.
    pub const fn vacated(self) -> Self {
        Card { phase: Phase::Vacant, number: self.number }
    }

    /// Returns `true` if its process waits, awake or asleep.
    pub const fn waits(self) -> bool {
        self.wants().is_some()
    }

    /// Returns the number of slots that its process waits for, if it waits.
    pub const fn wants(self) -> Option<usize> {
        match self.phase {
            Phase::Waiting(wants) | Phase::Asleep(wants) => Some(wants),
            _ => None,
        }
    }

    /// Returns whether the process of this card waits with this number.
    pub fn waits_with(self, number: Number) -> bool {
        self.waits() && self.number == number
    }

    /// Returns the slots that its process was given, if it has not noticed yet.
    pub const fn given(self) -> Option<Given> {
        match self.phase {
            Phase::Granted(slot) | Phase::Unrung(slot) => Some(Given::One(slot)),
            Phase::GrantedMany | Phase::UnrungMany => Some(Given::Many),
            _ => None,
        }
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}#{}", self.phase, self.number)
    }
}

/// The tag of a slot. The card of the tagged process decides what the tag means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tag {
    /// The process for which the slot is tagged.
    pub process: usize,
    /// The number of that process.
    pub number: Number,
}

/// The word of a slot without a tag.
pub const FREE: Word = 0;

impl Tag {
    /// Packs the tag into a word.
    #[inline]
    pub const fn pack(self) -> Word {
        (self.process as Word + 1) << NUMBER_BITS | self.number
    }

    /// Unpacks a word. Returns `None` for the word of a slot without a tag.
    #[inline]
    pub const fn unpack(word: Word) -> Option<Self> {
        match (word >> NUMBER_BITS) as usize & (2 * PROCESSES_IN_TAG - 1) {
            0 => None,
            above => Some(Tag { process: above - 1, number: word & ((1 << NUMBER_BITS) - 1) }),
        }
    }

    /// Returns the tag that seals a slot that the hall no longer has, after the hall was resized `epoch` times. The
    /// tag names a process that does not exist, so every process treats the slot as taken.
    pub const fn seal(epoch: Word) -> Self {
        Tag { process: PROCESSES_IN_TAG, number: epoch }
    }

    /// Returns `true` if this tag seals its slot.
    pub const fn is_seal(self) -> bool {
        self.process == PROCESSES_IN_TAG
    }

    /// Returns `true` if this tag sealed its slot before the hall got this size.
    pub const fn is_seal_before(self, size: Size) -> bool {
        self.is_seal() && self.number < size.epoch
    }

    /// Returns the meaning of this tag of slot `slot`, given the card of the tagged process. A void tag
    /// stays void.
    pub fn means(self, slot: usize, card: Card) -> Meaning {
        let is_many = matches!(card.phase, Phase::GrantedMany | Phase::UnrungMany);
        // A process that was given several slots replaces its tags by tags with its next number (G6).
        if is_many && self.number == after(card.number) {
            return Meaning::Held;
        }
        if self.number != card.number {
            return Meaning::Void;
        }
        match card.phase {
            Phase::Idle | Phase::GrantedMany | Phase::UnrungMany => Meaning::Held,
            Phase::Waiting(1) | Phase::Asleep(1) => Meaning::Offered,
            Phase::Waiting(_) | Phase::Asleep(_) => Meaning::SetAside,
            Phase::Granted(its) | Phase::Unrung(its) | Phase::In(its) if its == slot => {
                Meaning::Held
            }
            _ => Meaning::Void,
        }
    }
}

/// The meaning of a tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// The process has the slot.
    Held,
    /// The process gets the slot once the offer is settled on its card.
    Offered,
    /// The process waits for several slots, and this slot is set aside for it.
    SetAside,
    /// The slot is free, although it is tagged.
    Void,
}

/// A waiter and the number of slots that it waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request {
    /// The process, and the number on its card.
    pub tag: Tag,
    /// The number of slots.
    pub wants: usize,
}

impl Request {
    /// Returns the slots that the waiter gets. `slot` is the last slot that was tagged for it.
    pub const fn given(self, slot: usize) -> Given {
        if self.wants == 1 { Given::One(slot) } else { Given::Many }
    }
}

/// The size of a hall.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Size {
    /// The number of slots; 0 if the hall is closed.
    pub k: usize,
    /// A number that exceeds every held slot number; 0 if the hall is closed. It is more than `k` if the hall has
    /// shrunk and slots may still be held that it no longer has.
    pub top: usize,
    /// The number of times that the hall was resized.
    pub epoch: Word,
}

impl Size {
    /// The number of bits of `k` and of `top`.
    const BITS: u32 = SLOT_BITS + 1;
    const EPOCH_BITS: u32 = Word::BITS - 2 * Self::BITS - 1;

    /// Returns the size of a hall with `k` slots that was never resized.
    pub const fn new(k: usize) -> Self {
        Size { k, top: k, epoch: 0 }
    }

    /// Returns `true` if slots may be held that the hall no longer has.
    pub const fn is_shrunk(self) -> bool {
        self.top > self.k
    }

    /// Returns the size after the number of slots was changed to `k`.
    pub const fn resized(self, k: usize) -> Self {
        let epoch = (self.epoch + 1) & ((1 << Self::EPOCH_BITS) - 1);
        Size { k, top: if self.top > k { self.top } else { k }, epoch }
    }

    /// Returns the size after all slots that the hall no longer has were sealed.
    pub const fn settled(self) -> Self {
        Size { top: self.k, ..self }
    }

    /// Packs the size into a word. The word of a closed hall is 0.
    #[inline]
    pub const fn pack(self) -> Word {
        match self.k {
            0 => 0,
            k => (self.epoch << Self::BITS | self.top as Word) << Self::BITS | k as Word,
        }
    }

    /// Unpacks a word. In the result, `k` and `top` are at most [`MAX_SLOTS`].
    #[inline]
    pub const fn unpack(word: Word) -> Self {
        let mask = (1 << Self::BITS) - 1;
        let (k, top) = ((word & mask) as usize, (word >> Self::BITS & mask) as usize);
        let k = if k > MAX_SLOTS { MAX_SLOTS } else { k };
        let top = if top > MAX_SLOTS { MAX_SLOTS } else { top };
        let epoch = word >> (2 * Self::BITS) & ((1 << Self::EPOCH_BITS) - 1);
        Size { k, top: if top < k { k } else { top }, epoch }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_packed_with_all_its_parts() {
        let shrunk = Size::new(MAX_SLOTS).resized(1);
        assert_eq!(shrunk, Size { k: 1, top: MAX_SLOTS, epoch: 1 });
        for size in [Size::new(1), Size::new(MAX_SLOTS), shrunk, shrunk.settled().resized(7)] {
            assert_eq!(Size::unpack(size.pack()), size);
        }
        assert_eq!(Size::unpack(0).k, 0);
    }

    #[test]
    fn a_seal_is_not_the_tag_of_a_process() {
        let seal = Tag::seal(5);
        assert_eq!(Tag::unpack(seal.pack()), Some(seal));
        let last = Tag { process: PROCESSES_IN_TAG - 1, number: 5 };
        assert!(seal.is_seal() && !Tag::unpack(last.pack()).unwrap().is_seal());
    }
}
