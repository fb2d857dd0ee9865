//! Bounded timestamps based on an atomic snapshot: the simplest and most expensive bounded system.
//!
//! A *collect* reads all registers, one after another. A snapshot repeats collects until two consecutive
//! ones show that no process has *moved*, that is, has written in between. If a scanner has seen a
//! process move twice, this process has made a whole snapshot in the meantime. Its register contains
//! that snapshot, and the scanner borrows it (Afek, Attiya, Dolev, Gafni, Merritt & Shavit 1993, the
//! bounded version).
//!
//! | register | content | written by |
//! |---|---|---|
//! | R\[i\] | label; the view of i's last snapshot; a flag p\[j\] for each scanner j; a toggle | i |
//! | Q\[i\] | a flag for each writer j | i |
//!
//! - A scanner i makes Q\[i\]\[j\] equal to R\[j\].p\[i\], and a writer j makes R\[j\].p\[i\]
//!   different from Q\[i\]\[j\]. So the flags show i that j has moved.
//! - If j has read Q\[i\] before i writes it, the write of j may leave its flag for i equal to Q\[i\]\[j\]. The toggle
//!   shows such a write, because every write of j changes the toggle.
//!
//! Cost: at most 3n^2 - 2n + 1 accesses for Scan, and n + 1 more for Label.
//!
//! In the same paper ("Atomic snapshots of shared memory"), the snapshot is built from bounded
//! single-writer registers. The snapshot here differs from it in three points:
//!
//! - Q\[i\] is one register. The scanner writes it when it knows all flags.
//! - Label takes one snapshot instead of two. It reads the flags in Q first, and then takes the
//!   snapshot. It uses this snapshot for the new label and also for the view in its register.
//! - A scanner borrows as soon as it sees the second move, and does not finish the collect.

use alloc::format;
use core::marker::PhantomData;

use super::{
    All, Before, Collect, Timestamps, Turn,
    labels::{self, FiveDigits, Labels, Stamp},
    shape::Shape,
};
use crate::framework::{
    layout::{Array, Layout},
    memory::{Memory, Pid, Word},
    pids::Pids,
};
use Turn::{Done, Goto};

mod marks;
mod scan;
pub mod wrong;

use scan::with;
pub use scan::{Round, Scanning};

/// The timestamp system. `C` is the type of the collection that a Scan returns, and `L` the kind of labels.
pub struct Quadratic<C = Before<Stamp>, L = FiveDigits> {
    n: usize,
    r: Array,
    q: Array,
    parts: PhantomData<fn() -> (C, L)>,
}

/// The position of a process in Label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Labelling {
    /// The process reads its own toggle.
    Toggle,
    /// The process reads the flag of scanner j.
    Ask {
        /// The next process to read.
        j: u8,
        /// The new flags and toggle.
        head: Head,
    },
    /// The process takes a snapshot.
    Scan {
        /// The new flags and toggle.
        head: Head,
        /// The position in the snapshot.
        scan: Scanning<All<Stamp>>,
    },
    /// The process writes its register.
    Write {
        /// The new flags and toggle.
        head: Head,
        /// The new label.
        new: Stamp,
        /// The view of the snapshot.
        view: All<Stamp>,
    },
}

/// The flags and the toggle of a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Head {
    flags: Pids,
    toggle: bool,
}

impl<C: Collect<Stamp>, L: Labels> Quadratic<C, L> {
    const fn label_bits(n: usize) -> u32 {
        labels::bits(n) + L::MARK_BITS
    }

    /// Returns the first process other than `p`, from `j` onwards.
    fn other(&self, p: Pid, j: usize) -> Option<u8> {
        let j = if j == p { j + 1 } else { j };
        (j < self.n).then_some(j as u8)
    }

    /// Returns the label at `index` of a register. Index 0 is the label of the register's owner. Index
    /// `1 + j` is the label of j in the owner's view.
    fn stamp(&self, word: Word, index: usize) -> Stamp {
        let below = Self::label_bits(self.n) * index as u32;
        Stamp::unpack(word as u64 >> below, self.n, L::MARK_BITS)
    }

    /// Returns the word with the label `stamps(index)` at each index, and with these flags and this
    /// toggle.
    fn word(&self, stamps: impl Fn(usize) -> Stamp, head: u64) -> Word {
        let bits = Self::label_bits(self.n);
        let labels =
            (0..=self.n).rev().fold(0, |word, index| word << bits | stamps(index).pack(self.n));
        (labels | head << (bits * (self.n as u32 + 1))) as Word
    }

    fn head(&self, word: Word) -> u64 {
        word as u64 >> (Self::label_bits(self.n) * (self.n as u32 + 1))
    }

    /// Packs a flag for each process, and the toggle.
    fn pack_head(&self, head: Head) -> u64 {
        let flags =
            (0..self.n).filter(|&j| head.flags.contains(j)).fold(0, |bits, j| bits | 1 << j);
        flags | u64::from(head.toggle) << self.n
    }

    fn flag(&self, word: Word, p: Pid) -> bool {
        self.head(word) >> p & 1 != 0
    }

    fn toggle(&self, word: Word) -> bool {
        self.head(word) >> self.n & 1 != 0
    }

    /// Returns where Label continues after it has read the flag of scanner j.
    fn after_ask(&self, p: Pid, j: u8, head: Head) -> Labelling {
        match self.other(p, j as usize + 1) {
            Some(j) => Labelling::Ask { j, head },
            None => Labelling::Scan { head, scan: Scanning::Own },
        }
    }

    /// Returns where Label continues after a line of the Scan inside it.
    fn inner_scanned(
        &self,
        p: Pid,
        head: Head,
        turn: Turn<Scanning<All<Stamp>>, All<Stamp>>,
    ) -> Turn<Labelling, ()> {
        let view = match turn {
            Goto(scan) => return Goto(Labelling::Scan { head, scan }),
            Done(view) => view,
        };
        match L::next(self.n, p, |q| view.stamp(q).unwrap_or(Stamp::FIRST)) {
            Some(new) => Goto(Labelling::Write { head, new, view }),
            None => Done(()),
        }
    }
}

impl<C: Collect<Stamp>, L: Labels> Timestamps for Quadratic<C, L> {
    /// The labels of five processes do not fit into one register.
    const MAX_PROCESSES: usize = 4;

    type Stamp = Stamp;
    type Labelling = Labelling;
    type Scanning = Scanning<C>;
    type Collected = C;

    fn new(layout: &mut Layout, n: usize) -> Self {
        let r = Shape {
            labels: n as u8 + 1,
            digits: n as u8 - 1,
            mark_bits: L::MARK_BITS as u8,
            flags: n as u8 + 1,
            ..Shape::default()
        };
        let q = Shape { flags: n as u8, ..Shape::default() };
        Quadratic {
            n,
            r: layout.array(n, |i| r.declare(format!("R[{i}]")).at(i)),
            q: layout.array(n, |i| q.declare(format!("Q[{i}]")).at(i)),
            parts: PhantomData,
        }
    }

    fn precedes(a: (Stamp, Pid), b: (Stamp, Pid)) -> bool {
        L::precedes(a, b)
    }

    fn begin_label(&self, _: Pid) -> Labelling {
        Labelling::Toggle
    }

    fn label<M: Memory>(&self, m: &mut M, p: Pid, at: Labelling) -> Turn<Labelling, ()> {
        match at {
            Labelling::Toggle => {
                let toggle = !self.toggle(m.read(self.r.at(p)));
                let head = Head { flags: Pids::NONE, toggle };
                Goto(Labelling::Ask { j: u8::from(p == 0), head })
            }
            Labelling::Ask { j, head } => {
                let shown = m.read(self.q.at(j.into())) >> p & 1 != 0;
                let head = Head { flags: with(head.flags, j, !shown), ..head };
                Goto(self.after_ask(p, j, head))
            }
            Labelling::Scan { head, scan } => {
                self.inner_scanned(p, head, self.snapshot(m, p, scan))
            }
            Labelling::Write { head, new, view } => {
                let stamps = |place: usize| match place.checked_sub(1) {
                    Some(q) => view.stamp(q).unwrap_or(Stamp::FIRST),
                    None => new,
                };
                m.write(self.r.at(p), self.word(stamps, self.pack_head(head)));
                Done(())
            }
        }
    }

    fn begin_scan(&self, _: Pid) -> Scanning<C> {
        Scanning::Own
    }

    fn scan<M: Memory>(&self, m: &mut M, p: Pid, at: Scanning<C>) -> Turn<Scanning<C>, C> {
        self.snapshot(m, p, at)
    }

    fn label_line(at: Labelling) -> &'static str {
        match at {
            Labelling::Toggle => "toggle",
            Labelling::Ask { .. } => "ask",
            Labelling::Scan { scan, .. } => scan.line(),
            Labelling::Write { .. } => "write",
        }
    }

    fn scan_line(at: Scanning<C>) -> &'static str {
        at.line()
    }
}
