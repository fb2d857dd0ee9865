//! The Bakery algorithm, on which Zehavi's algorithm is based: mutual exclusion, first come, first
//! served. Zehavi, section III; Lamport 1974.
//!
//! - choosing\[p\]: whether p is taking a ticket.
//! - num\[p\]: the ticket of p, or 0 if it has none.
//!
//! Doorway: lines 1 to 3.
//!
//! Differences from the paper: p does not read its own ticket, because p knows it. Line 2 reads in
//! ascending order.
//!
//! Tickets grow without bound. For two processes there is a normal form:
//! - If both processes have tickets, only the order of the tickets matters. So they become 1 and 2, or
//!   both 1.
//! - A maximum that a process has read matters only in one respect: whether it is 0. While p is at line
//!   2, num\[p\] is 0, so a ticket that the other process takes in the meantime is 1. If the maximum is
//!   not 0, then p's new ticket is larger than every ticket that the other process can have until then.
//!   So the maximum becomes 0 or 1, and the new ticket becomes 1 or 2.
//! - If only one process has a ticket, this ticket becomes 1, with one exception. If the other process
//!   is at line 2 with the maximum 0, it takes ticket 1, and then it matters whether the first ticket is
//!   1 or larger. So a larger ticket becomes 2. The other process can read the maximum 0 only while no
//!   process has a ticket. So if it is not at line 2 with the maximum 0 now, it does not get there while the
//!   first process has its ticket. Then the exact ticket does not matter.
//!
//! For more processes, there is no normal form. While one process has read a large ticket and not yet
//! taken a larger one, the others can start again from 1 and count past it. The time that this takes
//! depends on the exact ticket. So the checker explores tickets up to [`MAX_TICKET`] and reports this
//! limit.

use alloc::format;

use crate::framework::{
    layout::{Array, Decl, Layout},
    machine::{
        Algorithm, Label, Loc,
        Next::{self, Enter, Goto, Leave, Spin},
    },
    memory::{Memory, Pid, Word},
    pids::Pids,
};

/// The largest ticket that is explored.
pub const MAX_TICKET: Word = 6;

/// The Bakery algorithm, for k = 1.
pub struct Bakery {
    n: usize,
    layout: Layout,
    num: Array,
    choosing: Array,
}

/// The paper's lines. `i` is the loop variable, and `num` is the process's own ticket.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line {
    L1,
    /// Line 2 reads the tickets.
    L2Read {
        i: Pid,
        max: Word,
    },
    /// Line 2 takes a ticket.
    L2 {
        max: Word,
    },
    L3 {
        num: Word,
    },
    L4a {
        i: Pid,
        num: Word,
    },
    L4b {
        i: Pid,
        num: Word,
    },
    L5,
}
use Line::*;

impl Bakery {
    /// Builds the algorithm for `n` processes.
    ///
    /// # Panics
    /// Panics if `k` is not 1.
    pub fn new(n: usize, k: usize) -> Self {
        assert_eq!(k, 1, "the Bakery algorithm is for k = 1");
        let mut layout = Layout::default();
        let num = layout.array(n, |p| {
            Decl::number(format!("num[{p}]"), 0, MAX_TICKET, 0).at(p).waited_on().unbounded()
        });
        let choosing =
            layout.array(n, |p| Decl::flag(format!("choosing[{p}]"), false).at(p).waited_on());
        Bakery { n, layout, num, choosing }
    }

    fn others(&self, p: Pid) -> Pids {
        Pids::others(self.n, p)
    }
}

impl Algorithm for Bakery {
    type State = Line;

    fn n(&self) -> usize {
        self.n
    }

    fn k(&self) -> usize {
        1
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, _: Pid) -> Line {
        L1
    }

    #[rustfmt::skip] // a line of the paper is a line here
    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: Line) -> Next<Line> {
        let others = self.others(p);
        let first = others.first().unwrap_or(0);
        match at {
            L1 => { m.write(self.choosing.at(p), 1); Goto(L2Read { i: first, max: 0 }) }
            L2Read { i, max } => {
                let max = max.max(m.read(self.num.at(i)));
                Goto(others.after(i).map_or(L2 { max }, |i| L2Read { i, max }))
            }
            L2 { max } => { m.write(self.num.at(p), max + 1); Goto(L3 { num: max + 1 }) }
            L3 { num } => { m.write(self.choosing.at(p), 0); Goto(L4a { i: first, num }) }
            L4a { i, num } => if m.read(self.choosing.at(i)) != 0 { Spin(at) } else { Goto(L4b { i, num }) },
            L4b { i, num } => {
                let other = m.read(self.num.at(i));
                if other != 0 && (other, i) < (num, p) { return Spin(at); }
                others.after(i).map_or(Enter(L5), |i| Goto(L4a { i, num }))
            }
            L5 => { m.write(self.num.at(p), 0); Leave }
        }
    }

    fn waits(&self, _: Pid, at: Line) -> bool {
        matches!(at, L4a { .. } | L4b { .. })
    }

    fn label(&self, _: Pid, at: Line) -> Label {
        let (line, i) = match at {
            L1 => ("1", None),
            L2Read { i, .. } => ("2", Some(i)),
            L2 { .. } => ("2", None),
            L3 { .. } => ("3", None),
            L4a { i, .. } => ("4a", Some(i)),
            L4b { i, .. } => ("4b", Some(i)),
            L5 => ("5", None),
        };
        let instance = i.map_or_else(Default::default, |i| format!("{i}"));
        Label { figure: "bakery", line: line.into(), instance }
    }

    fn is_unbounded(&self) -> bool {
        true
    }

    fn normalize(&self, processes: &mut [Loc<Line>], memory: &mut [Word]) {
        if self.n > 2 {
            return;
        }
        let first = self.num.at(0).index();
        let num = &mut memory[first..first + 2];
        let takes_one = |loc: &Loc<Line>| matches!(loc, Loc::Entry(L2 { max: 0 }));
        let least = match [num[0], num[1]] {
            [a, b] if a != 0 && b != 0 => a.min(b),
            [a, b] if processes.iter().any(takes_one) => 1.min(a + b),
            [a, b] => a + b, // the only ticket, or 0 if there is none
        };
        let rank = |x: Word| Word::from(x != 0) + Word::from(x > least);
        num.iter_mut().for_each(|x| *x = rank(*x));
        for loc in processes {
            match loc {
                Loc::Entry(L3 { num } | L4a { num, .. } | L4b { num, .. }) => *num = rank(*num),
                Loc::Entry(L2Read { max, .. } | L2 { max }) => {
                    *max = Word::from(*max != 0);
                }
                _ => {}
            }
        }
    }
}
