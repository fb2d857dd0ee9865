//! Slot numbers for a hall with more slots than fit into the variable `word`. The first slots are bits of `word`. Each
//! of the other slots is a bit in one of several other words. In this module, *number* 0 is the first slot that is not
//! a bit of `word`, and k is how many slots are not bits of `word`.
//!
//! The search for a free number follows Anderson & Moir 1997, Figure 1, but here one word holds the bits of many
//! numbers. (The paper calls the numbers names.) The count of free slots ([`BitsAndCount`](super::BitsAndCount)) admits
//! a caller. The caller then goes through the numbers upwards and takes the first free number (N1, N2). It does not go
//! back to a smaller number that has become free in the meantime.
//!
//! A caller is *at* a number while it looks at the number or holds it.
//!
//! I1: for each number i, at most k - i admitted callers are at i or at a larger number. The reason, by
//! induction: at most k callers are admitted, so I1 holds for i = 0. A caller goes past i only at a moment
//! at which another caller holds i. That holder is at i. So when the caller arrives at a larger number, at
//! most (k - i) - 1 callers are at larger numbers than i. This is I1 for i + 1.
//!
//! By I1, at most one caller is at the last number, k - 1. So a caller that reaches this number finds it free,
//! and no caller looks at a number twice.
//!
//! The search needs no change when the hall is made smaller: fewer callers are admitted then, and they
//! find smaller numbers.
//!
//! # Groups
//!
//! If there are many words, several consecutive words form a *group*. Each group has a variable `full`. Callers go past
//! the whole group in one step if `full` is `FULL` (G1). They never go past the last group. The values of `full`:
//!
//! | `full` | meaning |
//! |---|---|
//! | [`FULL`] | every number of the group is held |
//! | [`MARKING`] | a caller is about to mark the group as full |
//! | any other value | some number may be free |
//!
//! A caller that takes the last free number of a word tries to mark the group as full, unless another caller is
//! marking it or has marked it (G2 to G6). It writes `MARKING` and reads all words of the group. If it finds no free
//! number, and `full` is still `MARKING`, it replaces `MARKING` with `FULL`. Otherwise it writes 0.
//!
//! A caller that has put a number back reads `full` (G7), and sets [`NEWS`] unless `full` is 0 (G8). Once `NEWS` is
//! set, `full` is neither `FULL` nor `MARKING`. So callers no longer go past the group, and a caller that is marking
//! the group writes 0.
//!
//! I2: while `full` is `FULL`, every number of the group is held, or its holder is putting it back and has not set
//! `NEWS` yet. The reason: the marking caller found each number held after it had written `MARKING`. A holder that puts
//! such a number back later finds `MARKING` or `FULL`, and sets `NEWS`.
//!
//! A holder that puts its number back is counted as admitted until it has set `NEWS`. So I1 holds for a caller that
//! goes past a group.

use crate::framework::{
    lines::lines,
    memory::{Op, Word},
};

/// The number of slot numbers in one word.
pub const PER_WORD: usize = 64;

/// In `full`: every number of the group is held.
pub const FULL: Word = 1;
/// In `full`: a caller is about to mark the group as full.
pub const MARKING: Word = 2;
/// In `full`: a number was put back.
pub const NEWS: Word = 4;

/// The words that hold the slot numbers. A set bit is a free slot number.
pub trait Environment {
    /// Accesses the word with this index.
    fn bits(&mut self, index: usize, op: Op) -> Word;
    /// Accesses the variable `full` of a group.
    fn full(&mut self, group: usize, op: Op) -> Word;
    /// Returns the number of words.
    fn words(&self) -> usize;
    /// Returns the number of words in a group. If there are at most this many words, there are no groups.
    fn words_per_group(&self) -> usize;
}

lines! {
    /// The next access of a caller that looks for a free number, or puts a number back.
    pub enum Line {
        // Taking a number
        N1 { index: usize },
        N2 { index: usize, bit: Word },
        // Putting a number back
        N3 { index: usize, bit: Word },
        // Going past a group, and marking a group as full
        G1 { group: usize },
        G2 { taken: Taken },
        G3 { taken: Taken, full: Word },
        G4 { taken: Taken, index: usize },
        G5 { taken: Taken },
        G6 { taken: Taken },
        // Announcing that a number of the group was put back
        G7 { index: usize },
        G8 { index: usize },
    }
}
use Line::*;

/// A number that the search has taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Taken {
    /// The index of the word.
    pub index: usize,
    /// The bit, as a mask.
    pub bit: Word,
}

/// The result of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    /// The caller goes on at this line.
    Goto(Line),
    /// The search has taken this number.
    Taken(Taken),
    /// The number has been put back.
    Done,
}

/// Returns the first line of a search.
#[inline(always)]
pub fn begin<E: Environment>(e: &E) -> Line {
    at_group(e, 0)
}

/// Returns whether there are groups.
#[inline(always)]
fn has_groups<E: Environment>(e: &E) -> bool {
    e.words() > e.words_per_group()
}

/// Returns the line at which a search looks at a group.
#[inline(always)]
fn at_group<E: Environment>(e: &E, group: usize) -> Line {
    if has_groups(e) { G1 { group } } else { N1 { index: 0 } }
}

/// Returns the line at which a search goes on after a word.
#[inline(always)]
fn after_word<E: Environment>(e: &E, index: usize) -> Line {
    let next = index + 1;
    if next == e.words() {
        begin(e) // by I1, the search never goes on from the last word
    } else if has_groups(e) && next.is_multiple_of(e.words_per_group()) {
        G1 { group: next / e.words_per_group() }
    } else {
        N1 { index: next }
    }
}

/// Executes a line.
#[inline(always)]
pub fn step<E: Environment>(e: &mut E, at: Line) -> Search {
    match at {
        N1 { index } => {
            let free = e.bits(index, Op::Read);
            look(e, index, free)
        }
        N2 { index, bit } => {
            let free = e.bits(index, Op::Clear(bit));
            if free & bit == 0 {
                let below = bit.wrapping_sub(1) | bit;
                return look(e, index, free & !below);
            }
            let taken = Taken { index, bit };
            let was_last = free == bit && has_groups(e);
            if was_last { Search::Goto(G2 { taken }) } else { Search::Taken(taken) }
        }
        N3 { index, bit } => {
            e.bits(index, Op::FetchAdd(bit));
            if has_groups(e) { Search::Goto(G7 { index }) } else { Search::Done }
        }
        _ => step_of_groups(e, at),
    }
}

/// Returns the next line of a search that has found these free numbers in a word.
#[inline(always)]
fn look<E: Environment>(e: &E, index: usize, free: Word) -> Search {
    Search::Goto(match free {
        0 => after_word(e, index),
        _ => N2 { index, bit: free & free.wrapping_neg() },
    })
}

/// Executes a line that exists only if there are groups.
#[inline(always)]
fn step_of_groups<E: Environment>(e: &mut E, at: Line) -> Search {
    let size = e.words_per_group();
    let go = Search::Goto;
    match at {
        G1 { group } => {
            let is_last = (group + 1) * size >= e.words();
            match e.full(group, Op::Read) {
                FULL if !is_last => go(G1 { group: group + 1 }),
                _ => go(N1 { index: group * size }),
            }
        }
        G2 { taken } => match e.full(taken.index / size, Op::Read) {
            full if full == FULL || full & MARKING != 0 => Search::Taken(taken),
            full => go(G3 { taken, full }),
        },
        G3 { taken, full } => {
            let group = taken.index / size;
            if e.full(group, Op::CompareAndSwap { old: full, new: MARKING }) == full {
                go(G4 { taken, index: group * size })
            } else {
                Search::Taken(taken)
            }
        }
        G4 { taken, index } => {
            let end = e.words().min((taken.index / size + 1) * size);
            match e.bits(index, Op::Read) {
                0 if index + 1 < end => go(G4 { taken, index: index + 1 }),
                0 => go(G5 { taken }),
                _ => go(G6 { taken }),
            }
        }
        G5 { taken } => {
            let mark = Op::CompareAndSwap { old: MARKING, new: FULL };
            if e.full(taken.index / size, mark) == MARKING {
                Search::Taken(taken)
            } else {
                go(G6 { taken })
            }
        }
        G6 { taken } => {
            e.full(taken.index / size, Op::Write(0));
            Search::Taken(taken)
        }
        G7 { index } => match e.full(index / size, Op::Read) {
            0 => Search::Done,
            _ => go(G8 { index }),
        },
        G8 { index } => {
            e.full(index / size, Op::Set(NEWS));
            Search::Done
        }
        N1 { .. } | N2 { .. } | N3 { .. } => unreachable!("`step` executes this line"),
    }
}

/// Goes through the words once, and takes the first number that it finds free.
#[inline]
pub fn take<E: Environment>(e: &mut E) -> usize {
    let Taken { index, bit } = take_from(e, begin(e));
    index * PER_WORD + bit.trailing_zeros() as usize
}

/// Goes through the words once, takes `count` numbers, and calls `found` with each of them.
///
/// This behaves like `count` callers that look at the same number at the same moment. One of them takes
/// the number, and the others go past it while that caller holds it, so I1 holds for them. They look at
/// the same word again, and may take a smaller number that has become free there.
pub fn take_many<E: Environment>(e: &mut E, count: usize, mut found: impl FnMut(usize)) {
    let mut at = begin(e);
    for _ in 0..count {
        let Taken { index, bit } = take_from(e, at);
        found(index * PER_WORD + bit.trailing_zeros() as usize);
        at = N1 { index };
    }
}

/// Searches from line `at` on.
#[inline(always)]
fn take_from<E: Environment>(e: &mut E, mut at: Line) -> Taken {
    loop {
        match step(e, at) {
            Search::Goto(next) => at = next,
            Search::Taken(taken) => return taken,
            Search::Done => unreachable!("a search ends with a number"),
        }
    }
}

/// Puts a number back.
#[inline]
pub fn put<E: Environment>(e: &mut E, slot: usize) {
    let mut at = N3 { index: slot / PER_WORD, bit: 1 << (slot % PER_WORD) };
    while let Search::Goto(next) = step(e, at) {
        at = next;
    }
}
