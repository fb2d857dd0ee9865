//! The Scan procedure: the atomic snapshot. The [parent module](super) explains collects, flags and toggles.

use super::{Head, Quadratic};
use crate::{
    framework::{
        memory::{Memory, Pid, Word},
        pids::Pids,
    },
    papers::timestamps::{
        Collect,
        Turn::{self, Done, Goto},
        labels::{Labels, Stamp},
        marked::collect,
    },
};

/// The private variables of a scanner in a round. In a round, the scanner reads the flags and makes two
/// collects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Round {
    pub(super) own: Stamp,
    /// The processes that were seen to move in an earlier round.
    pub(super) moved: Pids,
    /// The processes whose flag was set when the round began.
    pub(super) flags: Pids,
    /// The processes that are seen to move in this round.
    pub(super) moving: Pids,
    /// The processes whose toggle was set at the first collect.
    pub(super) toggles: Pids,
}

/// The position of a process in Scan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scanning<C> {
    /// The process reads its own label.
    Own,
    /// The process reads the flag that j shows to it.
    Shake {
        /// The next process to read.
        j: u8,
        /// The variables of the round.
        round: Round,
    },
    /// The process writes the flags that it has read to its register Q.
    Shown {
        /// The variables of the round.
        round: Round,
    },
    /// The process is in the first collect.
    First {
        /// The next process to read.
        j: u8,
        /// The variables of the round.
        round: Round,
    },
    /// The process is in the second collect.
    Second {
        /// The next process to read.
        j: u8,
        /// The variables of the round.
        round: Round,
        /// The collection so far.
        seen: C,
    },
}

impl<C> Scanning<C> {
    /// Returns the short name of the line.
    pub(super) fn line(&self) -> &'static str {
        match self {
            Scanning::Own => "own",
            Scanning::Shake { .. } => "shake",
            Scanning::Shown { .. } => "shown",
            Scanning::First { .. } => "first",
            Scanning::Second { .. } => "second",
        }
    }
}

impl<C: Collect<Stamp>, L: Labels> Quadratic<C, L> {
    fn begin_round<D>(&self, p: Pid, own: Stamp, moved: Pids) -> Scanning<D> {
        let none = Pids::NONE;
        let round = Round { own, moved, flags: none, moving: none, toggles: none };
        Scanning::Shake { j: u8::from(p == 0), round }
    }

    pub(super) fn snapshot<M: Memory, D: Collect<Stamp>>(
        &self,
        m: &mut M,
        p: Pid,
        at: Scanning<D>,
    ) -> Turn<Scanning<D>, D> {
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
                    None => Scanning::Second { j: first, round, seen: D::begin(p, round.own) },
                })
            }
            Scanning::Second { j, round, seen } => self.second(m, p, j, round, seen),
        }
    }

    fn second<M: Memory, D: Collect<Stamp>>(
        &self,
        m: &mut M,
        p: Pid,
        j: u8,
        round: Round,
        seen: D,
    ) -> Turn<Scanning<D>, D> {
        let q = Pid::from(j);
        let word = m.read(self.r.at(q));
        if round.moved.contains(q) && self.moves(p, q, round, word) {
            return Done(collect::<Self, D>(p, self.n, |q| self.stamp(word, 1 + q)));
        }
        self.take(p, j, round, seen, word)
    }

    /// Returns whether `q` moves in this round. `word` is the content of its register at the second
    /// collect.
    pub(super) fn moves(&self, p: Pid, q: Pid, round: Round, word: Word) -> bool {
        round.moving.contains(q)
            || self.flag(word, p) != round.flags.contains(q)
            || self.toggle(word) != round.toggles.contains(q)
    }

    /// Takes the label of j at the second collect, and continues with the next process.
    pub(super) fn take<D: Collect<Stamp>>(
        &self,
        p: Pid,
        j: u8,
        round: Round,
        seen: D,
        word: Word,
    ) -> Turn<Scanning<D>, D> {
        let q = Pid::from(j);
        let moves = self.moves(p, q, round, word);
        let round = Round { moving: with(round.moving, j, moves), ..round };
        let seen = seen.see::<Self>(p, q, self.stamp(word, 0));
        if let Some(j) = self.other(p, q + 1) {
            return Goto(Scanning::Second { j, round, seen });
        }
        let again = (0..self.n).any(|q| round.moving.contains(q) && !round.moved.contains(q));
        if !again {
            return Done(seen);
        }
        let moved = (0..self.n).filter(|&q| round.moving.contains(q)).fold(round.moved, Pids::with);
        Goto(self.begin_round(p, round.own, moved))
    }
}

/// Returns `set`, with j added if `add` is true.
pub(super) fn with(set: Pids, j: u8, add: bool) -> Pids {
    if add { set.with(j.into()) } else { set }
}
