//! The old numbers of a block: point 5 of the [normal form](super).

use super::{
    super::algorithm::{
        Choi,
        Line::{self, L2, L9},
        Token, Update,
    },
    SATISFIED_MARKER,
};
use crate::{
    framework::{machine::Loc, memory::Word},
    registry::MAX_PROCESSES,
};

/// The old numbers of a block.
pub(super) struct Old<'a> {
    choi: &'a Choi,
    i: u8,
    floor: Word,
    /// The rounds of the old waiters, in ascending order and without repetition.
    waiters: Few,
}

/// A small sorted set of numbers.
#[derive(Clone, Copy)]
struct Few {
    numbers: [Word; MAX_PROCESSES + 1],
    len: usize,
}

impl Few {
    const NONE: Few = Few { numbers: [0; MAX_PROCESSES + 1], len: 0 };

    fn as_slice(&self) -> &[Word] {
        &self.numbers[..self.len]
    }

    fn insert(&mut self, number: Word) {
        let index = self.as_slice().partition_point(|&other| other < number);
        if self.as_slice().get(index) != Some(&number) {
            self.numbers.copy_within(index..self.len, index + 1);
            self.numbers[index] = number;
            self.len += 1;
        }
    }

    /// Returns the number of elements that are at most `number`.
    fn up_to(&self, number: Word) -> usize {
        self.as_slice().partition_point(|&other| other <= number)
    }
}

impl<'a> Old<'a> {
    /// Collects the old waiters of block `i`.
    pub(super) fn of(choi: &'a Choi, i: u8, floor: Word, processes: &[Loc<Line>]) -> Self {
        let mut waiters = Few::NONE;
        for at in processes {
            if let Loc::Entry(L2 { t, .. }) = at
                && t.i == i
                && t.e <= floor
                && t.e != SATISFIED_MARKER
            {
                waiters.insert(t.e);
            }
        }
        Old { choi, i, floor, waiters }
    }

    /// Returns the old numbers of one cell.
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
    pub(super) fn pack(self, processes: &mut [Loc<Line>], memory: &mut [Word]) {
        let (choi, floor) = (self.choi, self.floor);
        let k = choi.k as u8;
        let old_cells = (0..k).any(|j| memory[choi.cell(self.i, j).index()] <= floor);
        // If an old compare-and-swap may succeed, its cell is old. A write does not need an old cell.
        if !old_cells && self.waiters.len == 0 && !choi.parameters.cells_may_fall {
            return;
        }
        // The number of values that each class takes. The first value of each class follows from these
        // numbers.
        let mut sizes = [0; MAX_PROCESSES + 1];
        sizes[1..=self.waiters.len].fill(1);
        for j in 0..k {
            let numbers = self.numbers(j, processes, memory);
            let mut of_cell = [0; MAX_PROCESSES + 1];
            for &number in numbers.as_slice() {
                of_cell[self.waiters.up_to(number)] += 1;
            }
            for (size, of_cell) in sizes.iter_mut().zip(of_cell) {
                *size = of_cell.max(*size);
            }
        }
        let mut first = [0; MAX_PROCESSES + 1];
        let mut next = floor + 1;
        for class in (0..=self.waiters.len).rev() {
            next -= sizes[class];
            first[class] = next;
        }
        assert!(next >= 1, "more old numbers than processes");

        // All new values are computed before any value is changed, because `old_swap` compares what a
        // process has read with the old value of the cell.
        let mut swaps = [None; MAX_PROCESSES];
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
                choi.replace((self.i, j), value, processes, memory);
            }
        }
        for (at, swap) in processes.iter_mut().zip(swaps) {
            match at {
                Loc::Entry(L2 { t, .. })
                    if t.i == self.i && t.e <= floor && t.e != SATISFIED_MARKER =>
                {
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
