//! UCTSS: timestamps that grow without bound.
//! Afek, Dolev, Gafni, Merritt & Shavit 1994, Figure 1.
//!
//! label\[i\]: the timestamp of process i. Equal timestamps are ordered by process.
//!
//! Cost: at most n + 1 references for Label, n for Scan.
//!
//! Differences from the paper: the paper lets Label choose any larger number, and this code takes the
//! next one. The paper reads in any order, and this code reads in ascending order, except that Scan
//! reads its own label first.
//!
//! As printed, Label keeps a timestamp that equals the largest. This is wrong if two processes p < q both
//! have the largest timestamp. Then p is ordered before q. If p now runs Label and keeps its timestamp,
//! p stays before q, although the Label of q ended before this Label began. This violates property (1)
//! of Proposition 3.1. So [`Uctss`] keeps a timestamp only if no other process is ordered after it.
//! [`Printed`](super::wrong::Printed) is the printed version.
//!
//! Normal form. Two facts about timestamps matter: their order, and how many new timestamps still fit
//! between two existing ones. Let u < v be neighbours among all timestamps, in registers and in private
//! maxima. Some register holds v or more from now on, because a register never decreases. So a Label
//! that begins later takes more than v. A process can write a number between u and v only if three things
//! are true: it is in Label now, it has seen no number above u, and no register that it still has to read
//! is above u. Each such process writes once, one more than the largest number that it has seen. If there
//! are c such processes, no number beyond u + c appears below v. So a gap of c + 1 behaves like every
//! larger gap. While u and v are neighbours, c never grows, so the form does not depend on when it is
//! computed.
//!
//! The smallest timestamp becomes 1, not 0. The reason: a scanner may have the smallest timestamp and
//! still remember a process that was before it, because that process has taken a new timestamp since.
//! The lab finds the private states by trying every number in each read. It finds the state of this
//! scanner only if there is a number smaller than the scanner's timestamp.

use alloc::{format, vec::Vec};
use core::{cmp::Ordering, marker::PhantomData};

use super::{Before, Collect, InProcedure, InProcedureOf, Timestamps, Turn};
use crate::framework::{
    layout::{Array, Decl, Layout},
    memory::{Memory, Pid, Word},
};
use Turn::{Done, Goto};

/// The system UCTSS. `C` is the collection of a Scan.
pub struct Uctss<C = Before<Word>> {
    n: usize,
    pub(super) label: Array,
    collected: PhantomData<fn() -> C>,
}

/// The position of a process in Label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Labelling {
    /// The process reads label\[j\].
    Read {
        /// The next process to read.
        j: u8,
        /// The largest timestamp so far, or -1 before the first read.
        max: Word,
        /// Whether the largest timestamp is the process's own and no timestamp ordered after it has been
        /// seen.
        own: bool,
    },
    /// The process writes its own label.
    Write {
        /// The largest timestamp that it has read.
        max: Word,
    },
}

/// The position of a process in Scan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scanning<C> {
    /// The process reads its own label.
    Own,
    /// The process reads label\[j\].
    Read {
        /// The next process to read.
        j: u8,
        /// The collection so far.
        seen: C,
    },
}

impl<C> Uctss<C> {
    /// Returns the next process to read, from `j` onwards.
    fn other(&self, p: Pid, j: usize) -> Option<u8> {
        let j = if j == p { j + 1 } else { j };
        (j < self.n).then_some(j as u8)
    }

    /// Returns where Label continues after it has read label\[j\].
    pub(super) fn after_read(&self, j: u8, max: Word, own: bool) -> Turn<Labelling, ()> {
        match j as usize + 1 {
            j if j < self.n => Goto(Labelling::Read { j: j as u8, max, own }),
            _ if own => Done(()),
            _ => Goto(Labelling::Write { max }),
        }
    }
}

impl<C: Collect<Word>> Timestamps for Uctss<C> {
    const UNBOUNDED: bool = true;

    type Stamp = Word;
    type Labelling = Labelling;
    type Scanning = Scanning<C>;
    type Collected = C;

    fn new(layout: &mut Layout, n: usize) -> Self {
        // A normal form has at most 2n numbers, starting at 1, with gaps of at most n + 1. One step adds
        // 1.
        let max = ((2 * n - 1) * (n + 1) + 2) as Word;
        let label =
            layout.array(n, |i| Decl::number(format!("label[{i}]"), 0, max, 0).at(i).unbounded());
        Uctss { n, label, collected: PhantomData }
    }

    fn precedes(a: (Word, Pid), b: (Word, Pid)) -> bool {
        a < b
    }

    fn begin_label(&self, _: Pid) -> Labelling {
        Labelling::Read { j: 0, max: -1, own: false }
    }

    fn label<M: Memory>(&self, m: &mut M, p: Pid, at: Labelling) -> Turn<Labelling, ()> {
        match at {
            Labelling::Read { j, max, own } => {
                let x = m.read(self.label.at(j as usize));
                let mine = j as Pid == p;
                let own = match x.cmp(&max) {
                    Ordering::Greater => mine,
                    // Equal timestamps are ordered by process, so the last one read is ordered last.
                    Ordering::Equal => mine,
                    Ordering::Less => own,
                };
                self.after_read(j, max.max(x), own)
            }
            Labelling::Write { max } => {
                m.write(self.label.at(p), max + 1);
                Done(())
            }
        }
    }

    fn begin_scan(&self, _: Pid) -> Scanning<C> {
        Scanning::Own
    }

    fn scan<M: Memory>(&self, m: &mut M, p: Pid, at: Scanning<C>) -> Turn<Scanning<C>, C> {
        let (seen, next) = match at {
            Scanning::Own => (C::begin(p, m.read(self.label.at(p))), 0),
            Scanning::Read { j, seen } => {
                let j = j as usize;
                (seen.see::<Self>(p, j, m.read(self.label.at(j))), j + 1)
            }
        };
        match self.other(p, next) {
            Some(j) => Goto(Scanning::Read { j, seen }),
            None => Done(seen),
        }
    }

    fn label_line(at: Labelling) -> &'static str {
        match at {
            Labelling::Read { .. } => "read",
            Labelling::Write { .. } => "write",
        }
    }

    fn scan_line(_: Scanning<C>) -> &'static str {
        "read"
    }

    fn normalize(&self, in_procedure: &mut [InProcedureOf<Self>], memory: &mut [Word]) {
        let labels = self.label.at(0).index()..self.label.at(0).index() + self.n;
        let mut old: Vec<Word> = memory[labels.clone()].to_vec();
        // For each process that may still write: the largest number that it has seen or will see.
        let mut pending: Vec<Word> = Vec::new();
        for in_procedure in in_procedure.iter() {
            let (max, unread) = match *in_procedure {
                InProcedure::Label(Labelling::Read { j, max, .. }) => (max, j as usize),
                InProcedure::Label(Labelling::Write { max }) => (max, self.n),
                _ => continue,
            };
            let unread = &memory[labels.start + unread..labels.end];
            pending.push(unread.iter().copied().fold(max, Word::max));
            old.extend((max >= 0).then_some(max));
        }
        old.sort_unstable();
        old.dedup();
        let mut new = Vec::with_capacity(old.len());
        new.push(1);
        for (index, pair) in old.windows(2).enumerate() {
            let writers = pending.iter().filter(|&&max| max <= pair[0]).count() as Word;
            new.push(new[index] + (pair[1] - pair[0]).min(writers + 1));
        }
        if old == new {
            return;
        }
        let renew = |x: &mut Word| {
            if let Ok(index) = old.binary_search(x) {
                *x = new[index];
            }
        };
        memory[labels].iter_mut().for_each(renew);
        for in_procedure in in_procedure {
            match in_procedure {
                InProcedure::Label(Labelling::Read { max, .. } | Labelling::Write { max }) => {
                    renew(max)
                }
                InProcedure::Scan(Scanning::Read { seen, .. }) => seen.renew(renew),
                _ => {}
            }
        }
    }
}
