//! A sequence of competitions: the common part of NAIVE, EXCL and GTEX. Omori et al. 2002, sections 2, 3
//! and 5.
//!
//! - level(i): the competition that i has reached, or 0 (in GTEX: (0, 0)).
//! - turn(s): the last process that has reached competition s.
//!
//! ```text
//! for each competition s of i, in order:
//!   1  level(i) := s
//!   2  turn(s) := i
//!   3  L: count := 0; for each other j of the group: v := level(j); if v >= s then count := count + 1
//!   4  v := turn(s); unless count is small enough or v /= i: goto L
//! critical section
//!   5  level(i) := 0
//! ```
//!
//! A process is a *winner* at s from the end of line 4 until it has executed line 5.
//!
//! Doorway: the paper defines none. By the lab's convention, the doorway is everything before the first line at which a
//! process may have to wait. This is line 4, after the process has counted too many others. So the doorway contains the
//! scan of line 3, and every competition that is won by counting alone. For a process that meets no other, the whole
//! entry section is the doorway. (With lines 1 and 2 as the doorway, the verdicts on first-in-first-enabled are the
//! same for EXCL with n <= 3, and with n = 4, k = 3.)
//!
//! Differences from the paper: the paper has no line numbers, so the numbers above are added here. The
//! count is kept only as long as it matters: once the result of the comparison is certain, the exact
//! count is dropped. The process still reads every level.

use alloc::{string::String, vec::Vec};
use core::ops::Range;

use crate::framework::{
    layout::{Array, Layout},
    machine::{
        Algorithm, Label, Loc,
        Next::{self, Enter, Goto, Leave, Spin},
        View,
    },
    memory::{Memory, Pid, Var, Word},
};

/// A competition: it has at most `winners` winners at the same time.
pub struct Competition {
    /// The value of level(i) while i takes part. Later competitions of a process have larger values.
    pub level: Word,
    /// The variable that names the last process that has reached the competition.
    pub turn: Var,
    /// The processes that may take part.
    pub group: Range<Pid>,
    /// A process has to wait if it was the last to reach the competition and at least this many others
    /// are at this level or above.
    pub crowd: usize,
    /// The maximum number of winners.
    pub winners: usize,
    /// The paper's name of the competition.
    pub name: String,
}

/// An algorithm in which each process goes through a sequence of competitions.
pub struct Ladder {
    pub(super) n: usize,
    pub(super) k: usize,
    pub(super) figure: &'static str,
    /// The lemma that bounds the number of winners.
    pub(super) lemma: &'static [&'static str; 1],
    pub(super) layout: Layout,
    pub(super) level: Array,
    pub(super) competitions: Vec<Competition>,
    /// The competitions that each process goes through, in order, as indices into `competitions`.
    pub(super) routes: Vec<Vec<usize>>,
}

/// The lines that the [module](self) lists. `s` is an index into the competitions of the process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line {
    L1 { s: u8 },
    L2 { s: u8 },
    L3 { s: u8, j: u8, count: u8 },
    L4 { s: u8, crowded: bool },
    L5,
}
use Line::*;

impl Ladder {
    /// Returns the `s`-th competition of `p`.
    pub fn competition(&self, p: Pid, s: u8) -> &Competition {
        &self.competitions[self.routes[p][s as usize]]
    }

    /// Returns line 3 for the next process from `j` onwards, with `count` processes counted so far.
    /// Returns line 4 if no process is left.
    pub(super) fn scan(&self, p: Pid, s: u8, j: Pid, count: usize) -> Line {
        let Competition { group, crowd, .. } = self.competition(p, s);
        let mut left = (j..group.end).filter(|&other| other != p);
        let remaining = left.clone().count();
        match left.next() {
            None => L4 { s, crowded: count >= *crowd },
            Some(j) => {
                let settled = count + remaining < *crowd; // the final count will be less than `crowd`
                let count = if settled { 0 } else { count.min(*crowd) };
                L3 { s, j: j as u8, count: count as u8 }
            }
        }
    }

    /// Returns line 3 for the first process of the group, starting from this count.
    pub(super) fn rescan(&self, p: Pid, s: u8, count: usize) -> Line {
        self.scan(p, s, self.competition(p, s).group.start, count)
    }

    pub(super) fn won(&self, p: Pid, s: u8) -> Next<Line> {
        let next = s + 1;
        if (next as usize) < self.routes[p].len() { Goto(L1 { s: next }) } else { Enter(L5) }
    }

    /// Returns the level of the first competition that a process has not won yet. The process has won
    /// all competitions with lower levels.
    fn not_won(&self, p: Pid, at: &Loc<Line>) -> Word {
        match *at {
            Loc::Remainder => 0,
            Loc::Entry(L1 { s } | L2 { s } | L3 { s, .. } | L4 { s, .. }) => {
                self.competition(p, s).level
            }
            Loc::Entry(L5) | Loc::Critical(_) | Loc::Exit(_) => Word::MAX,
        }
    }
}

impl Algorithm for Ladder {
    type State = Line;

    fn n(&self) -> usize {
        self.n
    }

    fn k(&self) -> usize {
        self.k
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, _: Pid) -> Line {
        L1 { s: 0 }
    }

    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: Line) -> Next<Line> {
        match at {
            L1 { s } => {
                m.write(self.level.at(p), self.competition(p, s).level);
                Goto(L2 { s })
            }
            L2 { s } => {
                m.write(self.competition(p, s).turn, p as Word);
                Goto(self.rescan(p, s, 0))
            }
            L3 { s, j, count } => {
                let counts = m.read(self.level.at(j as usize)) >= self.competition(p, s).level;
                Goto(self.scan(p, s, j as usize + 1, count as usize + usize::from(counts)))
            }
            L4 { s, crowded } => {
                let last = m.read(self.competition(p, s).turn) == p as Word;
                if crowded && last { Spin(self.rescan(p, s, 0)) } else { self.won(p, s) }
            }
            L5 => {
                m.write(self.level.at(p), 0);
                Leave
            }
        }
    }

    fn waits(&self, _: Pid, at: Line) -> bool {
        matches!(at, L4 { crowded: true, .. })
    }

    fn label(&self, p: Pid, at: Line) -> Label {
        let (line, s) = match at {
            L1 { s } => ("1", Some(s)),
            L2 { s } => ("2", Some(s)),
            L3 { s, .. } => ("3", Some(s)),
            L4 { s, .. } => ("4", Some(s)),
            L5 => ("5", None),
        };
        let instance = s.map(|s| self.competition(p, s).name.clone()).unwrap_or_default();
        Label { figure: self.figure, line: line.into(), instance }
    }

    fn invariants(&self) -> &'static [&'static str] {
        self.lemma
    }

    fn broken_invariant(&self, state: &View<'_, Line>) -> Option<&'static str> {
        let too_many = |competition: &Competition| {
            let has_won = |&p: &Pid| self.not_won(p, &state.processes[p]) > competition.level;
            competition.group.clone().filter(has_won).count() > competition.winners
        };
        self.competitions.iter().any(too_many).then_some(self.lemma[0])
    }
}
