//! Bounded timestamps based on a weak snapshot: Label and Scan take O(n) steps, as Zehavi's algorithm
//! needs.
//!
//! A *weak snapshot* refers to one instant T of the scan. For each other process r, it returns the
//! timestamp that r had at T, or the timestamp that r was writing at T. This is enough for [labels] (the
//! lab checks it). T is the same instant for all r, because it is one write: the scanner p gives every
//! writer a new *colour*. A writer that finds the new colour before it commits saves a copy of its old
//! timestamp for p.
//!
//! | register | content | written by |
//! |---|---|---|
//! | MAIN\[r\] | label; for each reader p: *ann*, a colour; and *copy*, a colour or *none* | r |
//! | TOG\[p\] | a colour for each r; its write is the instant T | p |
//! | SAVED\[r\]\[p\] | label | r |
//!
//! The following shows that p never sees a third timestamp of r: one that r neither had at T nor was writing at T.
//! Let X be the colour that p writes for r at T.
//!
//! - S1: r does not mistake an older X for the X of T. When p picks X, TOG\[p\] does not hold X for r, and ann
//!   and copy of r for p did not hold X when p read them. One case is left: r has read X during an earlier scan
//!   of p, and has not announced it yet. In this case, r reads the colour a second time, after p has read ann
//!   and copy. If this second look finds another colour, copy becomes *none*. Otherwise it finds the X of T.
//! - S2: if an update of r reads X after T, its second look finds X as well. The reason: p writes no other
//!   colour before its scan ends, and the scan waits for no other process. So the update saves the old
//!   timestamp of r. Only one update saves it, because the next update finds copy = X.
//! - S3: so copy = X means that SAVED has the timestamp that r had at T, or was writing at T. And copy
//!   /= X means that no update that began after T has committed.
//!
//! For more than eight processes, MAIN does not fit into 63 bits and is split into LABEL\[r\], and
//! HAND\[r\]\[g\] with ann and copy for a group of readers. An update writes copy before it commits the
//! label. A scan reads the label before copy. S3 still holds.
//!
//! It would be wrong to commit the label to one group of readers after another, although S1 to S3 hold for each
//! reader. Of two consecutive scans, the first could see the new timestamp and the second the old one. With one
//! register for the label, this cannot happen. With one register for each group, even property (1) of Afek et al.
//! fails. The lab has this variant as `linear:grouped`.
//!
//! Cost: at most 3n for Scan and 6n for Label (11 for n = 2). With registers split into g groups, at
//! most 4n - 1 for Scan and 7n - 3 + 3g for Label.
//!
//! The *none* of S1 could be left out. If copy keeps its old value instead, the guarantee still holds
//! (`linear:same-copy` in the lab), because p also avoids that colour.
//!
//! The labels are those of Dolev & Shavit ("Bounded concurrent time-stamp systems are constructible").
//! Two ideas are from Dwork, Herlihy, Plotkin & Waarts ("Time-lapse snapshots"): a snapshot weaker than
//! an atomic one is enough, and writers keep copies for scanners. Here a process keeps no private state
//! between procedures, so it reads its own registers: two for Scan, and one more for Label.

use alloc::{format, string::String};
use core::marker::PhantomData;

use super::{
    Before, Collect, Timestamps, Turn,
    labels::{self, FiveDigits, Labels, Stamp},
    shape::{COLOUR_BITS, COLOURS, HAND_BITS, MAX_BITS, Shape},
};
use crate::framework::{
    layout::{Array, Layout},
    memory::{Memory, Pid, Var, Word},
};

mod form;
mod label;
mod marks;
mod scan;
pub mod wrong;

pub use form::{Fitting, Form, Registers, SplitBy};
pub use label::{Labelling, Update};
pub use scan::Scanning;

use scan::colour;

/// The type parameters of a system. The system stores no values of these types.
type Parts<C, L, F> = PhantomData<fn() -> (C, L, F)>;

/// The system. `C` is the collection of a Scan, `L` the labels, and `F` the form of the registers.
pub struct Linear<C = Before<Stamp>, L = FiveDigits, F = Fitting> {
    n: usize,
    form: Form,
    /// The number of readers whose announcements and copies a register holds.
    readers: usize,
    /// The registers MAIN or LABEL.
    label: Array,
    /// The registers HAND, with [`Form::Split`].
    hand: Array,
    tog: Array,
    saved: Array,
    parts: Parts<C, L, F>,
}

/// The announcement and the copy that a writer shows to one reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Hand {
    ann: u64,
    copy: u64,
}

impl<C: Collect<Stamp>, L: Labels, F: Registers> Linear<C, L, F> {
    /// Returns the number of bits of a label in a register.
    fn label_bits(n: usize) -> u32 {
        labels::bits(n) + L::MARK_BITS
    }

    fn groups(&self) -> usize {
        (self.n - 1).div_ceil(self.readers)
    }

    /// Returns the index of `q` among the processes other than `p`.
    fn slot(p: Pid, q: Pid) -> usize {
        if q < p { q } else { q - 1 }
    }

    /// Returns the process with this index among the processes other than `p`.
    fn at_slot(p: Pid, slot: usize) -> Pid {
        if slot < p { slot } else { slot + 1 }
    }

    /// Returns the first process other than `p`, from `q` onwards.
    fn other(&self, p: Pid, q: usize) -> Option<u8> {
        let q = if q == p { q + 1 } else { q };
        (q < self.n).then_some(q as u8)
    }

    /// Returns the register from which `p` reads the label of `r`.
    fn label_var(&self, r: Pid, p: Pid) -> Var {
        match self.form {
            Form::Whole | Form::Split(_) => self.label.at(r),
            Form::Grouped(_) if p == r => self.label.at(r * self.groups()),
            Form::Grouped(_) => self.hand_var(r, Self::slot(r, p)),
        }
    }

    /// Returns the register of `r` with the hand for the reader at `slot`.
    fn hand_var(&self, r: Pid, slot: usize) -> Var {
        match self.form {
            Form::Whole => self.label.at(r),
            Form::Grouped(_) => self.label.at(r * self.groups() + slot / self.readers),
            Form::Split(_) => self.hand.at(r * self.groups() + slot / self.readers),
        }
    }

    /// Returns the register for a copy of the label of `r` for `p`.
    fn saved_var(&self, r: Pid, p: Pid) -> Var {
        self.saved.at(r * (self.n - 1) + Self::slot(r, p))
    }

    fn stamp(&self, word: Word) -> Stamp {
        Stamp::unpack(word as u64, self.n, L::MARK_BITS)
    }

    /// Returns `word` with another label.
    fn with_label(&self, word: u64, stamp: Stamp) -> u64 {
        word & !((1 << Self::label_bits(self.n)) - 1) | stamp.pack(self.n)
    }

    /// Returns the word of a register with hands. If one register holds both, the word includes this
    /// label.
    fn with(&self, word: u64, stamp: Stamp) -> u64 {
        match self.form {
            Form::Split(_) => word,
            Form::Whole | Form::Grouped(_) => self.with_label(word, stamp),
        }
    }

    fn hand_shift(&self, slot: usize) -> u32 {
        let below = match self.form {
            Form::Split(_) => 0,
            _ => Self::label_bits(self.n),
        };
        below + (slot % self.readers) as u32 * HAND_BITS
    }

    fn hand(&self, word: u64, slot: usize) -> Hand {
        let hand = word >> self.hand_shift(slot);
        Hand { ann: hand & (COLOURS - 1), copy: hand >> COLOUR_BITS & 7 }
    }

    fn with_hand(&self, word: u64, slot: usize, hand: Hand) -> u64 {
        let shift = self.hand_shift(slot);
        word & !(((1 << HAND_BITS) - 1) << shift) | (hand.ann | hand.copy << COLOUR_BITS) << shift
    }

    /// Reads the colour that the reader at `slot` shows to `p`.
    fn colour_of<M: Memory>(&self, m: &mut M, p: Pid, slot: usize) -> u64 {
        let reader = Self::at_slot(p, slot);
        colour(m.read(self.tog.at(reader)) as u32, Self::slot(reader, p))
    }
}

impl<C: Collect<Stamp>, L: Labels, F: Registers> Timestamps for Linear<C, L, F> {
    const MAX_PROCESSES: usize = labels::MAX_PROCESSES;

    type Stamp = Stamp;
    type Labelling = Labelling;
    type Scanning = Scanning<C>;
    type Collected = C;

    fn new(layout: &mut Layout, n: usize) -> Self {
        let form = F::form(n, Self::label_bits(n));
        let others = n - 1;
        let readers = match form {
            Form::Whole => others,
            Form::Split(readers) | Form::Grouped(readers) => readers.min(others),
        };
        let groups = others.div_ceil(readers);
        let hands = Shape { hands: readers as u8, ..Shape::default() };
        let label = Shape {
            labels: 1,
            digits: n as u8 - 1,
            mark_bits: L::MARK_BITS as u8,
            ..Shape::default()
        };
        let both = Shape { hands: hands.hands, ..label };
        let grouped = |name: &str, shape: Shape| {
            let name = String::from(name);
            move |index: usize| {
                let (r, group) = (index / groups, index % groups);
                shape.declare(format!("{name}[{r}][{group}]")).at(r)
            }
        };
        let none = layout.array(0, |_| unreachable!("the array is empty"));
        let (label_at, hand) = match form {
            Form::Whole => (layout.array(n, |r| both.declare(format!("MAIN[{r}]")).at(r)), none),
            Form::Grouped(_) => (layout.array(n * groups, grouped("MAIN", both)), none),
            Form::Split(_) => (
                layout.array(n, |r| label.declare(format!("LABEL[{r}]")).at(r)),
                layout.array(n * groups, grouped("HAND", hands)),
            ),
        };
        let colours = Shape { colours: others as u8, ..Shape::default() };
        let tog = layout.array(n, |p| colours.declare(format!("TOG[{p}]")).at(p));
        let saved = layout.array(n * others, |index| {
            let (r, p) = (index / others, Self::at_slot(index / others, index % others));
            label.declare(format!("SAVED[{r}][{p}]")).at(r)
        });
        Linear { n, form, readers, label: label_at, hand, tog, saved, parts: PhantomData }
    }

    fn precedes(a: (Stamp, Pid), b: (Stamp, Pid)) -> bool {
        L::precedes(a, b)
    }

    fn begin_label(&self, _: Pid) -> Labelling {
        Labelling::Scan(Scanning::Toggles)
    }

    fn label<M: Memory>(&self, m: &mut M, p: Pid, at: Labelling) -> Turn<Labelling, ()> {
        self.label_step(m, p, at)
    }

    fn begin_scan(&self, _: Pid) -> Scanning<C> {
        Scanning::Toggles
    }

    fn scan<M: Memory>(&self, m: &mut M, p: Pid, at: Scanning<C>) -> Turn<Scanning<C>, C> {
        self.scan_step(m, p, at)
    }

    fn label_line(at: Labelling) -> &'static str {
        match at {
            Labelling::Scan(scan) => scan.line(),
            Labelling::Mine(_) => "mine",
            Labelling::Ask(_) => "ask",
            Labelling::Announce(_) => "announce",
            Labelling::Again(_) => "again",
            Labelling::Save(_) => "save",
            Labelling::Hands(_) => "hands",
            Labelling::Commit(_) => "commit",
        }
    }

    fn scan_line(at: Scanning<C>) -> &'static str {
        at.line()
    }
}
