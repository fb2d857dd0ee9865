//! The distinct values of one part of the states, each with its number and the bits that stand for it in a code.
//!
//! Threads look values up without a lock. A thread that adds a value holds a lock (see
//! [`Codes`](super::codes::Codes)). Nothing moves when a dictionary grows: entries are in chunks of increasing size,
//! and a larger table replaces the smaller one, which stays until the end for threads that still read it.
//!
//! ORDERING: an entry is written before its number is published in the table with Release. A look-up reads the number
//! with Acquire before it reads the entry. A thread that decodes a code has received the code, through a lock or at the
//! end of a level, from the thread that has made the code. So the decoding thread sees the entries and the bits of the
//! code.

use std::{
    hash::{BuildHasher, Hasher},
    sync::{
        OnceLock,
        atomic::{
            AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
};

use super::{
    Memory, OutOfMemory,
    codes::{Code, bit},
};

/// The number of entries of the first chunk, and of places of the first table. Each later chunk or table is twice as
/// large as the one before it.
const FEWEST: usize = 64;

/// The maximum number of chunks, and of tables.
const MOST: usize = 27;

/// The maximum number of bits of a number.
const MOST_BITS: usize = 32;

/// The distinct values of one part.
pub(super) struct Dictionary<const W: usize> {
    /// The bits of the part in a state.
    mask: [u64; W],
    len: AtomicU32,
    /// The position in a code of each bit of a number. Only the first `bits` positions are in use.
    positions: [AtomicU8; MOST_BITS],
    bits: AtomicUsize,
    /// The bits of a code at the positions that are in use.
    code_mask: [AtomicU64; 2],
    /// For each value: the bits of the part in a state, and the bits of the number in a code.
    entries: [OnceLock<Box<[AtomicU64]>>; MOST],
    /// Hash tables with linear probing. A place holds a number plus 1, or 0 if it is empty.
    tables: [OnceLock<Box<[AtomicU32]>>; MOST],
    /// The number of tables.
    generations: AtomicUsize,
}

impl<const W: usize> Dictionary<W> {
    /// The number of words of an entry: those of a state, and the two words of a code.
    const STRIDE: usize = W + 2;

    /// Creates a dictionary with one value, 0, for the part of a state with these bits. Its number is 0, which takes no
    /// bits.
    pub fn new(mask: [u64; W], memory: &Memory) -> Result<Self, OutOfMemory> {
        let dictionary = Dictionary {
            mask,
            len: AtomicU32::new(0),
            positions: std::array::from_fn(|_| AtomicU8::new(0)),
            bits: AtomicUsize::new(0),
            code_mask: [AtomicU64::new(0), AtomicU64::new(0)],
            entries: std::array::from_fn(|_| OnceLock::new()),
            tables: std::array::from_fn(|_| OnceLock::new()),
            generations: AtomicUsize::new(0),
        };
        dictionary.add_table(memory)?;
        let add_bit = || -> Result<u8, OutOfMemory> { unreachable!("the number 0 has no bits") };
        dictionary.add(&[0; W], memory, add_bit)?;
        Ok(dictionary)
    }

    /// Returns the part of a state.
    #[inline]
    pub fn part(&self, state: &[u64; W]) -> [u64; W] {
        std::array::from_fn(|word| state[word] & self.mask[word])
    }

    /// Returns whether two states have the same part.
    #[inline]
    pub fn is_same(&self, one: &[u64; W], other: &[u64; W]) -> bool {
        (0..W).fold(0, |bits, word| bits | (one[word] ^ other[word]) & self.mask[word]) == 0
    }

    /// Returns the number of values.
    pub fn len(&self) -> u32 {
        self.len.load(Relaxed)
    }

    fn entry(&self, number: u32) -> &[AtomicU64] {
        let (chunk, at) = place(number);
        let entries = self.entries[chunk].get().expect("the chunk of a known number");
        &entries[at * Self::STRIDE..][..Self::STRIDE]
    }

    /// Returns the bits that stand for a value in a code, if the dictionary contains the value.
    #[inline]
    pub fn find(&self, value: &[u64; W]) -> Option<Code> {
        let table = self.tables[self.generations.load(Acquire) - 1].get().expect("a table");
        let mut at = hash(value) as usize & (table.len() - 1);
        loop {
            let number = table[at].load(Acquire).checked_sub(1)?;
            let entry = self.entry(number);
            if entry.iter().zip(value).all(|(word, value)| word.load(Relaxed) == *value) {
                return Some([entry[W].load(Relaxed), entry[W + 1].load(Relaxed)]);
            }
            at = (at + 1) & (table.len() - 1);
        }
    }

    /// Adds a value that the dictionary does not contain, and returns the bits of its number in a code. If numbers need
    /// one more bit, its position comes from `add_bit`. The caller holds a lock, so no other thread adds a value.
    ///
    /// # Errors
    /// Fails if `add_bit` fails, or if the dictionary reaches the limit on memory.
    pub fn add<E: From<OutOfMemory>>(
        &self,
        value: &[u64; W],
        memory: &Memory,
        add_bit: impl FnOnce() -> Result<u8, E>,
    ) -> Result<Code, E> {
        let number = self.len();
        let bits = self.bits.load(Relaxed);
        let (chunk, _) = place(number);
        let is_full = 2 * (number as usize + 1) > self.places();
        if is_full {
            self.add_table(memory)?;
        }
        if self.entries[chunk].get().is_none() {
            let words = (FEWEST << chunk) * Self::STRIDE;
            memory.take((words * size_of::<u64>()) as u64)?;
            self.entries[chunk].get_or_init(|| (0..words).map(|_| AtomicU64::new(0)).collect());
        }
        if u64::from(number) >> bits != 0 {
            let position = add_bit()?;
            for (mask, bit) in self.code_mask.iter().zip(bit(position)) {
                mask.fetch_or(bit, Relaxed);
            }
            self.positions[bits].store(position, Relaxed);
            self.bits.store(bits + 1, Relaxed);
        }
        let code = self.code(number);
        for (word, value) in self.entry(number).iter().zip(value.iter().chain(&code)) {
            word.store(*value, Relaxed);
        }
        self.len.store(number + 1, Relaxed);
        let generation = self.generations.load(Relaxed) - 1;
        publish(self.tables[generation].get().expect("a table"), value, number);
        Ok(code)
    }

    /// Returns the bits of a number in a code.
    fn code(&self, number: u32) -> Code {
        let positions = &self.positions[..self.bits.load(Relaxed)];
        let mut code = [0; 2];
        for (index, position) in positions.iter().enumerate() {
            let [low, high] = bit(position.load(Relaxed));
            let digit = u64::from(number >> index & 1);
            code[0] |= low * digit;
            code[1] |= high * digit;
        }
        code
    }

    /// Replaces the number of this dictionary in `code`. `part` has the bits of the new number in a code.
    #[inline]
    pub fn replace(&self, code: Code, part: Code) -> Code {
        let [first, second] = self.code_mask.each_ref().map(|mask| mask.load(Relaxed));
        [code[0] & !first | part[0], code[1] & !second | part[1]]
    }

    /// Adds the part that a code determines to a state. `low` has the bits of the code at positions below 64, and
    /// `high` has the others.
    #[inline]
    pub fn decode(&self, low: u64, high: u64, state: &mut [u64; W]) {
        let mut number = 0;
        for (index, position) in self.positions[..self.bits.load(Relaxed)].iter().enumerate() {
            let position = position.load(Relaxed);
            let word = if position < 64 { low } else { high };
            number |= ((word >> (position % 64)) as u32 & 1) << index;
        }
        for (word, value) in state.iter_mut().zip(self.entry(number)) {
            *word |= value.load(Relaxed);
        }
    }

    /// Returns the number of bytes in use.
    pub fn bytes(&self) -> u64 {
        let entries = self.entries.iter().filter_map(OnceLock::get);
        let tables = self.tables.iter().filter_map(OnceLock::get);
        let entries: usize = entries.map(|chunk| size_of_val(&chunk[..])).sum();
        let tables: usize = tables.map(|table| size_of_val(&table[..])).sum();
        (entries + tables) as u64
    }

    /// Returns the number of places of the present table.
    fn places(&self) -> usize {
        FEWEST << self.generations.load(Relaxed) >> 1
    }

    /// Replaces the table with one of twice its size.
    fn add_table(&self, memory: &Memory) -> Result<(), OutOfMemory> {
        let generation = self.generations.load(Relaxed);
        let places = FEWEST << generation;
        memory.take((places * size_of::<AtomicU32>()) as u64)?;
        let table: Box<[AtomicU32]> = (0..places).map(|_| AtomicU32::new(0)).collect();
        for number in 0..self.len() {
            let value: [u64; W] =
                std::array::from_fn(|word| self.entry(number)[word].load(Relaxed));
            publish(&table, &value, number);
        }
        self.tables[generation].get_or_init(|| table);
        self.generations.store(generation + 1, Release);
        Ok(())
    }
}

/// Enters a number into a table.
fn publish<const W: usize>(table: &[AtomicU32], value: &[u64; W], number: u32) {
    let mut at = hash(value) as usize & (table.len() - 1);
    while table[at].load(Relaxed) != 0 {
        at = (at + 1) & (table.len() - 1);
    }
    table[at].store(number + 1, Release);
}

/// Returns the chunk of an entry, and its index there.
#[inline]
fn place(number: u32) -> (usize, usize) {
    let shifted = number as usize + FEWEST;
    let chunk = (shifted / FEWEST).ilog2();
    (chunk as usize, shifted - (FEWEST << chunk))
}

#[inline]
fn hash<const W: usize>(value: &[u64; W]) -> u64 {
    let mut hasher = foldhash::fast::FixedState::with_seed(0).build_hasher();
    value.iter().for_each(|&word| hasher.write_u64(word));
    hasher.finish()
}
