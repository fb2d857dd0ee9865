//! Bounded timestamps over an atomic snapshot: the simplest to trust, and the most expensive.
//!
//! A snapshot reads all registers until two collects in a row show that nobody has moved; who has
//! been seen to move twice has meanwhile made a whole snapshot of its own, which it leaves in its
//! register to borrow (Afek, Attiya, Dolev, Gafni, Merritt & Shavit 1993, the bounded one).
//!
//! | register | | written by |
//! |---|---|---|
//! | R\[i\] | label; the view of i's last snapshot; a flag p\[j\] for each scanner j; a toggle | i |
//! | Q\[i\] | a flag for each writer j | i |
//!
//! - A scanner i makes Q\[i\]\[j\] equal to R\[j\].p\[i\], and a writer j makes R\[j\].p\[i\]
//!   different from it: so i sees that j has moved.
//! - The toggle shows a second write of j between two collects.
//!
//! Cost: at most 3n^2 - 2n + 1 for Scan, n + 1 more for Label.
//!
//! The snapshot is that of Afek, Attiya, Dolev, Gafni, Merritt & Shavit ("Atomic snapshots of shared
//! memory") from bounded single-writer registers. Differs from it: Q\[i\] is one register, written once all
//! flags are known. Label makes one snapshot instead of two: it reads the handshakes first, and
//! then takes the snapshot both for the new label and for the view it leaves. A scanner borrows as
//! soon as it sees the second move, and does not finish the collect.

use alloc::format;
use core::marker::PhantomData;

use super::{
    All, Collect, Timestamps, Turn,
    labels::{self, Stamp},
    marked::{Marked, Renew, collect, fresh},
    rules::{Rules, Sound},
    shape::Shape,
};
use crate::framework::{
    layout::{Array, Layout},
    memory::{Memory, Pid, Word},
    pids::Pids,
};
use Turn::{Done, Goto};

/// The system; `R` says which parts a wrong variant leaves out.
pub struct Quadratic<R = Sound> {
    n: usize,
    r: Array,
    q: Array,
    rules: PhantomData<R>,
}

/// What a scanner keeps through a round.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Round {
    own: Stamp,
    /// Who has been seen to move in an earlier round.
    moved: Pids,
    /// Whose flag was set when the round began.
    flags: Pids,
    /// Who is seen to move in this one.
    moving: Pids,
    /// Whose toggle was set at the first collect.
    toggles: Pids,
}

/// Where a process stands in Scan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scanning<C> {
    /// It reads its own label.
    Own,
    /// It reads the flag that j shows it.
    Shake {
        /// The next process.
        j: u8,
        /// What it knows.
        round: Round,
    },
    /// It shows all of them the same.
    Shown {
        /// What it knows.
        round: Round,
    },
    /// The first collect.
    First {
        /// The next process.
        j: u8,
        /// What it knows.
        round: Round,
    },
    /// The second collect.
    Second {
        /// The next process.
        j: u8,
        /// What it knows.
        round: Round,
        /// What it has seen.
        seen: C,
    },
}

/// Where a process stands in Label.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Labelling {
    /// It reads its own toggle.
    Toggle,
    /// It reads what scanner j shows.
    Ask {
        /// The next process.
        j: u8,
        /// Its new flags and toggle.
        head: Head,
    },
    /// It takes a snapshot.
    Scan {
        /// Its new flags and toggle.
        head: Head,
        /// Where it stands.
        scan: Scanning<All<Stamp>>,
    },
    /// It writes its register.
    Write {
        /// Its new flags and toggle.
        head: Head,
        /// Its new label.
        new: Stamp,
        /// What it has seen.
        view: All<Stamp>,
    },
}

/// Flags and toggle of a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Head {
    flags: Pids,
    toggle: bool,
}

impl<R: Rules> Quadratic<R> {
    const fn label_bits(n: usize) -> u32 {
        labels::bits(n) + R::MARK_BITS
    }

    /// The next other process, from `j` on.
    fn other(&self, p: Pid, j: usize) -> Option<u8> {
        let j = if j == p { j + 1 } else { j };
        (j < self.n).then_some(j as u8)
    }

    /// The label at `place`: 0 is the process's own, `1 + j` that of j in its view.
    fn stamp(&self, word: Word, place: usize) -> Stamp {
        let below = Self::label_bits(self.n) * place as u32;
        Stamp::unpack(word as u64 >> below, self.n, R::MARK_BITS)
    }

    /// `stamps` at all places, with flags and toggle.
    fn word(&self, stamps: impl Fn(usize) -> Stamp, head: u64) -> Word {
        let bits = Self::label_bits(self.n);
        let labels =
            (0..=self.n).rev().fold(0, |word, place| word << bits | stamps(place).pack(self.n));
        (labels | head << (bits * (self.n as u32 + 1))) as Word
    }

    fn head(&self, word: Word) -> u64 {
        word as u64 >> (Self::label_bits(self.n) * (self.n as u32 + 1))
    }

    /// A flag for each process, and a toggle.
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

    fn begin_round<C>(&self, p: Pid, own: Stamp, moved: Pids) -> Scanning<C> {
        let none = Pids::NONE;
        let round = Round { own, moved, flags: none, moving: none, toggles: none };
        Scanning::Shake { j: u8::from(p == 0), round }
    }

    fn snapshot<M: Memory, C: Collect<Stamp>>(
        &self,
        m: &mut M,
        p: Pid,
        at: Scanning<C>,
    ) -> Turn<Scanning<C>, C> {
        let first = u8::from(p == 0);
        match at {
            Scanning::Own => {
                let own = self.stamp(m.read(self.r.at(p)), 0);
                Goto(self.begin_round(p, own, Pids::NONE))
            }
            Scanning::Shake { j, round } => {
                let flag = self.flag(m.read(self.r.at(j.into())), p);
                let round = Round { flags: with(round.flags, j, flag), ..round };
                Goto(match self.other(p, j as usize + 1) {
                    Some(j) => Scanning::Shake { j, round },
                    None => Scanning::Shown { round },
                })
            }
            Scanning::Shown { round } => {
                let flags = Head { flags: round.flags, toggle: false };
                m.write(self.q.at(p), self.pack_head(flags) as Word);
                Goto(Scanning::First { j: first, round })
            }
            Scanning::First { j, round } => {
                let word = m.read(self.r.at(j.into()));
                let moves = self.flag(word, p) != round.flags.contains(j.into());
                let round = Round {
                    moving: with(round.moving, j, moves),
                    toggles: with(round.toggles, j, self.toggle(word)),
                    ..round
                };
                Goto(match self.other(p, j as usize + 1) {
                    Some(j) => Scanning::First { j, round },
                    None => Scanning::Second { j: first, round, seen: C::begin(p, round.own) },
                })
            }
            Scanning::Second { j, round, seen } => self.second(m, p, j, round, seen),
        }
    }

    fn second<M: Memory, C: Collect<Stamp>>(
        &self,
        m: &mut M,
        p: Pid,
        j: u8,
        round: Round,
        seen: C,
    ) -> Turn<Scanning<C>, C> {
        let q = Pid::from(j);
        let word = m.read(self.r.at(q));
        let moves = round.moving.contains(q)
            || self.flag(word, p) != round.flags.contains(q)
            || self.toggle(word) != round.toggles.contains(q);
        if R::BORROW && moves && round.moved.contains(q) {
            return Done(collect::<Self, C>(p, self.n, |q| self.stamp(word, 1 + q)));
        }
        let round = Round { moving: with(round.moving, j, moves), ..round };
        let seen = seen.see::<Self>(p, q, self.stamp(word, 0));
        if let Some(j) = self.other(p, q + 1) {
            return Goto(Scanning::Second { j, round, seen });
        }
        let again = (0..self.n).any(|q| round.moving.contains(q) && !round.moved.contains(q));
        if !again || !R::SNAPSHOT {
            return Done(seen);
        }
        let moved = (0..self.n).filter(|&q| round.moving.contains(q)).fold(round.moved, Pids::with);
        Goto(self.begin_round(p, round.own, moved))
    }
}

fn with(set: Pids, j: u8, is: bool) -> Pids {
    if is { set.with(j.into()) } else { set }
}

impl<R: Rules> Timestamps for Quadratic<R> {
    const NAME: &'static str = "quadratic";
    /// Five do not fit one register.
    const MOST_PROCESSES: usize = 4;

    type Stamp = Stamp;
    type Labelling = Labelling;
    type Scanning<C: Collect<Stamp>> = Scanning<C>;

    fn new(layout: &mut Layout, n: usize) -> Self {
        let r = Shape {
            labels: n as u8 + 1,
            digits: n as u8 - 1,
            mark_bits: R::MARK_BITS as u8,
            flags: n as u8 + 1,
            ..Shape::default()
        };
        let q = Shape { flags: n as u8, ..Shape::default() };
        Quadratic {
            n,
            r: layout.array(n, |i| r.declare(format!("R[{i}]")).at(i)),
            q: layout.array(n, |i| q.declare(format!("Q[{i}]")).at(i)),
            rules: PhantomData,
        }
    }

    fn precedes(a: (Stamp, Pid), b: (Stamp, Pid)) -> bool {
        Stamp::precedes(R::CHAIN, a, b)
    }

    fn begin_label(&self, _: Pid) -> Labelling {
        Labelling::Toggle
    }

    fn label<M: Memory>(&self, m: &mut M, p: Pid, at: Labelling) -> Turn<Labelling, ()> {
        match at {
            Labelling::Toggle => {
                let toggle = self.toggle(m.read(self.r.at(p))) != R::TOGGLE;
                let head = Head { flags: Pids::NONE, toggle };
                Goto(Labelling::Ask { j: u8::from(p == 0), head })
            }
            Labelling::Ask { j, head } => {
                let shown = m.read(self.q.at(j.into())) >> p & 1 != 0;
                let head = Head { flags: with(head.flags, j, R::SHAKE && !shown), ..head };
                Goto(match self.other(p, j as usize + 1) {
                    Some(j) => Labelling::Ask { j, head },
                    None => Labelling::Scan { head, scan: Scanning::Own },
                })
            }
            Labelling::Scan { head, scan } => match self.snapshot(m, p, scan) {
                Goto(scan) => Goto(Labelling::Scan { head, scan }),
                Done(view) => {
                    let stamp = |q: Pid| view.stamp(q).unwrap_or(Stamp::FIRST);
                    let later = Stamp::later(R::CHAIN, self.n, p, stamp);
                    let Some(new) = later.or(R::ALWAYS.then_some(Stamp::FIRST)) else {
                        return Done(());
                    };
                    let new = if R::RENEW { new } else { Stamp::FIRST };
                    Goto(Labelling::Write { head, new: new.marked(fresh(R::MARK_BITS)), view })
                }
            },
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

    fn begin_scan<C: Collect<Stamp>>(&self, _: Pid) -> Scanning<C> {
        Scanning::Own
    }

    fn scan<M: Memory, C: Collect<Stamp>>(
        &self,
        m: &mut M,
        p: Pid,
        at: Scanning<C>,
    ) -> Turn<Scanning<C>, C> {
        self.snapshot(m, p, at)
    }

    fn label_line(at: Labelling) -> &'static str {
        match at {
            Labelling::Toggle => "toggle",
            Labelling::Ask { .. } => "ask",
            Labelling::Scan { scan, .. } => Self::scan_line(scan),
            Labelling::Write { .. } => "write",
        }
    }

    fn scan_line<C: Collect<Stamp>>(at: Scanning<C>) -> &'static str {
        match at {
            Scanning::Own => "own",
            Scanning::Shake { .. } => "shake",
            Scanning::Shown { .. } => "shown",
            Scanning::First { .. } => "first",
            Scanning::Second { .. } => "second",
        }
    }
}

impl<R: Rules> Marked for Quadratic<R> {
    const MARK_BITS: u32 = R::MARK_BITS;

    fn inner_scan(at: Labelling) -> Option<Scanning<All<Stamp>>> {
        match at {
            Labelling::Scan { scan, .. } => Some(scan),
            _ => None,
        }
    }

    fn renew_label(p: Pid, at: Labelling, renew: Renew<'_>) -> Labelling {
        match at {
            Labelling::Scan { head, scan } => {
                Labelling::Scan { head, scan: Self::renew_scan(p, scan, renew) }
            }
            Labelling::Write { head, new, view } => {
                Labelling::Write { head, new: renew(p, new), view: view.renewed(renew) }
            }
            Labelling::Toggle | Labelling::Ask { .. } => at,
        }
    }

    fn renew_scan(p: Pid, at: Scanning<All<Stamp>>, renew: Renew<'_>) -> Scanning<All<Stamp>> {
        let mut own = |round: Round| Round { own: renew(p, round.own), ..round };
        match at {
            Scanning::Own => at,
            Scanning::Shake { j, round } => Scanning::Shake { j, round: own(round) },
            Scanning::Shown { round } => Scanning::Shown { round: own(round) },
            Scanning::First { j, round } => Scanning::First { j, round: own(round) },
            Scanning::Second { j, round, seen } => {
                let round = own(round);
                Scanning::Second { j, round, seen: seen.renewed(renew) }
            }
        }
    }

    fn renew_memory(&self, memory: &mut [Word], renew: Renew<'_>) {
        for i in 0..self.n {
            let word = &mut memory[self.r.at(i).index()];
            let old = *word;
            let stamps: alloc::vec::Vec<Stamp> = (0..=self.n)
                .map(|place| renew(place.checked_sub(1).unwrap_or(i), self.stamp(old, place)))
                .collect();
            *word = self.word(|place| stamps[place], self.head(old));
        }
    }
}
