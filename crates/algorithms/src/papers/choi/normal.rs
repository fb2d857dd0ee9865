//! A normal form with bounded numbers for the states of Choi's algorithm. With it, the checker sees
//! finitely many states.
//!
//! Entry, exit, rounds and cells grow without bound. In a normal form, the round of exit is fixed, and old numbers are
//! as small as possible. A state and its normal form behave alike from then on: steps from both access the same
//! variables, take the same branches, and lead to states with the same normal form. There are five reasons. As in the
//! [invariants](super::invariants), u is the token that a leaving process updates, and `a` is the value that it has
//! read. A process is too late for u if exit > u + slack (line 8; see [`Parameters::slack`]).
//!
//! 1. *Shifting.* Only differences of tokens matter. So all numbers may be shifted by a whole number of rounds,
//!    up or down. For each round of the shift, entry and exit change by N (the number of cells), and every round and
//!    cell changes by 1. This gives exit the same round E in every normal form.
//!
//! 2. *Processes with nothing to change.* Exit never decreases. Cells never decrease either, because line 9
//!    replaces `a` with u's round, and a process reaches it only if `a` is less than u's round. So line 8 fails
//!    for a cell, now and later, in two cases: the process is too late for u, or the cell has reached u's
//!    round. If one of these holds for each cell that a process still has to update, the round of this process
//!    has no effect. Its round becomes the floor F (see 5). With round F, the process is too late for each of
//!    these cells, so line 8 still fails.
//!    If all cells of a waiter have reached its round, the waiter gets round 1, because no cell of a normal
//!    form is below 1.
//!
//! 3. *Values that were read.* For a process at line 8 or 9, there are three cases:
//!    - The process is at line 8, and line 8 will fail. Then `a` has no effect. It becomes u's round.
//!    - Otherwise, if the cell no longer holds `a`, the compare-and-swap of line 9 will fail, because the cell
//!      never holds `a` again. Then `a` becomes 0, which no cell of a normal form holds.
//!    - Otherwise the compare-and-swap may succeed, and `a` equals the value of the cell.
//!
//! 4. *Cells without waiters.* No future token is below exit. This includes the tokens that processes will
//!    update, because line 3 adds k to exit. For a cell, let R be the first round in which the token of this
//!    cell is not below exit. Every future token that is compared with this cell has round R or later.
//!    So if the value of the cell is below R, its exact value matters only for comparisons with the rounds
//!    of the current waiters and leaving processes. The value becomes the largest of these rounds that it
//!    has reached, or F if it has reached none. (Invariants are evaluated in normal forms, so a value that
//!    they read counts as compared.)
//!
//! 5. *Old numbers.* Let F = E - 1 - ceil((slack + k) / N). A round up to F is old, and a larger round is
//!    young. Future tokens, the tokens of processes that are not too late, and the values that these
//!    processes will write are all young. A comparison of an old number with a young one finds the old
//!    number smaller, whatever the old number is. Old numbers are compared with each other in two cases only,
//!    and both stay within one block:
//!    - An old waiter checks whether a cell has reached its round.
//!    - A process with an old round is at line 9, and its compare-and-swap may succeed. It will replace the
//!      value of the cell with its round. So its round and the value of the cell must keep their order.
//!
//!    So the rounds of the old waiters of a block divide the old numbers of the block into classes: the
//!    numbers of a class have reached the rounds of the same waiters. The normal form keeps the class of each
//!    number. Within a class, it keeps the order of the numbers of one cell, but not their distance. Numbers
//!    of different cells are never compared with each other. The classes are packed below F, the highest
//!    first.
//!
//! There are at most n old processes, so at most n + 1 old numbers are needed. Each old waiter begins a
//! class, each old compare-and-swap adds a number to a class, and the cells add one more number.
//!
//! In a [wrong variant](super::wrong::write), line 9 is a write, so cells may decrease. For this
//! variant, point 2 considers only whether a process is too late, point 3 treats every write as one that
//! may succeed, and point 4 is left out.

mod old;

use self::old::Old;
use super::algorithm::{
    Choi,
    Line::{self, L2, L7, L8, L9},
    Parameters, Token, Update,
};
use crate::framework::{machine::Loc, memory::Word};

/// The normal value of `a` if the cell no longer holds `a`.
const STALE: Word = 0;
/// The normal round of a waiter whose cells have all reached its round.
const SATISFIED: Word = 1;
// Markers for these two values, and for a value `a` that becomes u's round (see 3). They are used until the
// cells have their final values, because a cell may hold 0 or 1 before.
const STALE_MARKER: Word = Word::MIN;
const SATISFIED_MARKER: Word = Word::MIN;
const ENOUGH_MARKER: Word = Word::MAX;

/// Returns how many numbers are reserved for old numbers.
fn room(n: usize) -> Word {
    n as Word + 1
}

/// Returns the maximum number of rounds by which a token that is not too late lags behind exit.
fn lag(parameters: &Parameters, cells: Word) -> Word {
    let k = parameters.wait.len() as Word;
    (parameters.slack + k).div_euclid(cells) + Word::from((parameters.slack + k) % cells != 0)
}

/// Returns E, the round of exit in a normal form.
pub(super) fn round_of_exit(n: usize, parameters: &Parameters, cells: Word) -> Word {
    room(n) + 1 + lag(parameters, cells)
}

impl Choi {
    /// Returns F, the youngest old round, in a state with this exit.
    pub(super) fn floor(&self, exit: Word) -> Word {
        self.parse(exit).e - 1 - lag(&self.parameters, self.cells())
    }

    /// Returns whether line 9 would change the cell.
    fn may_succeed(&self, u: Token, a: Word, memory: &[Word]) -> bool {
        self.parameters.cells_may_fall || memory[self.cell(u.i, u.j).index()] == a
    }

    /// If a process in block i is about to make a compare-and-swap for an old round, returns the token
    /// of this compare-and-swap.
    fn old_swap(&self, at: &Loc<Line>, i: u8, floor: Word, memory: &[Word]) -> Option<Token> {
        match *at {
            Loc::Exit(L9 { u, a }) => {
                let token = self.target(u);
                let counts = token.i == i && token.e <= floor;
                (counts && self.may_succeed(token, a, memory)).then_some(token)
            }
            _ => None,
        }
    }

    /// Subtracts `by` rounds from all numbers (see 1).
    fn shift(&self, by: Word, processes: &mut [Loc<Line>], memory: &mut [Word]) {
        if by == 0 {
            return;
        }
        memory[self.entry.index()] -= by * self.cells();
        memory[self.exit.index()] -= by * self.cells();
        for f in 0..self.blocks() * self.k {
            memory[self.a.at(f).index()] -= by;
        }
        for at in processes {
            match at {
                Loc::Entry(L2 { t, .. }) => t.e -= by,
                Loc::Exit(L7 { u }) => u.last.e -= by,
                Loc::Exit(L8 { u, a } | L9 { u, a }) => {
                    u.last.e -= by;
                    *a -= by;
                }
                _ => {}
            }
        }
    }

    /// Returns whether line 8 will fail, from now on, for all cells that this process still has to update.
    pub(super) fn idle(&self, from: Update, exit: Word, memory: &[Word]) -> bool {
        (from.r..self.parameters.update[from.last.j as usize].len() as u8).all(|r| {
            let u = self.target(Update { r, ..from });
            let done =
                !self.parameters.cells_may_fall && memory[self.cell(u.i, u.j).index()] >= u.e;
            done || self.too_late(u, exit)
        })
    }

    /// Replaces those private values of a process that have no effect any more (see 2 and 3).
    fn forget(&self, at: &mut Loc<Line>, exit: Word, floor: Word, memory: &[Word]) {
        match at {
            Loc::Entry(L2 { t, .. }) if !self.parameters.cells_may_fall => {
                let wait = &self.parameters.wait[t.j as usize];
                if wait.iter().all(|&w| memory[self.cell(t.i, w).index()] >= t.e) {
                    t.e = SATISFIED_MARKER;
                }
            }
            Loc::Exit(L7 { u }) if self.idle(*u, exit, memory) => u.last.e = floor,
            Loc::Exit(L8 { u, a }) => {
                let token = self.target(*u);
                if *a >= token.e || self.too_late(token, exit) {
                    *a = ENOUGH_MARKER;
                    if self.idle(*u, exit, memory) {
                        u.last.e = floor;
                    }
                } else if memory[self.cell(token.i, token.j).index()] != *a {
                    *a = STALE_MARKER;
                }
            }
            Loc::Exit(L9 { u, a }) => {
                let may_succeed = self.may_succeed(self.target(*u), *a, memory);
                if !may_succeed && self.idle(*u, exit, memory) {
                    u.last.e = floor;
                }
                if !may_succeed || self.parameters.cells_may_fall {
                    *a = STALE_MARKER;
                }
            }
            _ => {}
        }
    }

    /// Replaces the markers, now that the cells have their final values.
    fn settle(&self, at: &mut Loc<Line>) {
        match at {
            Loc::Entry(L2 { t, .. }) if t.e == SATISFIED_MARKER => t.e = SATISFIED,
            Loc::Exit(L8 { u, a }) if *a == ENOUGH_MARKER => *a = self.target(*u).e,
            Loc::Exit(L8 { a, .. } | L9 { a, .. }) if *a == STALE_MARKER => *a = STALE,
            _ => {}
        }
    }

    /// Gives a cell a new value, both in memory and in the private states of the processes that have
    /// read it.
    fn replace(
        &self,
        (i, j): (u8, u8),
        value: Word,
        processes: &mut [Loc<Line>],
        memory: &mut [Word],
    ) {
        let cell = &mut memory[self.cell(i, j).index()];
        for at in processes {
            if let Loc::Exit(L8 { u, a } | L9 { u, a }) = at {
                let token = self.target(*u);
                if (token.i, token.j) == (i, j) && *a == *cell {
                    *a = value;
                }
            }
        }
        *cell = value;
    }

    /// Returns the largest young round up to `value` with which a process now compares this cell, or `floor`.
    fn compared_with(
        &self,
        (i, j): (u8, u8),
        value: Word,
        floor: Word,
        processes: &[Loc<Line>],
    ) -> Word {
        let mut largest = floor;
        let mut compares = |e| {
            if e <= value {
                largest = largest.max(e);
            }
        };
        for at in processes {
            match *at {
                Loc::Entry(L2 { t, .. })
                    if t.i == i && self.parameters.wait[t.j as usize].contains(&j) =>
                {
                    compares(t.e);
                }
                // The finished cells and the last cell are included, because I8 reads them.
                Loc::Exit(L7 { u } | L8 { u, .. } | L9 { u, .. }) if u.last.e > floor => {
                    (0..self.parameters.update[u.last.j as usize].len() as u8)
                        .map(|r| self.target(Update { r, ..u }))
                        .filter(|token| token.i == i && (token.j == j || j as usize == self.k - 1))
                        .for_each(|token| compares(token.e));
                }
                _ => {}
            }
        }
        largest
    }

    /// Lowers the cells without waiters (see 4).
    fn lower(&self, exit: Word, floor: Word, processes: &mut [Loc<Line>], memory: &mut [Word]) {
        if self.parameters.cells_may_fall {
            return;
        }
        let next = self.parse(exit);
        for i in 0..self.blocks() as u8 {
            for j in 0..self.k as u8 {
                // One less than the first future round, because the invariants look back one round.
                let first = next.e - 1 + Word::from((i, j) < (next.i, next.j));
                let value = memory[self.cell(i, j).index()];
                if floor < value && value < first {
                    let lower = self.compared_with((i, j), value, floor, processes);
                    if lower != value {
                        self.replace((i, j), lower, processes, memory);
                    }
                }
            }
        }
    }
}

/// Replaces the state with its normal form.
pub(super) fn normalize(choi: &Choi, processes: &mut [Loc<Line>], memory: &mut [Word]) {
    let now = round_of_exit(choi.n, &choi.parameters, choi.cells());
    let by = choi.parse(memory[choi.exit.index()]).e - now;
    choi.shift(by, processes, memory);
    let exit = memory[choi.exit.index()];
    let floor = choi.floor(exit);
    for at in processes.iter_mut() {
        choi.forget(at, exit, floor, memory);
    }
    choi.lower(exit, floor, processes, memory);
    for i in 0..choi.blocks() as u8 {
        Old::of(choi, i, floor, processes).pack(processes, memory);
    }
    for at in processes {
        choi.settle(at);
    }
}
