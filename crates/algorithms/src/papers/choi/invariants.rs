//! What the proof of Choi's algorithm says of every state.
//! Choi 2011, Sections 3.4 and 3.6.
//!
//! En(t): a cell of Wait-Set(j) in block i has got to round e, where t = \[e, i, j\]. u is the token
//! that a process updates, and a what it has read.
//!
//! - O4: as many at 3 as there are t from exit on with En(t), or fewer.
//! - I1: entry = exit + processes at 2..3.
//! - I2: En(t) => t < exit + k.
//! - I3: at most k at 3.
//! - I4: t < exit => En(t).
//! - I5: p at 8 and too late for u (line 8) => the last cell of u's block has got to u's round.
//! - I6: p at 6.7..6.9 and not too late for u => whoever is at 9 with u's cell as it read it writes
//!   no lower round there.
//! - I7: p at 6.8..6.9 and not too late => its cell is as it read it, or has got to u's round.
//! - I8: p at 5.7..6.9 => each cell that it is done with has got to its round, or the last cell
//!   of that block has.
//! - I10: who has left with t', or has only updates to make that change nothing, leaves En(t) behind
//!   for all t from t'-k to t'.
//! - I11: En(t') and t < t' => En(t).
//!
//! Differs from the thesis:
//!
//! - I5 has "and Exit" where "and Exit > u + 2k" is meant (Exit >= u + k with our line 8).
//! - I6 and I7 lack "not too late" in print, and are false without: after 5.8 sent p on because it
//!   is too late, a slower process may still be about to write a lower round. (The proof calls the
//!   step from 5.8 to 6.7 trivial.) I8 does not need them then, because of I5.
//! - The proof of I4 says that the process that leaves is the one with t = exit, but they may leave
//!   in any order. It follows by counting and from I11, which comes later in the thesis.
//! - The thesis lets t' start at k-1 (Section 2.2) and at -1 (Section 3.6.2); we keep no t' of who
//!   has left. I10 is therefore checked for every t' that exit has given out and that nobody holds
//!   who has still to change something. I9 is part of it.
//! - Tokens are looked at from a round before exit on: what is older has been seen before. A process
//!   whose round is old (see [`normal`](super::normal)) is left out of I5 to I8.

use super::algorithm::{
    Choi,
    Line::{self, L2, L3, L7, L8, L9},
    Token, Update,
};
use crate::framework::{
    machine::{Loc, View},
    memory::Word,
};

/// The invariants, in the order in which they are looked at.
const INVARIANTS: [(&str, fn(&Looking<'_>) -> bool); 11] = [
    ("O4", |at| at.critical <= at.enabled - at.missing),
    ("I1", |at| at.entry == at.exit + at.waiting + at.critical),
    ("I2", |at| (at.exit + at.k()..at.end).all(|t| !at.en(t))),
    ("I3", |at| at.critical <= at.k()),
    ("I4", |at| at.missing == 0),
    ("I5", |at| at.leaving().all(|(u, read)| at.i5(u, read))),
    ("I6", |at| at.leaving().all(|(u, _)| at.i6(u))),
    ("I7", |at| at.leaving().all(|(u, read)| at.i7(u, read))),
    ("I8", |at| at.leaving().all(|(u, _)| at.i8(u))),
    ("I10", |at| at.i10()),
    ("I11", |at| (at.first..at.end - 1).all(|t| at.en(t) || !at.en(t + 1))),
];

/// Their names, in the order in which they are looked at.
pub const NAMES: &[&str] = &{
    let mut names = [""; INVARIANTS.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = INVARIANTS[index].0;
        index += 1;
    }
    names
};

/// A state, and what several invariants ask of it.
struct Looking<'a> {
    choi: &'a Choi,
    state: &'a View<'a, Line>,
    entry: Word,
    exit: Word,
    /// Tokens are looked at from here on,
    first: Word,
    /// up to here.
    end: Word,
    /// Processes at 3.
    critical: Word,
    /// Processes at 2.
    waiting: Word,
    /// Tokens from exit on whose holder may enter.
    enabled: Word,
    /// Tokens before exit whose holder may not enter.
    missing: Word,
}

impl<'a> Looking<'a> {
    fn new(choi: &'a Choi, state: &'a View<'a, Line>) -> Self {
        let (entry, exit) = (state.value(choi.entry), state.value(choi.exit));
        let count =
            |is: fn(&Loc<Line>) -> bool| state.processes.iter().filter(|at| is(at)).count() as Word;
        let mut at = Looking {
            choi,
            state,
            entry,
            exit,
            first: exit - choi.cells(),
            end: exit + choi.k as Word + choi.cells(),
            critical: count(|at| matches!(at, Loc::Critical(_) | Loc::Exit(L3))),
            waiting: count(|at| matches!(at, Loc::Entry(L2 { .. }))),
            enabled: 0,
            missing: 0,
        };
        at.enabled = (exit..at.end).filter(|&t| at.en(t)).count() as Word;
        at.missing = (at.first..exit).filter(|&t| !at.en(t)).count() as Word;
        at
    }

    fn k(&self) -> Word {
        self.choi.k as Word
    }

    fn cell(&self, i: u8, j: u8) -> Word {
        self.state.value(self.choi.cell(i, j))
    }

    /// Whether whoever holds t may enter.
    fn en(&self, t: Word) -> bool {
        let Token { e, i, j } = self.choi.parse(t);
        self.choi.parameters.wait[j as usize].iter().any(|&w| self.cell(i, w) >= e)
    }

    fn last_cell_got_to(&self, u: Token) -> bool {
        self.cell(u.i, self.choi.k as u8 - 1) >= u.e
    }

    fn too_late(&self, u: Token) -> bool {
        self.choi.too_late(u, self.exit)
    }

    /// The leaving processes whose round is not old: where each is in lines 4 to 6, and what it has
    /// read, at line 8 with true and at line 9 with false.
    fn leaving(&self) -> impl Iterator<Item = (Update, Option<(bool, Word)>)> + '_ {
        let floor = self.choi.floor(self.exit);
        let place = |at: &Loc<Line>| match *at {
            Loc::Exit(L7 { u }) => Some((u, None)),
            Loc::Exit(L8 { u, a }) => Some((u, Some((true, a)))),
            Loc::Exit(L9 { u, a }) => Some((u, Some((false, a)))),
            _ => None,
        };
        self.state.processes.iter().filter_map(place).filter(move |(u, _)| u.last.e > floor + 1)
    }

    fn i5(&self, u: Update, read: Option<(bool, Word)>) -> bool {
        let token = self.choi.target(u);
        let at_8 = matches!(read, Some((true, _)));
        !at_8 || !self.too_late(token) || self.last_cell_got_to(token)
    }

    fn i6(&self, u: Update) -> bool {
        let token = self.choi.target(u);
        let lower = |&(other, read): &(Update, Option<(bool, Word)>)| {
            let Token { e, i, j } = self.choi.target(other);
            let same = (i, j) == (token.i, token.j);
            same && read == Some((false, self.cell(i, j))) && e < token.e
        };
        !u.second || self.too_late(token) || !self.leaving().any(|other| lower(&other))
    }

    fn i7(&self, u: Update, read: Option<(bool, Word)>) -> bool {
        let token = self.choi.target(u);
        let cell = self.cell(token.i, token.j);
        // What line 7 reads above u's round is kept as that round.
        let as_read = |(_, a): (bool, Word)| cell == a || cell >= token.e;
        !u.second || self.too_late(token) || read.is_none_or(as_read)
    }

    fn i8(&self, u: Update) -> bool {
        (0..u.r)
            .map(|r| self.choi.target(Update { r, ..u }))
            .all(|done| self.cell(done.i, done.j) >= done.e || self.last_cell_got_to(done))
    }

    fn i10(&self) -> bool {
        let k = self.k();
        let holds = |u: Update, last: Word| {
            let idle = self.choi.idle(u, self.exit, self.state.memory);
            self.choi.unparse(u.last) == last && !idle
        };
        let held = |last: Word| self.leaving().any(|(u, _)| holds(u, last));
        // Nobody gave out a t' below k; all those below that may enter from the beginning.
        (self.exit..self.exit + k)
            .filter(|&last| !held(last))
            .all(|last| self.en_all(last - k, last))
    }

    /// Whether everybody from the first token to the last may enter.
    fn en_all(&self, first: Word, last: Word) -> bool {
        (first..=last).all(|t| self.en(t))
    }
}

/// The first of the invariants that does not hold.
pub(super) fn first_broken(choi: &Choi, state: &View<'_, Line>) -> Option<&'static str> {
    let at = Looking::new(choi, state);
    INVARIANTS.iter().find(|(_, holds)| !holds(&at)).map(|(name, _)| *name)
}
