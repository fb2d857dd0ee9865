//! The invariants in the proof of Choi's algorithm.
//! Choi 2011, Sections 3.4 and 3.6.
//!
//! Notation:
//!
//! - En(t), "t is enabled": some cell of Wait-Set(j) in block i has reached round e, where t = \[e, i, j\].
//! - u: the token that a process updates. `a`: the value that it has read from u's cell.
//! - Too late for u: exit has become so large that line 8 prevents the update.
//! - 5.7 is line 7 when line 5 calls it, and 6.7 is line 7 when line 6 calls it.
//!
//! The invariants:
//!
//! - O4: the number of processes at 3 is at most the number of tokens t >= 0 with En(t), minus exit. As long as I4
//!   holds, this difference is the number of tokens t >= exit with En(t).
//! - I1: entry = exit + the number of processes at 2..3.
//! - I2: En(t) => t < exit + k.
//! - I3: at most k processes are at 3.
//! - I4: t < exit => En(t).
//! - I5: p at 8 and too late for u => the last cell of u's block has reached u's round.
//! - I6: p at 6.7..6.9 and not too late for u => if a process at 9 has read the current value of u's
//!   cell, it does not write a lower round there.
//! - I7: p at 6.8..6.9 and not too late for u => u's cell still has the value that p read, or has reached
//!   u's round.
//! - I8: p at 5.7..6.9 => for each cell that p has finished, this cell or the last cell of its block has
//!   reached the round of p's update.
//! - I10: a process has left with t', or its remaining updates change nothing => En(t) for all t from
//!   t'-k to t'.
//! - I11: En(t') and t < t' => En(t).
//!
//! Differences from the paper:
//!
//! - The condition of I5 is printed as "and Exit". It must be "and Exit > u + 2k" (Exit >= u + k with the
//!   changed line 8).
//! - I6 and I7 are printed without the condition "not too late". Without this condition they are false. When p is too
//!   late and goes from 5.8 to 6.7, a slower process may still be about to write a lower round. (The proof calls the
//!   step from 5.8 to 6.7 trivial.) If p is too late, I8 follows from I5, without I6 and I7.
//! - The proof of I4 says that the process with t = exit leaves next, but processes may leave in any
//!   order. I4 follows by counting and from I11, which comes later in the paper.
//! - The paper lets t' start at k-1 (Section 2.2) and at -1 (Section 3.6.2). The model does not store the t' of
//!   processes that have left. So I10 is checked for the k newest t' that exit has given out, unless the process with
//!   that t' still has a change to make. (Every older t' is below exit, so I4 covers it.) I10 includes I9.
//! - Only tokens from one round before exit onwards are checked, because earlier states covered the
//!   older tokens. I5 to I8 skip a process whose round is old (see [`normal`](super::normal)).

use super::algorithm::{
    Choi,
    Line::{self, L2, L3, L7, L8, L9},
    Token, Update,
};
use crate::framework::{
    machine::{Loc, View},
    memory::Word,
};

/// An invariant: its name in the paper, and whether it holds.
type Invariant = (&'static str, fn(&Snapshot<'_>) -> bool);

/// The invariants, in the order in which they are evaluated.
const INVARIANTS: [Invariant; 11] = [
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

/// The names of the invariants, in the order in which they are evaluated.
pub const NAMES: &[&str] = &{
    let mut names = [""; INVARIANTS.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = INVARIANTS[index].0;
        index += 1;
    }
    names
};

/// A state, and the numbers that several invariants need.
struct Snapshot<'a> {
    choi: &'a Choi,
    state: &'a View<'a, Line>,
    entry: Word,
    exit: Word,
    /// The first token that is checked.
    first: Word,
    /// The first token after those that are checked.
    end: Word,
    /// The number of processes at 3.
    critical: Word,
    /// The number of processes at 2.
    waiting: Word,
    /// The number of tokens, from exit onwards, whose holders may enter.
    enabled: Word,
    /// The number of tokens before exit whose holders must not enter yet.
    missing: Word,
}

impl<'a> Snapshot<'a> {
    fn new(choi: &'a Choi, state: &'a View<'a, Line>) -> Self {
        let (entry, exit) = (state.value(choi.entry), state.value(choi.exit));
        let count =
            |is: fn(&Loc<Line>) -> bool| state.processes.iter().filter(|at| is(at)).count() as Word;
        let mut at = Snapshot {
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

    /// Evaluates En(t): returns whether the holder of t may enter.
    fn en(&self, t: Word) -> bool {
        let Token { e, i, j } = self.choi.parse(t);
        self.choi.parameters.wait[j as usize].iter().any(|&w| self.cell(i, w) >= e)
    }

    fn last_cell_reached(&self, u: Token) -> bool {
        self.cell(u.i, self.choi.k as u8 - 1) >= u.e
    }

    fn too_late(&self, u: Token) -> bool {
        self.choi.too_late(u, self.exit)
    }

    /// Returns the leaving processes whose round is not old. Each item has two parts. The first is the
    /// position of the process in lines 4 to 6. The second is `None` at line 7. At line 8 it is `true`
    /// and the value that the process has read, and at line 9 it is `false` and that value.
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
        !at_8 || !self.too_late(token) || self.last_cell_reached(token)
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
        // If line 7 reads a value above u's round, the process stores u's round as `a`.
        let as_read = |(_, a): (bool, Word)| cell == a || cell >= token.e;
        !u.second || self.too_late(token) || read.is_none_or(as_read)
    }

    fn i8(&self, u: Update) -> bool {
        (0..u.r)
            .map(|r| self.choi.target(Update { r, ..u }))
            .all(|done| self.cell(done.i, done.j) >= done.e || self.last_cell_reached(done))
    }

    fn i10(&self) -> bool {
        let k = self.k();
        let holds = |u: Update, last: Word| {
            let idle = self.choi.idle(u, self.exit, self.state.memory);
            self.choi.unparse(u.last) == last && !idle
        };
        let held = |last: Word| self.leaving().any(|(u, _)| holds(u, last));
        // No process gets a t' below k. Checking these values too is harmless: the holders of all tokens
        // below k may enter from the beginning.
        (self.exit..self.exit + k)
            .filter(|&last| !held(last))
            .all(|last| self.en_all(last - k, last))
    }

    /// Returns whether the holders of all tokens from `first` to `last` may enter.
    fn en_all(&self, first: Word, last: Word) -> bool {
        (first..=last).all(|t| self.en(t))
    }
}

/// Returns the first invariant that does not hold.
pub(super) fn first_broken(choi: &Choi, state: &View<'_, Line>) -> Option<&'static str> {
    let at = Snapshot::new(choi, state);
    INVARIANTS.iter().find(|(_, holds)| !holds(&at)).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_processes_in_the_critical_section_than_enabled_tokens_contradict_o4() {
        let choi = Choi::new(2, 1);
        // Both processes have taken a token. The memory holds Entry, Exit, and the rounds of the two cells.
        let broken = |cells: [Word; 2]| {
            let processes = [Loc::Critical(L3), Loc::Critical(L3)];
            let memory = [2, 0, cells[0], cells[1]];
            first_broken(&choi, &View { processes: &processes, memory: &memory })
        };
        assert_eq!(broken([1, 0]), Some("O4"), "only token 0 is enabled");
        // If both tokens are enabled, O4 holds and another invariant fails.
        assert_eq!(broken([1, 1]), Some("I2"));
    }
}
