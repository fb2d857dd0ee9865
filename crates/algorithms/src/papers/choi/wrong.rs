//! Deliberately wrong variants of Choi's algorithm. The checker must reject each of them and name the violation. Some
//! do not fail at the small sizes that the lab explores: for these, a recorded run in `atlas.toml` shows the violation.
//!
//! With k <= 2, many processes update each cell, so two of these mistakes do no harm there: dropping
//! line 6, and waiting only on the process's own cell. These variants fail from n = 4, k = 3 on.

use alloc::vec;

use super::{
    algorithm::{
        Choi,
        Line::{self, L3, L7, L8, L9},
        Parameters, Token, Update,
    },
    bounded::{self, Bounded},
};
use crate::{
    changed_lines,
    framework::{
        changed::Changed,
        machine::Next::{self, Goto, Spin},
        memory::{Memory, Word},
    },
};

/// Builds the algorithm without {-1} in line 4: no process updates the previous block.
pub fn no_previous(n: usize, k: usize) -> Choi {
    let mut parameters = Parameters::new(n, k);
    parameters.update.iter_mut().for_each(|list| list.retain(|&r| r >= 0));
    Choi::with(n, k, parameters)
}

/// Builds the algorithm with a line 4 that updates the cells in descending order.
pub fn descending(n: usize, k: usize) -> Choi {
    let mut parameters = Parameters::new(n, k);
    parameters.update.iter_mut().for_each(|list| list.reverse());
    Choi::with(n, k, parameters)
}

/// Builds the algorithm with a line 2 that waits only on the process's own cell.
pub fn own_cell(n: usize, k: usize) -> Choi {
    let wait = (0..k).map(|j| vec![j as u8]).collect();
    Choi::with(n, k, Parameters { wait, ..Parameters::new(n, k) })
}

/// Builds the algorithm with a line 9 that writes the cell without comparing it with the value that line 7 has
/// read.
pub fn write(n: usize, k: usize) -> Changed<Choi, Write> {
    let parameters = Parameters { cells_may_fall: true, ..Parameters::new(n, k) };
    Changed::new(Choi::with(n, k, parameters))
}

changed_lines! {
    Choi, Line => Next<Line>;
    /// Line 6 is dropped: a process tries to update each cell only once.
    Once: |s, m, _p| {
        L8 { u, a } => {
            let target = s.target(u);
            if !s.too_late(target, m.read(s.exit)) && a < target.e {
                Goto(L9 { u, a })
            } else {
                s.next_cell(u)
            }
        },
        L9 { u, a } => {
            let Token { e, i, j } = s.target(u);
            m.compare_and_swap(s.cell(i, j), a, e);
            s.next_cell(u)
        },
    }
    /// Line 3 adds k+1: each process releases one token too many.
    OneAhead: |s, m, _p| {
        L3 => {
            let last = s.parse(m.fetch_add(s.exit, 1) + s.k as Word + 1);
            Goto(L7 { u: Update { last, r: 0, second: false } })
        },
    }
    /// Line 3 adds k-1: each process releases one token too few.
    OneBehind: |s, m, _p| {
        L3 => {
            let last = s.parse(m.fetch_add(s.exit, 1) + s.k as Word - 1);
            Goto(L7 { u: Update { last, r: 0, second: false } })
        },
    }
    /// The changed line of [`write`](fn@write).
    Write: |s, m, _p| {
        L9 { u, .. } => {
            let Token { e, i, j } = s.target(u);
            m.write(s.cell(i, j), e);
            s.after(u)
        },
    }
}

changed_lines! {
    Bounded, bounded::Line => Next<bounded::Line>;
    /// Line 3 is dropped: a waiter never finds out that its token is old.
    Ageless: |s, m, _p| {
        bounded::Line::L2 { t } => match s.may_enter(t, m.read(s.exit)) {
            true => Next::Enter(bounded::Line::L4),
            false => Spin(bounded::Line::L2 { t }),
        },
    }
}
