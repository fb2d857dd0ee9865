//! (k+1, k)-exclusion for cache-coherent machines.
//! Anderson & Moir 1997, Figure 3.
//!
//! X: the number of free slots, from k down to -1. Q: the process that may be waiting. A leaving process also writes
//! its own number to Q, and so releases the waiting process.
//!
//! - I1: at most k+1 processes are at lines 2..8 (the outer level guarantees this).
//! - I2: X = k - the number of processes at lines 3..7.
//! - I3: X < 0 => some process is at 3, or a process p is at 4..5 and Q = p.
//! - I4: at most k processes are at 6.
//! - U1: if p is at 5 and Q is not p, this stays true until p is at 6 ("unless" in the paper).
//! - L1, L2 (here these are statements, not lines): the outer levels let every process through, on the way in and
//!   on the way out.
//!
//! Cost: 7 remote references on a cache-coherent computer (line 5 counts twice).
//!
//! Difference from the paper: the declared range of X starts at k-n. A wrong arrangement that admits too
//! many processes then shows as a violation of exclusion. With the smaller range, it would show as a
//! value of X outside the range.

use alloc::format;

use super::block::{Block, BlockInstance, BlockStep, BlockView, first_broken};
use crate::framework::{
    layout::{Decl, Init, Layout},
    machine::Next::{self, Enter, Goto, Leave, Spin},
    memory::{Memory, Pid, Var, Word},
    statement::{Observed, RunStatement},
};

/// The variables of one block.
pub struct Fig3 {
    pub(super) k: Word,
    pub(super) x: Var,
    pub(super) q: Var,
}

/// The paper's lines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line {
    L2,
    L3,
    L4,
    L5,
    L7,
    L8,
}
use Line::*;

impl Block for Fig3 {
    const FIGURE: &'static str = "fig3";
    const CRITICAL: u8 = 6;
    const SYMMETRIC: bool = true;
    const INVARIANTS: &'static [&'static str] = &["I1", "I2", "I3", "I4"];
    const STATEMENTS: &'static [RunStatement] = &[
        RunStatement::always("U1"),
        RunStatement::leads_to(Self::PASSES_OUTER),
        RunStatement::leads_to(Self::LEAVES_OUTER),
    ];
    const PASSES_OUTER: &'static str = "L1";
    const LEAVES_OUTER: &'static str = "L2";

    type Line = Line;
    const ENTRY: Line = L2;
    const EXIT: Line = L7;

    type Shared = ();
    fn share(_: &mut Layout, _: usize, _: usize) {}

    fn new(
        layout: &mut Layout,
        (): (),
        BlockInstance { n, k, name, .. }: BlockInstance<'_>,
    ) -> Self {
        let (n, k) = (n as Word, k as Word);
        Fig3 {
            k,
            x: layout.add(Decl::number(format!("X.{name}"), (k - n).min(-1), k, k)),
            q: layout.add(Decl::pid(format!("Q.{name}"), n as usize, Init::Open).waited_on()),
        }
    }

    #[rustfmt::skip] // a line of the paper is a line here
    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: Line) -> Next<Line> {
        match at {
            L2 => if m.fetch_add(self.x, -1) == 0 { Goto(L3) } else { Enter(L7) },
            L3 => { m.write(self.q, p as Word); Goto(L4) }
            L4 => if m.read(self.x) < 0 { Goto(L5) } else { Enter(L7) },
            L5 => if m.read(self.q) == p as Word { Spin(L5) } else { Enter(L7) },
            L7 => { m.fetch_add(self.x, 1); Goto(L8) }
            L8 => { m.write(self.q, p as Word); Leave }
        }
    }

    #[rustfmt::skip]
    fn number(at: Line) -> u8 {
        match at { L2 => 2, L3 => 3, L4 => 4, L5 => 5, L7 => 7, L8 => 8 }
    }

    fn waits(at: Line) -> bool {
        at == L5
    }

    fn broken_invariant(&self, s: &BlockView<'_, Self>) -> Option<&'static str> {
        let (x, q) = (s.value(self.x), s.value(self.q));
        first_broken([
            ("I1", s.count(2..=8) <= self.k + 1),
            ("I2", x == self.k - s.count(3..=7)),
            ("I3", x >= 0 || s.any(&[3], |_| true) || s.any(&[4, 5], |p| q == p as Word)),
            ("I4", s.count(6..=6) <= self.k),
        ])
    }

    fn observe(&self, _: &str, step: &BlockStep<'_, Self>) -> Observed {
        step.unless(
            |s, p| s.is_at(p, &[5]) && s.value(self.q) != p as Word,
            |s, p| s.is_at(p, &[Self::CRITICAL]),
        )
    }
}
