//! One segment of the set: a hash table of its own. The address of a state has two parts, the number of its segment and
//! the rest. In this file, an *address* is the rest.

use std::cmp::Ordering;

use super::{
    block::{Block, LANES, WORDS, equal_tags, lanes, place_of, place_of_bit, tag_at},
    shape::{Shape, TAG_BITS, parts, value},
};

/// The factors by which small and large segments grow. A larger factor saves time, and a smaller one saves
/// memory.
const GROWTH_OF_SMALL: f64 = 2.0;
const GROWTH: f64 = 1.4;

/// A segment of at least this many bytes is large.
const LARGE: u64 = 1 << 16;

/// The smallest number of lines of a new segment.
const FEWEST_LINES: f64 = 4.0;

/// A hash table of states. An entry stores only the bits that its place in the table does not determine (see
/// [`Shape`]).
pub(super) struct Segment<const W: usize> {
    shape: Shape,
    blocks: Vec<Block>,
    count: usize,
    address_bits: u32,
    /// The number of bits of each word. The first word is not stored.
    widths: [u32; W],
    /// The number of lines that [`Shape::new`] was asked for.
    lines: f64,
    /// For each lane (16 bits) of a line's first block: all bits if the lane is the place of a tag, otherwise none.
    tag_lanes: [u16; LANES],
}

/// The result of an insertion.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Insertion {
    /// The state was in the segment.
    Known,
    /// The state was not in the segment and is inserted.
    New,
    /// There is no room for the state.
    NoRoom,
}

/// The line of an address, and what is left of the address (see [`Shape::split`]).
#[derive(Clone, Copy, Default)]
pub(super) struct Target {
    line: usize,
    remainder: u64,
}

/// The last line that has entries, and the number of its entries. If states arrive in the order of their addresses,
/// most of them go to this line or the next.
#[derive(Default)]
struct Last {
    line: usize,
    entries: usize,
}

/// The result of a search in one line.
enum Look {
    /// The state is at this place.
    Known(usize),
    /// The state is not in the line. This place is empty.
    Empty(usize),
    /// The state is not in the line, and the line is full.
    Full,
}

impl<const W: usize> Segment<W> {
    /// Creates an empty segment. `stagger` is between 0 and 1. Segments with different values grow at
    /// different times. So the share of places in use, taken over many segments, stays about the same.
    pub fn new(address_bits: u32, widths: [u32; W], stagger: f64) -> Self {
        Self::with_lines(address_bits, widths, FEWEST_LINES * GROWTH_OF_SMALL.powf(stagger))
    }

    fn with_lines(address_bits: u32, widths: [u32; W], lines: f64) -> Self {
        let shape = Shape::new(address_bits, widths[1..].iter().sum(), lines);
        let blocks = vec![Block::default(); shape.blocks()];
        let is_tag = |lane| place_of(lane) < shape.per_line;
        let tag_lanes = std::array::from_fn(|lane| if is_tag(lane) { u16::MAX } else { 0 });
        Segment { shape, blocks, count: 0, address_bits, widths, lines, tag_lanes }
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns the number of bytes in use.
    pub fn bytes(&self) -> u64 {
        size_of_val(&self.blocks[..]) as u64
    }

    fn growth(&self) -> f64 {
        if self.bytes() < LARGE { GROWTH_OF_SMALL } else { GROWTH }
    }

    /// Returns the number of lines of the next size, for states with these widths. If the states get wider, the segment
    /// first gets about as many places as before.
    fn next_lines(&self, widths: [u32; W]) -> f64 {
        if widths == self.widths {
            return self.lines * self.growth();
        }
        let wider = Shape::new(self.address_bits, widths[1..].iter().sum(), self.lines);
        let places = |shape: &Shape| (shape.lines * shape.per_line) as f64;
        self.lines * (places(&self.shape) / places(&wider)).max(1.0)
    }

    /// Returns the number of bytes that a segment of the next size needs, for states with these widths. Returns `None`
    /// if no larger segment can help.
    pub fn bytes_grown(&self, widths: [u32; W]) -> Option<u64> {
        let lines = self.next_lines(widths);
        let shape = Shape::new(self.address_bits, widths[1..].iter().sum(), lines);
        let can_help = self.shape.range > 1 || widths != self.widths;
        can_help.then(|| (shape.blocks() * size_of::<Block>()) as u64)
    }

    /// Returns the widths of the words of a state.
    pub fn widths(&self) -> [u32; W] {
        self.widths
    }

    /// Enlarges the segment, for states with these widths. Returns whether every state fits. If not, the segment is
    /// unchanged, but the next call makes a larger one.
    pub fn grow(&mut self, widths: [u32; W]) -> bool {
        let lines = self.next_lines(widths);
        let mut larger = Self::with_lines(self.address_bits, widths, lines);
        let mut last = Last::default();
        for line in 0..self.shape.lines {
            for place in 0..self.shape.per_line {
                let Some((address, state)) = self.entry(line, place) else { break };
                if !larger.insert_new(address, &state, &mut last) {
                    let is_wider = widths != self.widths;
                    self.lines = if is_wider { lines * self.growth() } else { lines };
                    return false;
                }
            }
        }
        *self = larger;
        true
    }

    /// Returns whether this many states can be inserted before the segment is full.
    #[inline]
    pub fn has_room_for(&self, states: usize) -> bool {
        self.count + states <= self.shape.full
    }

    /// Returns the target of an address. It is valid until the segment grows.
    #[inline]
    pub fn target(&self, address: u64) -> Target {
        let (line, remainder) = self.shape.split(address);
        Target { line, remainder }
    }

    /// Loads the first block of a target's line into the cache. Returns a word of it, so that the caller can keep the
    /// compiler from removing the load.
    #[inline]
    pub fn touch(&self, target: Target) -> u64 {
        self.blocks[target.line * self.shape.blocks_per_line].0[0]
    }

    /// Inserts a state. Its first word follows from the address and the other words.
    pub fn insert(&mut self, address: u64, state: &[u64; W]) -> Insertion {
        if !self.has_room_for(1) {
            return Insertion::NoRoom;
        }
        self.insert_at(self.target(address), state)
    }

    /// Inserts a state with this target. The segment must have room for it.
    #[inline]
    pub fn insert_at(&mut self, target: Target, state: &[u64; W]) -> Insertion {
        let Target { mut line, remainder: mut value } = target;
        for _ in 0..=self.shape.reach {
            let (tag, upper) = parts(value);
            match self.look(line, tag, upper, state) {
                Look::Known(_) => return Insertion::Known,
                Look::Empty(place) => {
                    self.write(line, place, tag, upper, state);
                    self.count += 1;
                    return Insertion::New;
                }
                Look::Full => {}
            }
            line = self.after(line);
            value += self.shape.range;
        }
        Insertion::NoRoom
    }

    /// Inserts a state that is not in the segment. Returns `false` if there is no room for it.
    #[inline]
    fn insert_new(&mut self, address: u64, state: &[u64; W], last: &mut Last) -> bool {
        let (mut line, mut value) = self.shape.split(address);
        for _ in 0..=self.shape.reach {
            let entries = match line.cmp(&last.line) {
                Ordering::Less => self.entries(line),
                Ordering::Equal => last.entries,
                Ordering::Greater => 0,
            };
            if entries < self.shape.per_line {
                let (tag, upper) = parts(value);
                self.write(line, entries, tag, upper, state);
                self.count += 1;
                if line >= last.line {
                    *last = Last { line, entries: entries + 1 };
                }
                return true;
            }
            line = self.after(line);
            value += self.shape.range;
        }
        false
    }

    #[inline]
    fn after(&self, line: usize) -> usize {
        if line + 1 == self.shape.lines { 0 } else { line + 1 }
    }

    /// Returns the line and the place of a state, if the segment contains it.
    #[inline]
    pub fn find(&self, address: u64, state: &[u64; W]) -> Option<(usize, usize)> {
        let (mut line, mut value) = self.shape.split(address);
        for _ in 0..=self.shape.reach {
            let (tag, upper) = parts(value);
            match self.look(line, tag, upper, state) {
                Look::Known(place) => return Some((line, place)),
                Look::Empty(_) => return None,
                Look::Full => {}
            }
            line = self.after(line);
            value += self.shape.range;
        }
        None
    }

    /// Returns the number of lines.
    pub fn lines(&self) -> usize {
        self.shape.lines
    }

    /// Returns the number of entries in a line. The entries come first, and then the empty places.
    #[inline]
    pub fn entries(&self, line: usize) -> usize {
        let lanes = lanes(&self.blocks[line * self.shape.blocks_per_line]);
        let used = |(&lane, &mask): (&u16, &u16)| u16::from(lane & mask != 0);
        lanes.iter().zip(&self.tag_lanes).map(used).sum::<u16>().into()
    }

    /// Looks for a state in a line.
    ///
    /// The function has few branches that depend on the contents of the line, because a processor cannot predict
    /// them. It compares the tag with everything in the line's first block, including the bits after the tags.
    #[inline]
    fn look(&self, line: usize, tag: u16, upper: u64, state: &[u64; W]) -> Look {
        let block = &self.blocks[line * self.shape.blocks_per_line];
        if lanes(block).iter().fold(false, |found, &lane| found | (lane == tag)) {
            let mut equal = equal_tags(block, tag);
            while equal != 0 {
                let place = place_of_bit(equal.trailing_zeros());
                if place < self.shape.per_line && self.has_rest(line, place, upper, state) {
                    return Look::Known(place);
                }
                equal &= equal - 1;
            }
        }
        if tag_at(&block.0, self.shape.per_line - 1) != 0 {
            return Look::Full;
        }
        Look::Empty(self.entries(line))
    }

    /// Returns the position of the bits of an entry besides its tag, in bits from the start of its line.
    #[inline]
    fn rest_at(&self, place: usize) -> usize {
        self.shape.per_line * TAG_BITS + place * self.shape.rest_bits
    }

    #[inline]
    fn has_rest(&self, line: usize, place: usize, upper: u64, state: &[u64; W]) -> bool {
        let mut at = self.rest_at(place);
        if self.read(line, at, self.shape.upper_bits) != upper {
            return false;
        }
        at += self.shape.upper_bits as usize;
        self.widths[1..].iter().zip(&state[1..]).all(|(&width, &word)| {
            let is_same = self.read(line, at, width) == word;
            at += width as usize;
            is_same
        })
    }

    #[inline]
    fn write(&mut self, line: usize, place: usize, tag: u16, upper: u64, state: &[u64; W]) {
        self.set(line, place * TAG_BITS, TAG_BITS as u32, u64::from(tag));
        let mut at = self.rest_at(place);
        self.set(line, at, self.shape.upper_bits, upper);
        at += self.shape.upper_bits as usize;
        let widths = self.widths;
        for (&width, &word) in widths[1..].iter().zip(&state[1..]) {
            self.set(line, at, width, word);
            at += width as usize;
        }
    }

    /// Returns the address and the other words of the entry at this place. The first word is 0.
    #[inline]
    pub fn entry(&self, line: usize, place: usize) -> Option<(u64, [u64; W])> {
        let tag = tag_at(&self.blocks[line * self.shape.blocks_per_line].0, place);
        if tag == 0 {
            return None;
        }
        let mut at = self.rest_at(place);
        let upper = self.read(line, at, self.shape.upper_bits);
        at += self.shape.upper_bits as usize;
        let mut state = [0; W];
        for (word, &width) in state[1..].iter_mut().zip(&self.widths[1..]) {
            *word = self.read(line, at, width);
            at += width as usize;
        }
        Some((self.shape.join(line, value(tag, upper)), state))
    }

    /// Reads `width` bits of a line, starting at bit `at`.
    #[inline]
    fn read(&self, line: usize, at: usize, width: u32) -> u64 {
        if width == 0 {
            return 0;
        }
        let (index, shift) = (line * self.shape.blocks_per_line * WORDS + at / 64, at % 64);
        let word = |index: usize| self.blocks[index / WORDS].0[index % WORDS];
        let mut value = word(index) >> shift;
        if shift + width as usize > 64 {
            value |= word(index + 1) << (64 - shift);
        }
        value & (u64::MAX >> (64 - width))
    }

    /// Writes `width` bits of a line, starting at bit `at`. These bits must be 0.
    #[inline]
    fn set(&mut self, line: usize, at: usize, width: u32, value: u64) {
        if width == 0 {
            return;
        }
        let (index, shift) = (line * self.shape.blocks_per_line * WORDS + at / 64, at % 64);
        self.blocks[index / WORDS].0[index % WORDS] |= value << shift;
        if shift + width as usize > 64 {
            self.blocks[(index + 1) / WORDS].0[(index + 1) % WORDS] |= value >> (64 - shift);
        }
    }
}
