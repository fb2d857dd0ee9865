//! The turnstile in front of a resilient object (see [`universal`](crate::objects::universal)). A
//! newcomer that finds room enters. A process that has failed twice draws a number and waits for its
//! turn.
//!
//! hallpass defines this algorithm; it is not from a paper. It is a counting semaphore made of two counters that only
//! grow: `drawn`, the numbers drawn, and `exits`, the number of exits. The holder of number t enters as soon
//! as `t - exits < k`, so processes with a number enter in order. A stopped process costs only one of the k slots.
//! Every process enters as long as fewer than k processes have stopped, wherever they stopped. A resilient object needs
//! exactly this.
//!
//! The turnstile also has to be fast when many threads run on few cores. If all processes entered in the
//! order of their numbers, each passage would wait for a sleeping thread, and the turnstile would be
//! slow. So at first, a process draws a number only if there is room (lines E1 to E3), and a newcomer
//! may overtake sleeping waiters. A waiter that has waited long enough draws a number even without room
//! (line E4). From then on, there is no room for newcomers until this waiter has entered. On real
//! memory, the code that runs the lines (crate `hallpass-objects`) decides how long a waiter waits before it
//! goes to line E4. Until then, the waiter starts again at E1 like a newcomer.
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
pub mod wrong;

/// The turnstile for `n` processes. At most `k` processes are in the critical section.
pub struct Turnstile {
    n: usize,
    k: usize,
    layout: Layout,
    drawn: Var,
    exits: Var,
}

/// The line that a process executes next. `e` is the value of the variable `exits` that the process has read. `t` is
/// the value of `drawn` that it has read, or its own number. `last` is true on the second attempt: if it
/// fails, the process goes to E4.
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
    /// Creates an empty turnstile.
    pub fn new(n: usize, k: usize) -> Self {
        let (base, max) = (k as Word, (2 * k + n) as Word);
        let mut layout = Layout::default();
        // The domain covers all normal forms. It goes from the smallest old value that a process may
        // remember to one more than the largest value. The variant that does not count exits needs k
        // more numbers than there are processes.
        let drawn = layout.add(Decl::number("drawn", base - 1, max + 1, base).unbounded());
        let exits = layout.add(Decl::number("exits", 0, base + 1, base).unbounded().waited_on());
        Turnstile { n, k, layout, drawn, exits }
    }

    /// Returns whether the holder of number `t` may enter after this many exits.
    fn has_room(&self, t: Word, exits: Word) -> bool {
        t - exits < self.k as Word
    }

    /// Returns the step after a failed try.
    fn try_again(last: bool) -> Next<Line> {
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
                if self.has_room(t, e) { Goto(E3 { last, t }) } else { Self::try_again(last) }
            }
            E3 { last, t } => match m.compare_and_swap(self.drawn, t, t + 1) {
                true => Enter(X1),
                false => Self::try_again(last),
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

    /// Shifts all numbers so that `exits` is k, because only differences matter. Then `drawn` is at least k, because
    /// `drawn` is at least `exits`. Replaces old numbers:
    ///
    /// - Line E2: if k or more processes have left since a process read `e`, its `e` is at most 0 after the
    ///   shift. With each such `e`, the process finds no room. So `e` becomes 0.
    /// - Line E3: if `drawn` is larger than `t`, the compare-and-swap fails, now and later, because `drawn` only grows.
    ///   So `t` becomes k - 1, a value that `drawn` never has.
    /// - Line E5: with each `t` up to k, the process may enter, now and later. So a `t` below k becomes k.
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
