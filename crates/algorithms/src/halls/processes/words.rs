//! The content of the words: numbers, cards and tags.

use core::fmt;

use crate::framework::memory::Word;

/// A number that distinguishes the tickets of a process. It is `2 t` while the process waits or holds a
/// slot with ticket `t`, and `2 t + 1` from then on until the process draws another ticket. So a tag for
/// an old ticket never counts for a new ticket. Passages that find the hall quiet draw no ticket and
/// share a number; each of them removes its own tag.
pub type Number = Word;

const NUMBER_BITS: u32 = 48;
/// The number of bits that [`MAX_SLOTS`] needs. With these bits, every card names a slot number that can
/// exist, even if the card is damaged.
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
    /// No process is registered.
    Vacant,
    /// The process does not wait. It holds the slot that is tagged with its number, if there is one.
    Idle,
    /// The process is about to wait.
    Arriving,
    /// The process waits, and looks at its card before it sleeps. The numbers of waiters order the queue.
    Waiting,
    /// The process waits, and sleeps or is about to: a process that has news for it must ring.
    Asleep,
    /// The process was given this slot, and needs no ring: it was awake, or its bell was rung.
    Granted(usize),
    /// The process was given this slot while it was asleep, and its bell may not have been rung yet.
    Unrung(usize),
    /// The process was given this slot and has noticed.
    In(usize),
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
            Phase::Waiting => (3, 0),
            Phase::Granted(slot) => (4, slot),
            Phase::In(slot) => (5, slot),
            Phase::Asleep => (6, 0),
            Phase::Unrung(slot) => (7, slot),
        };
        (phase << SLOT_BITS | slot as Word) << NUMBER_BITS | self.number
    }

    /// Unpacks a word. A word that no process writes becomes a vacant card.
    #[inline]
    pub const fn unpack(word: Word) -> Self {
        let slot = (word >> NUMBER_BITS) as usize & (MAX_SLOTS - 1);
        let phase = match word >> (NUMBER_BITS + SLOT_BITS) {
            1 => Phase::Idle,
            2 => Phase::Arriving,
            3 => Phase::Waiting,
            4 => Phase::Granted(slot),
            5 => Phase::In(slot),
            6 => Phase::Asleep,
            7 => Phase::Unrung(slot),
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
        matches!(self.phase, Phase::Waiting | Phase::Asleep)
    }

    /// Returns whether the process of this card waits with this number.
    pub fn waits_with(self, number: Number) -> bool {
        self.waits() && self.number == number
    }

    /// Returns the slot that its process was given, if it has not noticed yet.
    pub const fn given(self) -> Option<usize> {
        match self.phase {
            Phase::Granted(slot) | Phase::Unrung(slot) => Some(slot),
            _ => None,
        }
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}#{}", self.phase, self.number)
    }
}

/// The tag of a slot that is not free.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tag {
    /// The process that has the slot, or is offered it.
    pub process: usize,
    /// The number of that process.
    pub number: Number,
}

/// The word of a free slot.
pub const FREE: Word = 0;

impl Tag {
    /// Packs the tag into a word.
    #[inline]
    pub const fn pack(self) -> Word {
        (self.process as Word + 1) << NUMBER_BITS | self.number
    }

    /// Unpacks a word. Returns `None` for the word of a free slot.
    #[inline]
    pub const fn unpack(word: Word) -> Option<Self> {
        match (word >> NUMBER_BITS) as usize & (2 * PROCESSES_IN_TAG - 1) {
            0 => None,
            above => Some(Tag { process: above - 1, number: word & ((1 << NUMBER_BITS) - 1) }),
        }
    }

    /// Returns the meaning of this tag of slot `slot`, given the card of the tagged process. A void tag
    /// stays void.
    pub fn means(self, slot: usize, card: Card) -> Meaning {
        if self.number != card.number {
            return Meaning::Void;
        }
        match card.phase {
            Phase::Idle => Meaning::Held,
            Phase::Waiting | Phase::Asleep => Meaning::Offered,
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
    /// The slot is free, although it is tagged.
    Void,
}
