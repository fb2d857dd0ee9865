//! The turnstile before a [`Resilient`](crate::objects::universal) object: who finds room goes through, and
//! only one who has failed often enough draws a number.
//!
//! Ours. A counting semaphore by two counters that only grow: numbers drawn, and exits. The holder of
//! number t is in as soon as t - exits < k, so whoever has drawn a number is served in turn, and one
//! that stops takes no more than its own place with it: everybody gets in while fewer than k have
//! stopped, wherever they did. That is all a resilient object needs.
//!
//! What it needs as well is speed where threads are many and cores few, and numbers in turn are slow
//! then: each passage waits for a thread that sleeps. So a number is first drawn only if there is room
//! (lines E1 to E3), and who comes at the right time overtakes those that sleep. A waiter that
//! has been patient draws one anyway (E4), and with that the door is closed to all who come later: there
//! is no room for them before it has had its turn. Natively, it is the driver who says how long one is
//! patient: until then, it has it begin at E1 again, as if it had come just now.
//!
//! Doorway: E1 to E4.

use alloc::string::String;

use crate::framework::{
    layout::{Decl, Layout},
    machine::{
        Algorithm, Label, Loc,
        Next::{self, Enter, Goto, Leave, Spin},
    },
    memory::{Memory, Pid, Var, Word},
};

pub mod entries;

/// The turnstile for `n` processes of which `k` may be in.
pub struct Turnstile {
    n: usize,
    k: usize,
    layout: Layout,
    drawn: Var,
    exits: Var,
}

/// Where a process stands: e and t are what it has read of exits and of the numbers drawn, or its own
/// number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line {
    E1 { last: bool },
    E2 { last: bool, e: Word },
    E3 { last: bool, t: Word },
    E4,
    E5 { t: Word },
    X1,
}
use Line::*;

impl Turnstile {
    /// With nobody in.
    pub fn new(n: usize, k: usize) -> Self {
        let (base, most) = (k as Word, (2 * k + n) as Word);
        let mut layout = Layout::default();
        // From what a process may remember of the past, in a normal form, to one more than there can be;
        // if exits were not counted, k more than there are processes could have a number.
        let drawn = layout.add(Decl::number("drawn", base - 1, most + 1, base).unbounded());
        let exits = layout.add(Decl::number("exits", 0, base + 1, base).unbounded().waited_on());
        Turnstile { n, k, layout, drawn, exits }
    }

    /// Whether number `t` is in when so many have left.
    fn has_room(&self, t: Word, exits: Word) -> bool {
        t - exits < self.k as Word
    }

    /// After a try in vain.
    fn again(last: bool) -> Next<Line> {
        Goto(if last { E4 } else { E1 { last: true } })
    }
}

impl Algorithm for Turnstile {
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
        E1 { last: false }
    }

    #[inline]
    fn step<M: Memory>(&self, m: &mut M, _: Pid, at: Line) -> Next<Line> {
        match at {
            E1 { last } => Goto(E2 { last, e: m.read(self.exits) }),
            E2 { last, e } => {
                let t = m.read(self.drawn);
                if self.has_room(t, e) { Goto(E3 { last, t }) } else { Self::again(last) }
            }
            E3 { last, t } => match m.compare_and_swap(self.drawn, t, t + 1) {
                true => Enter(X1),
                false => Self::again(last),
            },
            E4 => Goto(E5 { t: m.fetch_add(self.drawn, 1) }),
            E5 { t } => match self.has_room(t, m.read(self.exits)) {
                true => Enter(X1),
                false => Spin(E5 { t }),
            },
            X1 => {
                m.fetch_add(self.exits, 1);
                Leave
            }
        }
    }

    fn waits(&self, _: Pid, at: Line) -> bool {
        matches!(at, E5 { .. })
    }

    fn label(&self, _: Pid, at: Line) -> Label {
        let line = match at {
            E1 { .. } => "E1",
            E2 { .. } => "E2",
            E3 { .. } => "E3",
            E4 => "E4",
            E5 { .. } => "E5",
            X1 => "X1",
        };
        Label { figure: "turnstile", line: line.into(), instance: String::new() }
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn is_unbounded(&self) -> bool {
        true
    }

    /// Only differences count, so all numbers are shifted until exits is k. Numbers of the past: the
    /// e of line E2 finds no room if k or more have left since, whatever is drawn; it then becomes 0,
    /// which finds none either. The compare-and-swap of line E3 fails for ever once more numbers have
    /// been drawn than t; it then becomes k - 1. Who has a number that is in stays in, whatever the
    /// number: it becomes k at least.
    fn normalize(&self, processes: &mut [Loc<Line>], memory: &mut [Word]) {
        let base = self.k as Word;
        let shift = memory[self.exits.index()] - base;
        memory[self.exits.index()] -= shift;
        memory[self.drawn.index()] -= shift;
        let drawn = memory[self.drawn.index()];
        for process in processes {
            if let Loc::Entry(line) = process {
                match line {
                    E2 { e, .. } => *e = (*e - shift).max(0),
                    E3 { t, .. } if *t - shift < drawn => *t = base - 1,
                    E3 { t, .. } => *t -= shift,
                    E5 { t } => *t = (*t - shift).max(base),
                    _ => {}
                }
            }
        }
    }
}

/// Variants that are wrong on purpose.
pub mod broken {
    use super::*;
    use crate::changed_lines;

    changed_lines! {
        Turnstile, Line => Next<Line>;
        /// Line E3 draws a number without looking whether it is the one there was room for.
        NoCompare: |s, m, _p| {
            E3 { .. } => { m.fetch_add(s.drawn, 1); Enter(X1) },
        }
        /// Line E4 does not draw a number: who was patient is no better off.
        NoNumber: |s, m, _p| {
            E4 => { m.read(s.drawn); Goto(E1 { last: true }) },
        }
        /// Line X1 tells nobody.
        NoExit: |s, m, _p| {
            X1 => { m.read(s.exits); Leave },
        }
    }
}
