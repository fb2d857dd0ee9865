//! What the words hold: numbers, cards and tags.

use core::fmt;

use crate::framework::memory::Word;

/// Tells one claim from every other of the same process: `2 t` while it has ticket `t`, `2 t + 1` from
/// then on until it has another. So what is written about an old claim is never taken for a new one.
pub type Number = Word;

const NUMBER_BITS: u32 = 48;
/// Whatever a card holds, a slot that is read from it is one that there may be.
const SLOT_BITS: u32 = 10;
const PROCESS_BITS: u32 = 11;

/// The most slots that a card can tell apart.
pub const MAX_SLOTS: usize = 1 << SLOT_BITS;
/// The most members that a tag can tell apart.
pub const PROCESSES_IN_TAG: usize = 1 << PROCESS_BITS;

/// The number of who holds this ticket.
pub const fn waits_with(ticket: Word) -> Number {
    ticket.wrapping_mul(2) & ((1 << NUMBER_BITS) - 1)
}

/// The number that follows it.
pub const fn after(number: Number) -> Number {
    number | 1
}

/// How a process stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// There is no such process.
    Vacant,
    /// It does not wait. A slot tagged with its number is its own.
    Idle,
    /// It is about to wait.
    Arriving,
    /// It waits; its number tells since when.
    Waiting,
    /// It was given this slot, and may not know yet.
    Granted(usize),
    /// It was given this slot, and knows.
    In(usize),
}

/// What a process's card says.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Card {
    /// How it stands.
    pub phase: Phase,
    /// The number of its claim.
    pub number: Number,
}

impl Card {
    /// A card.
    pub const fn new(phase: Phase, number: Number) -> Self {
        Card { phase, number }
    }

    /// As a word.
    #[inline]
    pub const fn pack(self) -> Word {
        let (phase, slot) = match self.phase {
            Phase::Vacant => (0, 0),
            Phase::Idle => (1, 0),
            Phase::Arriving => (2, 0),
            Phase::Waiting => (3, 0),
            Phase::Granted(slot) => (4, slot),
            Phase::In(slot) => (5, slot),
        };
        (phase << SLOT_BITS | slot as Word) << NUMBER_BITS | self.number
    }

    /// From a word; one that no process writes is nobody's.
    #[inline]
    pub const fn unpack(word: Word) -> Self {
        let slot = (word >> NUMBER_BITS) as usize & (MAX_SLOTS - 1);
        let phase = match word >> (NUMBER_BITS + SLOT_BITS) {
            1 => Phase::Idle,
            2 => Phase::Arriving,
            3 => Phase::Waiting,
            4 => Phase::Granted(slot),
            5 => Phase::In(slot),
            _ => Phase::Vacant,
        };
        Card { phase, number: word & ((1 << NUMBER_BITS) - 1) }
    }

    /// What the card says once its process is gone.
    pub const fn vacated(self) -> Self {
        Card { phase: Phase::Vacant, number: self.number }
    }

    /// Whether it is the card of one who waits with this number.
    pub fn waits_with(self, number: Number) -> bool {
        self == Card::new(Phase::Waiting, number)
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}#{}", self.phase, self.number)
    }
}

/// What a slot that is not free is tagged with: whose it is, and for which claim.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tag {
    /// The process.
    pub process: usize,
    /// Its claim.
    pub number: Number,
}

/// The word of a slot that is free.
pub const FREE: Word = 0;

impl Tag {
    /// As a word.
    #[inline]
    pub const fn pack(self) -> Word {
        (self.process as Word + 1) << NUMBER_BITS | self.number
    }

    /// From a word, if it is not that of a free slot.
    #[inline]
    pub const fn unpack(word: Word) -> Option<Self> {
        match (word >> NUMBER_BITS) as usize & (2 * PROCESSES_IN_TAG - 1) {
            0 => None,
            above => Some(Tag { process: above - 1, number: word & ((1 << NUMBER_BITS) - 1) }),
        }
    }

    /// What the tag on slot `slot` means, if its process's card is this. A void tag stays void.
    pub fn means(self, slot: usize, card: Card) -> Meaning {
        if self.number != card.number {
            return Meaning::Void;
        }
        match card.phase {
            Phase::Idle => Meaning::Held,
            Phase::Waiting => Meaning::Offered,
            Phase::Granted(its) | Phase::In(its) if its == slot => Meaning::Held,
            _ => Meaning::Void,
        }
    }
}

/// What a tag means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// The slot is its process's.
    Held,
    /// It will be, once somebody has written so on its card.
    Offered,
    /// Nothing: the slot is free, but for being tagged.
    Void,
}
