//! Packs halls and lines into words, and formats halls as text.

use alloc::{format, string::String, vec::Vec};

use super::{
    hall::{Backup, Hall, Knowledge, Late, MAX_SLOTS, Slot},
    lines::{
        Line::{self, *},
        Was,
    },
};
use crate::framework::{
    layout::Codec,
    memory::{Pid, Word},
    queue,
};

/// The base of a digit that stands for a process, a slot, a number of slots or a detail of a line. The bases
/// are as small as possible, because a hall with all its digits has to fit into one word.
const DIGIT: usize = 4;
/// The base of a digit that stands for a process, or for none.
const NOBODY: Word = DIGIT as Word + 1;
/// The base of a digit that stands for a kind of line.
const KINDS: usize = 8;
/// The base of a digit that stands for the state of a slot together with its owner.
const SLOTS: Word = (4 * DIGIT) as Word;
const KNOWLEDGE: Word = 3;
const FLAG: Word = 2;
/// All words that [`pack_line`] returns are less than this.
const LINES: Word = (DIGIT * DIGIT * DIGIT * DIGIT * KINDS) as Word;
/// The base of a digit that stands for a request that hangs.
const LATE: Word = 3 * LINES;

/// The base of a digit that stands for a backup, or for none.
const BACKUP: Word = 1 << (MAX_SLOTS + 2);

/// A word made of digits with different bases.
struct Digits(Word);

impl Digits {
    fn put(&mut self, digit: Word, base: Word) {
        debug_assert!((0..base).contains(&digit), "digit {digit} with base {base}");
        self.0 = self.0 * base + digit;
    }

    fn take(&mut self, base: Word) -> Word {
        let digit = self.0 % base;
        self.0 /= base;
        digit
    }
}

impl Slot {
    fn pack(self) -> Word {
        let kind_of = |kind: usize, p: Pid| (kind * DIGIT + p) as Word;
        match self {
            Slot::Free => kind_of(0, 0),
            Slot::Left => kind_of(0, 1),
            Slot::Given(p) => kind_of(1, p),
            Slot::Held(p) => kind_of(2, p),
            Slot::Stale(p) => kind_of(3, p),
        }
    }

    fn unpack(word: Word) -> Self {
        match (word as usize / DIGIT, word as usize % DIGIT) {
            (0, 0) => Slot::Free,
            (0, _) => Slot::Left,
            (1, p) => Slot::Given(p),
            (2, p) => Slot::Held(p),
            (_, p) => Slot::Stale(p),
        }
    }
}

impl Late {
    /// Packs `Nothing` as 0, and `Next(p)` as `p + 1`. Both are less than [`LINES`], and `Sent` is not.
    fn pack(self) -> Word {
        match self {
            Late::Nothing => 0,
            Late::Next(p) => p as Word + 1,
            Late::Sent { from, line, is_bound } => {
                (1 + Word::from(is_bound)) * LINES + pack_line(from, line)
            }
        }
    }

    fn unpack(word: Word) -> Self {
        match word / LINES {
            0 => (word as usize).checked_sub(1).map_or(Late::Nothing, Late::Next),
            kind => {
                let (from, line) = unpack_line(word % LINES);
                Late::Sent { from, line, is_bound: kind == 2 }
            }
        }
    }
}

impl Backup {
    /// Packs `None` as 0. The word of a backup has its lowest bit set.
    fn pack(backup: Option<Self>) -> Word {
        let Some(Backup { taken, waits }) = backup else { return 0 };
        let bits = [true, waits].into_iter().chain(taken).enumerate();
        bits.map(|(at, bit)| Word::from(bit) << at).sum()
    }

    fn unpack(word: Word) -> Option<Self> {
        let bit = |at: usize| word >> at & 1 == 1;
        bit(0).then(|| Backup { waits: bit(1), taken: core::array::from_fn(|j| bit(j + 2)) })
    }
}

impl Knowledge {
    pub const ALL: [Knowledge; 3] = [Knowledge::Nothing, Knowledge::Asleep, Knowledge::Head];
}

impl Hall {
    pub fn pack(&self) -> Word {
        let mut word = Digits(queue::pack(&self.queue));
        word.put(self.late.pack(), LATE);
        word.put(Backup::pack(self.backup), BACKUP);
        word.put(self.pairs.into(), FLAG);
        word.put(self.unheard.map_or(0, |p| p as Word + 1), NOBODY);
        word.put(self.clock.into(), FLAG);
        word.put(self.closed.into(), FLAG);
        word.put(self.size as Word, DIGIT as Word);
        self.known.iter().for_each(|&known| word.put(known as Word, KNOWLEDGE));
        self.slots.iter().for_each(|slot| word.put(slot.pack(), SLOTS));
        word.0
    }

    pub fn unpack(word: Word) -> Self {
        let mut word = Digits(word);
        let mut hall = Hall::new(0);
        hall.slots.iter_mut().rev().for_each(|slot| *slot = Slot::unpack(word.take(SLOTS)));
        for known in hall.known.iter_mut().rev() {
            *known = Knowledge::ALL[word.take(KNOWLEDGE) as usize];
        }
        hall.size = word.take(DIGIT as Word) as usize;
        hall.closed = word.take(FLAG) != 0;
        hall.clock = word.take(FLAG) != 0;
        hall.unheard = (word.take(NOBODY) as usize).checked_sub(1);
        hall.pairs = word.take(FLAG) != 0;
        hall.backup = Backup::unpack(word.take(BACKUP));
        hall.late = Late::unpack(word.take(LATE));
        hall.queue = queue::unpack(word.0);
        hall
    }
}

/// Packs a line together with its process.
pub(super) fn pack_line(p: Pid, line: Line<Pid>) -> Word {
    let (kind, slot, detail, to) = match line {
        E1 { slot } => (0, slot, 0, 0),
        E2 => (1, 0, 0, 0),
        E3 { slot, was, to } => (2, slot, was as usize, to),
        E4 => (3, 0, 0, 0),
        T1 { slot } => (4, slot, 0, 0),
        X1 { slot } => (5, slot, 0, 0),
        X2 { slot, to } => (6, slot, 0, to),
        // A digit has room for only eight kinds of lines, so X3 and T2 share a kind and differ in `detail`.
        X3 { slot, anyway } => (7, slot, anyway.into(), 0),
        T2 { slot } => (7, slot, 2, 0),
    };
    let mut word = Digits(0);
    [p, to, detail, slot].iter().for_each(|&digit| word.put(digit as Word, DIGIT as Word));
    word.put(kind as Word, KINDS as Word);
    word.0
}

pub(super) fn unpack_line(word: Word) -> (Pid, Line<Pid>) {
    let mut word = Digits(word);
    let kind = word.take(KINDS as Word);
    let [slot, detail, to, p] = [(); 4].map(|()| word.take(DIGIT as Word) as usize);
    let line = match kind {
        0 => E1 { slot },
        1 => E2,
        2 => E3 { slot, was: [Was::Free, Was::Mine, Was::Stale][detail], to },
        3 => E4,
        4 => T1 { slot },
        5 => X1 { slot },
        6 => X2 { slot, to },
        _ if detail == 2 => T2 { slot },
        _ => X3 { slot, anyway: detail != 0 },
    };
    (p, line)
}

/// The format of the word that holds a hall.
#[derive(Debug)]
pub(super) struct HallCodec;

impl Codec for HallCodec {
    fn show(&self, word: Word) -> String {
        show(word)
    }
}

/// Formats a hall for a reader.
fn show(word: Word) -> String {
    let hall = Hall::unpack(word);
    let slot = |slot: &Slot| match slot {
        Slot::Free => "free".into(),
        Slot::Given(p) => format!("given to {p}"),
        Slot::Held(p) => format!("held by {p}"),
        Slot::Stale(p) => format!("held by {p}, claim gone"),
        Slot::Left => "claim gone, holder has left".into(),
    };
    let slots: Vec<String> = hall.slots.iter().take(hall.size).map(slot).collect();
    let waiting = |&p: &Pid| match hall.known[p] {
        Knowledge::Asleep => format!("{p} asleep"),
        _ => format!("{p}"),
    };
    let queue: Vec<String> = hall.queue.iter().map(waiting).collect();
    let door = if hall.closed { ", closed" } else { "" };
    let late = match hall.late {
        Late::Nothing => String::new(),
        Late::Next(p) => format!(", the next request of {p} hangs"),
        Late::Sent { from, line, is_bound } => {
            let void = if is_bound { "" } else { " and is void" };
            format!(", {} of {from} hangs{void}", line.name())
        }
    };
    let backup = match hall.backup {
        None => String::new(),
        Some(Backup { taken, waits }) => {
            let count = taken.iter().filter(|taken| **taken).count();
            let queue = if waits { "a waiter" } else { "no waiter" };
            format!(", backup with {count} holders and {queue}")
        }
    };
    format!("slots ({}), queue ({}){door}{late}{backup}", slots.join(", "), queue.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{MAX_PROCESSES, MAX_SLOTS},
        *,
    };

    #[test]
    fn halls_and_lines_are_unchanged_by_packing_and_unpacking() {
        let mut hall = Hall::new(2);
        // The widest hall: every process waits, although some processes also hold slots.
        hall.queue = [3, 0, 2, 1].into();
        hall.slots = [Slot::Stale(1), Slot::Left, Slot::Held(3)];
        hall.known = [Knowledge::Asleep, Knowledge::Nothing, Knowledge::Head, Knowledge::Nothing];
        hall.unheard = Some(MAX_PROCESSES - 1);
        hall.clock = true;
        hall.pairs = true;
        hall.backup = Some(Backup { taken: [false, true, true], waits: true });
        assert_eq!(Hall::unpack(hall.pack()), hall);
        let line = X3 { slot: MAX_SLOTS - 1, anyway: true };
        for late in [
            Late::Nothing,
            Late::Next(MAX_PROCESSES - 1),
            Late::Sent { from: MAX_PROCESSES - 1, line, is_bound: false },
            Late::Sent { from: 0, line: E4, is_bound: true },
        ] {
            hall.late = late;
            assert_eq!(Hall::unpack(hall.pack()), hall);
        }
        let slot = MAX_SLOTS - 1;
        let last = E3 { slot, was: Was::Stale, to: MAX_PROCESSES - 1 };
        for line in [
            E1 { slot },
            E2,
            last,
            E4,
            T1 { slot },
            T2 { slot },
            X2 { slot, to: 1 },
            X3 { slot, anyway: true },
            X3 { slot, anyway: false },
        ] {
            assert_eq!(unpack_line(pack_line(2, line)), (2, line));
        }
    }
}
