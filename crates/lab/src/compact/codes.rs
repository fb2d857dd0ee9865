//! Codes of states that are wider than a word.
//!
//! A wide state is divided into *parts*, for example the private state of a process together with the variables that
//! only this process writes ([`Space::parts`](crate::space::Space::parts)). A part has far fewer values than its bits
//! allow, because its variables change together. A [`Dictionary`] for each part numbers the values in the order in which
//! they are found, and the code of a state consists of these numbers (Holzmann, "State compression in SPIN", 1997). The
//! code is exact: it determines the state.
//!
//! Numbers need more bits while a dictionary grows. A new bit is the lowest bit of the code that no dictionary uses
//! yet. So codes that exist already do not change, because their new bits are 0. The first word of a code has a fixed
//! width, and it determines the segment together with the second word. Only the second word gets wider, and each segment
//! of the set adapts on its own (see [`CompactSet::of_codes`](super::CompactSet::of_codes)).
//!
//! Codes save memory only while the dictionaries are small compared with the set (see [`Codes::are_too_large`]).

use std::sync::Mutex;

use super::{Memory, OutOfMemory, dictionary::Dictionary};

/// The code of a state.
pub type Code = [u64; 2];

/// The number of bits of the first word of a code. It must be large enough to spread the states over the lines of the
/// set (see [`Shape`](super::shape::Shape)). A wider first word would not save memory.
pub(super) const FIRST_BITS: u32 = 40;

/// The maximum number of bits of the second word of a code. In the other 8 bits of this word, the search stores a set
/// of at most 8 processes.
const MOST_SECOND_BITS: u32 = 56;

/// The maximum number of bits in each word of a code.
pub const MOST_CODE_BITS: [u32; 2] = [FIRST_BITS, MOST_SECOND_BITS];

/// The number of bytes that the dictionaries may take in any case.
const SMALL: u64 = 4 << 20;

/// The number of states for which the dictionaries may take one more byte.
const STATES_PER_BYTE: u64 = 2;

/// Returns the bit of a code at this position.
#[inline]
pub(super) fn bit(position: u8) -> Code {
    let position = u32::from(position);
    if position < FIRST_BITS { [1 << position, 0] } else { [0, 1 << (position - FIRST_BITS)] }
}

/// The reason why a state has no code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoCode {
    /// The dictionaries reach the limit on memory.
    Memory,
    /// The code needs more bits than it may have.
    Bits,
}

impl From<OutOfMemory> for NoCode {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        NoCode::Memory
    }
}

/// Maps states to codes and back.
pub struct Codes<const W: usize> {
    dictionaries: Vec<Dictionary<W>>,
    /// The number of bits of a code that are in use. A thread that adds a value holds this lock.
    bits: Mutex<u8>,
}

impl<const W: usize> Codes<W> {
    /// Creates the codes of states with these parts. Each bit of a state must belong to one part.
    ///
    /// # Errors
    /// Fails if the dictionaries reach the limit on memory.
    pub fn new(parts: &[[u64; W]], memory: &Memory) -> Result<Self, OutOfMemory> {
        let dictionaries = parts.iter().map(|&mask| Dictionary::new(mask, memory));
        Ok(Codes { dictionaries: dictionaries.collect::<Result<_, _>>()?, bits: Mutex::new(0) })
    }

    /// Returns whether the dictionaries take too much memory for a set of this many states. Then the states themselves
    /// take less.
    pub fn are_too_large(&self, states: u64) -> bool {
        let bytes: u64 = self.dictionaries.iter().map(Dictionary::bytes).sum();
        bytes > SMALL + states / STATES_PER_BYTE
    }

    /// Returns the code of a state, if the dictionaries contain all of its parts.
    #[inline]
    pub fn find(&self, state: &[u64; W]) -> Option<Code> {
        self.dictionaries.iter().try_fold([0; 2], |code, dictionary| {
            Some(or(code, dictionary.find(&dictionary.part(state))?))
        })
    }

    /// Returns the code of a state like [`find`](Codes::find). Takes the parts that are the same in another state from
    /// that state's code.
    #[inline]
    pub fn find_like(
        &self,
        state: &[u64; W],
        (like, code_like): (&[u64; W], Code),
    ) -> Option<Code> {
        let changed = |dictionary: &&Dictionary<W>| !dictionary.is_same(state, like);
        self.dictionaries.iter().filter(changed).try_fold(code_like, |code, dictionary| {
            Some(dictionary.replace(code, dictionary.find(&dictionary.part(state))?))
        })
    }

    /// Returns the code of a state. Adds the parts that the dictionaries do not contain.
    ///
    /// # Errors
    /// Fails if the code becomes too long, or if the dictionaries reach the limit on memory.
    #[inline]
    pub fn encode(&self, state: &[u64; W], memory: &Memory) -> Result<Code, NoCode> {
        self.dictionaries.iter().try_fold([0; 2], |code, dictionary| {
            Ok(or(code, self.encode_part(dictionary, state, memory)?))
        })
    }

    /// Returns the code of a state like [`encode`](Codes::encode). Takes the parts that are the same in another state
    /// from that state's code.
    #[inline]
    pub fn encode_like(
        &self,
        state: &[u64; W],
        (like, code_like): (&[u64; W], Code),
        memory: &Memory,
    ) -> Result<Code, NoCode> {
        let changed = |dictionary: &&Dictionary<W>| !dictionary.is_same(state, like);
        self.dictionaries.iter().filter(changed).try_fold(code_like, |code, dictionary| {
            Ok(dictionary.replace(code, self.encode_part(dictionary, state, memory)?))
        })
    }

    #[inline]
    fn encode_part(
        &self,
        dictionary: &Dictionary<W>,
        state: &[u64; W],
        memory: &Memory,
    ) -> Result<Code, NoCode> {
        let value = dictionary.part(state);
        match dictionary.find(&value) {
            Some(code) => Ok(code),
            None => self.add(dictionary, &value, memory),
        }
    }

    #[cold]
    fn add(
        &self,
        dictionary: &Dictionary<W>,
        value: &[u64; W],
        memory: &Memory,
    ) -> Result<Code, NoCode> {
        let mut bits = self.bits.lock().expect("no panic while held");
        if let Some(code) = dictionary.find(value) {
            return Ok(code); // another thread has added it
        }
        let add_bit = || {
            let position = *bits;
            if u32::from(position) == FIRST_BITS + MOST_SECOND_BITS {
                return Err(NoCode::Bits);
            }
            *bits += 1;
            Ok(position)
        };
        dictionary.add(value, memory, add_bit)
    }

    /// Returns the state with this code.
    #[inline]
    pub fn state(&self, code: &Code) -> [u64; W] {
        let [first, second] = *code;
        let (low, high) = (first | second << FIRST_BITS, second >> (u64::BITS - FIRST_BITS));
        let mut state = [0; W];
        for dictionary in &self.dictionaries {
            dictionary.decode(low, high, &mut state);
        }
        state
    }
}

#[inline]
fn or(one: Code, other: Code) -> Code {
    [one[0] | other[0], one[1] | other[1]]
}

#[cfg(test)]
mod tests;
