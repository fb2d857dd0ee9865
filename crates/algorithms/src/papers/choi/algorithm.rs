//! k-exclusion with tokens in O(log k) remote references. Choi 2011, Sections 2.2 and 2.3.
//!
//! - entry: the number of arrivals.
//! - exit: the number of departures.
//! - a\[i\]\[j\]: the last round in which cell j of block i was released.
//! - N: the number of cells, in N/k blocks of k cells.
//!
//! A token t stands for round e, block i and cell j: t = (e-1) N + i k + j (Lemma 2). An arriving process takes the
//! next token and waits until some cell of Wait-Set(j) in block i has reached round e. A leaving process takes a number
//! from exit and adds k. The result is a token t', which stands for block i' and cell j'. The leaving process releases
//! every process whose token is at most t'. It updates the last cell of block i' - 1, and then the cells of
//! Release-Set(j') in block i', in ascending order. It tries to update each cell twice. One of the two attempts
//! succeeds, or another process has written the same round or a later one. A very slow process is an exception: line 8
//! prevents its updates. They are not needed, because the last cell of the block has been released by then, and every
//! process of the block waits on that cell.
//!
//! The invariants are in [`invariants`](super::invariants), the sets in [`sets`](super::sets).
//!
//! For the cost on a cache-coherent computer where a failed compare-and-swap counts as a read, see `BOUND` in
//! `entries.rs`. On other computers ("no smart cache"), N should be kn/log2 k ([`Choi::wide`]).
//!
//! Differences from the paper:
//!
//! - The sets are those that the proofs need. See [`sets`](super::sets).
//! - Line 8 has exit < u + k instead of exit <= u + 2k, where u is the token that the process updates. The printed
//!   condition is too permissive where n <= 2k and k >= 3 ([`Choi::printed_check`]). Two slow processes that update the
//!   same cell for earlier rounds can then disturb both attempts of a process that is not slow. The first slow process
//!   disturbs the first attempt with a late compare-and-swap. The second slow process reads what the first one has
//!   written, and disturbs the second attempt. The proof of (I6) says that line 8 prevents the second disturbance, with
//!   u <= t' < exit. But only t' < exit + k holds, so with the printed condition the proof needs N >= 3k. With
//!   exit < u + k, N >= 2k - 1 is enough for (I6). (I5) stays true: u + k <= exit puts all of u's block below exit.
//! - Line 2 reads one cell per step, in ascending order, and starts again after the last cell.
//! - If line 7 reads a value above e, the round of u, the process keeps e instead, because line 8 only compares the
//!   value with e.
//! - Line 4 makes no access, so it is not a separate step.
//! - Correctness does not require N >= n; only the number of remote references does. If a process waits
//!   for a round far ahead, its cells change in each earlier round. [`Choi::narrow`] has N = 2k,
//!   so its memory does not depend on n.
//! - `wide` rounds kn/log2 k up to a multiple of k, as k ceil(n / log2 k). For k = 1, it uses 1 instead
//!   of log2 k, which is 0.
//! - In the available copy of the text, `parse` rounds t/N and f/k up, where f is t modulo N. Lemma 2
//!   rounds down, and this code follows Lemma 2.

use alloc::{format, string::String, vec::Vec};

use super::sets::{Form, Sets};
use crate::framework::{
    layout::{Array, Decl, Layout},
    machine::{
        Algorithm, Label, Loc,
        Next::{self, Enter, Goto, Leave, Spin},
        View,
    },
    memory::{Memory, Pid, Var, Word},
    statement::{Observed, RunStatement, Side, Transition},
};

/// Choi's algorithm.
pub struct Choi {
    pub(super) n: usize,
    pub(super) k: usize,
    pub(super) parameters: Parameters,
    pub(super) layout: Layout,
    pub(super) entry: Var,
    pub(super) exit: Var,
    pub(super) a: Array,
}

/// The parameters of a construction.
pub struct Parameters {
    /// The cells on which a process waits, for each j.
    pub wait: Vec<Vec<u8>>,
    /// The cells that a process updates, for each j', in order. -1 is the last cell of the previous
    /// block.
    pub update: Vec<Vec<i8>>,
    /// The number of blocks of the array, N/k.
    pub blocks: usize,
    /// Line 8 permits an update for token u only if exit <= u + slack.
    pub slack: Word,
    /// Whether the value of a cell may decrease. The algorithm never decreases a cell, and the [normal
    /// form](super::normal) relies on this. A wrong variant that decreases cells must set this field.
    pub cells_may_fall: bool,
}

impl Parameters {
    /// Returns the parameters of the paper, with the sets and the condition on line 8 that its proofs
    /// need. N is the smallest multiple of k that is at least n.
    pub fn new(n: usize, k: usize) -> Self {
        Self::with_sets(n, k, Form::Meant)
    }

    fn with_sets(n: usize, k: usize, form: Form) -> Self {
        let Sets { wait, release } = Sets::new(k, form);
        let with_previous = |set: &Vec<u8>| {
            core::iter::once(-1).chain(set.iter().map(|&r| r as i8)).collect::<Vec<i8>>()
        };
        Parameters {
            wait,
            update: release.iter().map(with_previous).collect(),
            blocks: n.div_ceil(k),
            slack: k as Word - 1,
            cells_may_fall: false,
        }
    }

    /// Changes the condition on line 8 to the printed one: exit <= u + 2k.
    fn with_printed_check(self) -> Self {
        Parameters { slack: 2 * self.wait.len() as Word, ..self }
    }
}

/// A token as returned by `parse`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Token {
    /// The round, from 1.
    pub e: Word,
    /// The number of the block in the round, i.
    pub i: u8,
    /// The cell in the block.
    pub j: u8,
}

/// The position of a process in lines 4 to 6.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Update {
    /// The token t'.
    pub last: Token,
    /// The index of the cell in the list of cells to update.
    pub r: u8,
    /// Whether this is line 6, the second attempt.
    pub second: bool,
}

/// The lines of the paper.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line {
    L1,
    L2 { t: Token, w: u8 },
    L3,
    L7 { u: Update },
    L8 { u: Update, a: Word },
    L9 { u: Update, a: Word },
}
use Line::*;

impl Choi {
    /// Builds the algorithm for computers where a failed compare-and-swap is a read: N is the smallest
    /// multiple of k that is at least n.
    pub fn new(n: usize, k: usize) -> Self {
        Self::with(n, k, Parameters::new(n, k))
    }

    /// Builds the algorithm for computers where a failed compare-and-swap is a write: N = kn/log2 k,
    /// rounded up to a multiple of k.
    pub fn wide(n: usize, k: usize) -> Self {
        Self::with(n, k, Parameters { blocks: blocks_wide(n, k), ..Parameters::new(n, k) })
    }

    /// Builds the algorithm with two blocks for every n.
    pub fn narrow(n: usize, k: usize) -> Self {
        Self::with(n, k, Parameters { blocks: 2, ..Parameters::new(n, k) })
    }

    /// Builds the algorithm as printed.
    pub fn printed(n: usize, k: usize) -> Self {
        Self::with(n, k, Parameters::with_sets(n, k, Form::Printed).with_printed_check())
    }

    /// Builds the algorithm as printed, except that the sets use all bits of the numbers below k.
    pub fn printed_wait(n: usize, k: usize) -> Self {
        Self::with(n, k, Parameters::with_sets(n, k, Form::PrintedCells).with_printed_check())
    }

    /// Builds the algorithm with line 8 as printed.
    pub fn printed_check(n: usize, k: usize) -> Self {
        Self::with(n, k, Parameters::new(n, k).with_printed_check())
    }

    /// Builds the algorithm from these parameters.
    pub fn with(n: usize, k: usize, parameters: Parameters) -> Self {
        let blocks = parameters.blocks;
        let cells = (blocks * k) as Word;
        let now = super::normal::round_of_exit(n, &parameters, cells);
        let mut layout = Layout::default();
        // The domain holds every value of a normal form and of every state one step after it.
        let number = |name: String, hi, init| Decl::number(name, 0, hi, init).unbounded();
        let entry = layout.add(number("Entry".into(), now * cells + n as Word, 0));
        let exit = layout.add(number("Exit".into(), now * cells, 0));
        let a = layout.array(cells as usize, |f| {
            let (i, j) = (f / k, f % k);
            number(format!("A[{i}][{j}]"), now + 2, Word::from(i == 0)).waited_on()
        });
        Choi { n, k, parameters, layout, entry, exit, a }
    }

    /// Returns the number of blocks of the array, N/k.
    pub(super) fn blocks(&self) -> usize {
        self.parameters.blocks
    }

    /// Returns the number of cells of the array, N.
    pub(super) fn cells(&self) -> Word {
        (self.blocks() * self.k) as Word
    }

    pub(super) fn parse(&self, t: Word) -> Token {
        let (cells, k) = (self.cells(), self.k as Word);
        let f = t.rem_euclid(cells);
        Token { e: t.div_euclid(cells) + 1, i: (f / k) as u8, j: (f % k) as u8 }
    }

    /// Returns the number of a token (Lemma 2).
    pub(super) fn unparse(&self, t: Token) -> Word {
        (t.e - 1) * self.cells() + Word::from(t.i) * self.k as Word + Word::from(t.j)
    }

    /// Returns the token that a process updates.
    pub(super) fn target(&self, u: Update) -> Token {
        let last = u.last;
        match self.parameters.update[last.j as usize][u.r as usize] {
            -1 if last.i == 0 => {
                Token { e: last.e - 1, i: (self.blocks() - 1) as u8, j: (self.k - 1) as u8 }
            }
            -1 => Token { i: last.i - 1, j: (self.k - 1) as u8, ..last },
            r => Token { j: r as u8, ..last },
        }
    }

    pub(super) fn cell(&self, i: u8, j: u8) -> Var {
        self.a.at(i as usize * self.k + j as usize)
    }

    /// Returns whether a process that updates this token is too late at line 8.
    pub(super) fn too_late(&self, u: Token, exit: Word) -> bool {
        exit > self.unparse(u) + self.parameters.slack
    }

    /// Returns where a process continues after an attempt to update a cell.
    pub(super) fn after(&self, u: Update) -> Next<Line> {
        if u.second { self.next_cell(u) } else { Goto(L7 { u: Update { second: true, ..u } }) }
    }

    /// Executes line 4: continues at line 5 for the next cell to update, or leaves if no cell is left.
    pub(super) fn next_cell(&self, u: Update) -> Next<Line> {
        if (u.r as usize + 1) < self.parameters.update[u.last.j as usize].len() {
            Goto(L7 { u: Update { r: u.r + 1, second: false, ..u } })
        } else {
            Leave
        }
    }
}

/// Returns n / log2 k, rounded up, with 1 instead of log2 1. For k > 1, this is the smallest b with k^b >= 2^n.
pub(super) fn blocks_wide(n: usize, k: usize) -> usize {
    if k <= 2 {
        return n;
    }
    // 2^n fits, because n <= 32, and the loop ends before the power gets too large.
    let (mut b, mut power) = (0, 1u128);
    while power < 1 << n {
        power *= k as u128;
        b += 1;
    }
    b
}

impl Algorithm for Choi {
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
        L1
    }

    fn step<M: Memory>(&self, m: &mut M, _: Pid, at: Line) -> Next<Line> {
        match at {
            L1 => Goto(L2 { t: self.parse(m.fetch_add(self.entry, 1)), w: 0 }),
            L2 { t, w } => {
                let wait = &self.parameters.wait[t.j as usize];
                if m.read(self.cell(t.i, wait[w as usize])) >= t.e {
                    Enter(L3)
                } else if (w as usize + 1) < wait.len() {
                    Goto(L2 { t, w: w + 1 })
                } else {
                    Spin(L2 { t, w: 0 })
                }
            }
            L3 => {
                let last = self.parse(m.fetch_add(self.exit, 1) + self.k as Word);
                Goto(L7 { u: Update { last, r: 0, second: false } })
            }
            L7 { u } => {
                let Token { e, i, j } = self.target(u);
                Goto(L8 { u, a: m.read(self.cell(i, j)).min(e) })
            }
            L8 { u, a } => {
                let target = self.target(u);
                if !self.too_late(target, m.read(self.exit)) && a < target.e {
                    Goto(L9 { u, a })
                } else {
                    self.after(u)
                }
            }
            L9 { u, a } => {
                let Token { e, i, j } = self.target(u);
                m.compare_and_swap(self.cell(i, j), a, e);
                self.after(u)
            }
        }
    }

    fn waits(&self, _: Pid, at: Line) -> bool {
        matches!(at, L2 { .. })
    }

    fn label(&self, _: Pid, at: Line) -> Label {
        let line = match at {
            L1 => "1",
            L2 { .. } => "2",
            L3 => "3",
            L7 { u } => ["5.7", "6.7"][u.second as usize],
            L8 { u, .. } => ["5.8", "6.8"][u.second as usize],
            L9 { u, .. } => ["5.9", "6.9"][u.second as usize],
        };
        Label { figure: "choi", line: line.into(), instance: String::new() }
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn invariants(&self) -> &'static [&'static str] {
        super::invariants::NAMES
    }

    fn broken_invariant(&self, state: &View<'_, Line>) -> Option<&'static str> {
        super::invariants::first_broken(self, state)
    }

    fn run_statements(&self) -> &'static [RunStatement] {
        super::statements::ALL
    }

    fn observe(&self, statement: &str, history: u32, step: &Transition<'_, Line>) -> Observed {
        super::statements::observe(self, statement, history, step)
    }

    fn condition(&self, _: &str, _: usize, side: Side, p: Pid, state: &View<'_, Line>) -> bool {
        super::statements::waits_and_may_enter(self, side, p, state)
    }

    fn is_unbounded(&self) -> bool {
        true
    }

    fn normalize(&self, processes: &mut [Loc<Line>], memory: &mut [Word]) {
        super::normal::normalize(self, processes, memory);
    }

    /// Returns `false` for a process in its remainder, and for a waiting process, because the cell that it reads next
    /// makes no difference.
    fn counts(&self, at: &Loc<Line>) -> bool {
        !matches!(at, Loc::Remainder | Loc::Entry(L2 { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_and_unparse_are_inverse() {
        let choi = Choi::new(7, 3);
        for t in -40..100 {
            assert_eq!(choi.unparse(choi.parse(t)), t, "Lemma 2");
        }
    }

    #[test]
    fn wide_rounds_up_to_whole_blocks() {
        for n in 2..=32usize {
            for k in 3..n {
                let exact = n as f64 / (k as f64).log2();
                let blocks = blocks_wide(n, k);
                assert!((exact - 1e-9..exact + 1.0).contains(&(blocks as f64)), "{n} {k}");
            }
        }
        assert_eq!((blocks_wide(5, 1), blocks_wide(5, 2), blocks_wide(6, 4)), (5, 5, 3));
    }
}
