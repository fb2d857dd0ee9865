//! Smaller numbers for a state of Choi's algorithm, so that the checker sees finitely many.
//!
//! Entry, exit, rounds and cells grow for ever. A state's normal form has the round of exit fixed,
//! and numbers for what is old that are as small as can be. It behaves as the state does, for ever:
//! steps from both access the same variables, take the same branches, and lead to states with the
//! same normal form. Why that is so:
//!
//! 1. *Shifting.* Only differences of tokens count, so a whole number of rounds may be taken off
//!    (or put onto) everything: N off entry and exit, 1 off every round and cell. So the round of
//!    exit becomes E, the same in every normal form.
//!
//! 2. *Who is too late.* Exit never falls. A process that is leaving with t' < exit - slack fails
//!    line 8 for every cell it has still to update, since none of their tokens is above t'. At
//!    lines 7 and 8 its round is therefore nothing to anybody; it becomes the floor F (see 4), which
//!    is too late as well. Where line 8 will fail, what line 7 has read does not matter and
//!    becomes 0.
//!
//! 3. *Stale reads.* Cells only grow (line 9 comes after a < e). If a process at line 8 or 9 has
//!    read an a that is not in the cell any more, its compare-and-swap will fail, whatever a is: it
//!    becomes 0, which no cell of a normal form holds. At line 9, if it is too late besides, its
//!    round goes to F as in 2. So a compare-and-swap that may succeed has a equal to the cell.
//!
//! 4. *What is old.* Let F = E - 1 - ceil((slack + k) / N). A round up to F is old. Tokens to come,
//!    those of processes that are not too late, and what they will write, are younger than F. So an
//!    old number meets young ones only to be found smaller, and is compared otherwise only within
//!    its block: with the round of an old waiter (is the cell that far?), and, in its own cell, with
//!    the rounds that old compare-and-swaps at line 9, which may succeed, are about to write there.
//!    For each block, the old waiters' rounds cut the old numbers into classes. Within a class, the
//!    numbers of one cell keep their order and lose their distance; numbers of different cells have
//!    nothing to do with each other. The classes are packed below F, the highest first.
//!
//! There are at most n old processes, so at most n + 1 such numbers are needed: each old waiter
//! begins a class, each old compare-and-swap adds a number to one, and the cells add one more.

use super::algorithm::{
    Choi,
    Line::{self, L2, L7, L8, L9},
    Rules, Token, Update,
};
use crate::{machine::Loc, memory::Word, registry::MOST_PROCESSES};

/// What a normal form has for a number that makes no difference. Until the cells have got their
/// values, one may be 0 itself; the other is none of theirs.
const NOTHING: Word = 0;
const NOTHING_YET: Word = Word::MIN;

/// How many numbers are kept for what is old.
fn room(n: usize) -> Word {
    n as Word + 1
}

/// By how many rounds what is not too late may be behind exit.
fn lag(rules: &Rules, cells: Word) -> Word {
    let k = rules.wait.len() as Word;
    (rules.slack + k).div_euclid(cells) + Word::from((rules.slack + k) % cells != 0)
}

/// E.
pub(super) fn round_of_exit(n: usize, rules: &Rules, cells: Word) -> Word {
    room(n) + 1 + lag(rules, cells)
}

impl Choi {
    /// The youngest round that is old, in a state with this exit.
    pub(super) fn floor(&self, exit: Word) -> Word {
        self.parse(exit).e - 1 - lag(&self.rules, self.cells())
    }

    /// Whether line 9 would change the cell.
    fn may_succeed(&self, u: Token, a: Word, memory: &[Word]) -> bool {
        self.rules.writes || memory[self.cell(u.i, u.j).index()] == a
    }

    /// The compare-and-swap on an old round that a process is about to make in block i.
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

    /// Takes `by` rounds off.
    fn shift(&self, by: Word, processes: &mut [Loc<Line>], memory: &mut [Word]) {
        if by == 0 {
            return;
        }
        memory[self.entry.index()] -= by * self.cells();
        memory[self.exit.index()] -= by * self.cells();
        for f in 0..self.blocks * self.k {
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

    /// Forgets what a leaving process knows that makes no difference.
    fn forget(&self, at: &mut Loc<Line>, exit: Word, floor: Word, memory: &[Word]) {
        match at {
            Loc::Exit(L7 { u }) => {
                if self.too_late(u.last, exit) {
                    u.last.e = floor;
                }
            }
            Loc::Exit(L8 { u, a }) => {
                let token = self.target(*u);
                let stale = *a < token.e && memory[self.cell(token.i, token.j).index()] != *a;
                if stale || self.too_late(token, exit) {
                    *a = NOTHING_YET;
                }
                if self.too_late(u.last, exit) {
                    u.last.e = floor;
                }
            }
            Loc::Exit(L9 { u, a }) => {
                let may_succeed = self.may_succeed(self.target(*u), *a, memory);
                if !may_succeed && self.too_late(u.last, exit) {
                    u.last.e = floor;
                }
                if !may_succeed || self.rules.writes {
                    *a = NOTHING_YET;
                }
            }
            _ => {}
        }
    }
}

/// Replaces the state by its normal form.
pub(super) fn normalize(choi: &Choi, processes: &mut [Loc<Line>], memory: &mut [Word]) {
    let now = round_of_exit(choi.n, &choi.rules, choi.cells());
    let by = choi.parse(memory[choi.exit.index()]).e - now;
    choi.shift(by, processes, memory);
    let exit = memory[choi.exit.index()];
    let floor = choi.floor(exit);
    for at in processes.iter_mut() {
        choi.forget(at, exit, floor, memory);
    }
    for i in 0..choi.blocks as u8 {
        Old::of(choi, i, floor, processes).pack(processes, memory);
    }
    for at in processes {
        if let Loc::Exit(L8 { a, .. } | L9 { a, .. }) = at
            && *a == NOTHING_YET
        {
            *a = NOTHING;
        }
    }
}

/// What is old in a block.
struct Old<'a> {
    choi: &'a Choi,
    i: u8,
    floor: Word,
    /// The rounds of old waiters, ascending, each once.
    waiters: Few,
}

/// A few numbers.
#[derive(Clone, Copy)]
struct Few {
    numbers: [Word; MOST_PROCESSES + 1],
    len: usize,
}

impl Few {
    const NONE: Few = Few { numbers: [0; MOST_PROCESSES + 1], len: 0 };

    fn as_slice(&self) -> &[Word] {
        &self.numbers[..self.len]
    }

    fn insert(&mut self, number: Word) {
        let place = self.as_slice().partition_point(|&other| other < number);
        if self.as_slice().get(place) != Some(&number) {
            self.numbers.copy_within(place..self.len, place + 1);
            self.numbers[place] = number;
            self.len += 1;
        }
    }

    /// How many are at most this.
    fn up_to(&self, number: Word) -> usize {
        self.as_slice().partition_point(|&other| other <= number)
    }
}

impl<'a> Old<'a> {
    fn of(choi: &'a Choi, i: u8, floor: Word, processes: &[Loc<Line>]) -> Self {
        let mut waiters = Few::NONE;
        for at in processes {
            if let Loc::Entry(L2 { t, .. }) = at
                && t.i == i
                && t.e <= floor
            {
                waiters.insert(t.e);
            }
        }
        Old { choi, i, floor, waiters }
    }

    /// The old numbers of one cell.
    fn numbers(&self, j: u8, processes: &[Loc<Line>], memory: &[Word]) -> Few {
        let mut numbers = Few::NONE;
        let cell = memory[self.choi.cell(self.i, j).index()];
        if cell <= self.floor {
            numbers.insert(cell);
        }
        for at in processes {
            if let Some(token) = self.choi.old_swap(at, self.i, self.floor, memory)
                && token.j == j
            {
                numbers.insert(token.e);
            }
        }
        numbers
    }

    /// Gives the old numbers of the block their normal values.
    fn pack(self, processes: &mut [Loc<Line>], memory: &mut [Word]) {
        let (choi, floor) = (self.choi, self.floor);
        let k = choi.k as u8;
        let old_cells = (0..k).any(|j| memory[choi.cell(self.i, j).index()] <= floor);
        // An old swap that may succeed has an old cell. A write needs none.
        if !old_cells && self.waiters.len == 0 && !choi.rules.writes {
            return;
        }
        // How many numbers each class takes, and from that, where it begins.
        let mut sizes = [0; MOST_PROCESSES + 1];
        sizes[1..=self.waiters.len].fill(1);
        for j in 0..k {
            let numbers = self.numbers(j, processes, memory);
            let mut of_cell = [0; MOST_PROCESSES + 1];
            for &number in numbers.as_slice() {
                of_cell[self.waiters.up_to(number)] += 1;
            }
            for (size, of_cell) in sizes.iter_mut().zip(of_cell) {
                *size = of_cell.max(*size);
            }
        }
        let mut first = [0; MOST_PROCESSES + 1];
        let mut next = floor + 1;
        for class in (0..=self.waiters.len).rev() {
            next -= sizes[class];
            first[class] = next;
        }
        assert!(next >= 1, "more old numbers than processes");

        // All new values are found before any is changed: a swap is known by its cell's old value.
        let mut swaps = [None; MOST_PROCESSES];
        for j in 0..k {
            let numbers = self.numbers(j, processes, memory);
            let new = |number| {
                let class = self.waiters.up_to(number);
                let same = |&&other: &&Word| self.waiters.up_to(other) == class && other < number;
                first[class] + numbers.as_slice().iter().filter(same).count() as Word
            };
            for (at, swap) in processes.iter().zip(&mut swaps) {
                match choi.old_swap(at, self.i, floor, memory) {
                    Some(token) if token.j == j => *swap = Some(new(token.e)),
                    _ => {}
                }
            }
            let var = choi.cell(self.i, j).index();
            if memory[var] <= floor {
                let value = new(memory[var]);
                for at in processes.iter_mut() {
                    if let Loc::Exit(L8 { u, a } | L9 { u, a }) = at {
                        let token = choi.target(*u);
                        if (token.i, token.j) == (self.i, j) && *a == memory[var] {
                            *a = value;
                        }
                    }
                }
                memory[var] = value;
            }
        }
        for (at, swap) in processes.iter_mut().zip(swaps) {
            match at {
                Loc::Entry(L2 { t, .. }) if t.i == self.i && t.e <= floor => {
                    t.e = first[self.waiters.up_to(t.e)];
                }
                Loc::Exit(L9 { u, .. }) => {
                    if let Some(new) = swap {
                        let old = choi.target(*u).e;
                        *u = Update { last: Token { e: u.last.e + new - old, ..u.last }, ..*u };
                    }
                }
                _ => {}
            }
        }
    }
}
