//! (k+1, k)-exclusion for distributed shared memory with one spin location per process and block.
//! Anderson & Moir 1997, Figure 8.
//!
//! - X: the number of free slots, from k down to -1 (declared down to k-n, as in Figure 3).
//! - Q: the process whose spin location is *current*: the next process that queues or leaves sets this location.
//! - v: a private variable, the value that a process has read from Q.
//! - P\[p\]: whether p has been released. This variable is in the memory of p, and p waits on no other variable.
//!
//! - I5: at most k+1 processes are at lines 2..14 (below: "at 2..14").   I6: X = k - the number of processes at 3..10.
//! - I7: P\[p\] clear => Q = p; and some process is at 5, 6, 13, 14 if and only if every P is set.
//! - I8: at most one process is at 5, 6, 13, 14.
//! - I9: p at 6, 14, or at 7..8 with P\[p\] clear => Q = p.
//! - I10: X < 0 => some process is at 3, at 4 with v = Q, at 5..6, or at 7..8 with its P clear.
//! - I11: at most k processes are at 9.
//! - U2: if p is at 8 and P\[p\] is set, this stays true until p is at 9 ("unless" in the paper).
//! - L3, L4 (here these are statements, not lines): the outer levels let every process through, on the way in and
//!   on the way out.
//! - Footnote 8: k+1 processes can be at 3..8 at the same time.
//!
//! Cost: 9 remote references on a computer with distributed shared memory.

use alloc::format;

use super::block::{Block, BlockInstance, BlockStep, BlockView, Within, first_broken};
use crate::framework::{
    layout::{Array, Decl, Init, Layout},
    machine::Next::{self, Enter, Goto, Leave, Spin},
    memory::{Memory, Pid, Var, Word},
    statement::{Observed, RunStatement},
};

/// The variables of one block.
pub struct Fig8 {
    pub(super) k: Word,
    pub(super) x: Var,
    pub(super) q: Var,
    pub(super) p: Array,
}

/// The paper's lines. `v` is the private variable of lines 3 to 4 and 11 to 12.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line {
    L2,
    L3,
    L4 { v: u8 },
    L5,
    L6,
    L7,
    L8,
    L10,
    L11,
    L12 { v: u8 },
    L13,
    L14,
}
use Line::*;

impl Block for Fig8 {
    const FIGURE: &'static str = "fig8";
    const CRITICAL: u8 = 9;
    const SYMMETRIC: bool = false; // Q initially names process 0
    const INVARIANTS: &'static [&'static str] = &["I5", "I6", "I7", "I8", "I9", "I10", "I11"];
    const STATEMENTS: &'static [RunStatement] = &[
        RunStatement::always("U2"),
        RunStatement::leads_to(Self::PASSES_OUTER),
        RunStatement::leads_to(Self::LEAVES_OUTER),
        RunStatement::sometimes("footnote-8"),
    ];
    const PASSES_OUTER: &'static str = "L3";
    const LEAVES_OUTER: &'static str = "L4";

    type Line = Line;
    const ENTRY: Line = L2;
    const EXIT: Line = L10;

    type Shared = ();
    fn share(_: &mut Layout, _: usize, _: usize) {}

    fn new(
        layout: &mut Layout,
        (): (),
        BlockInstance { n, k, name, .. }: BlockInstance<'_>,
    ) -> Self {
        Fig8 {
            k: k as Word,
            x: layout.add(Decl::number(
                format!("X.{name}"),
                (k as Word - n as Word).min(-1),
                k as Word,
                k as Word,
            )),
            q: layout.add(Decl::pid(format!("Q.{name}"), n, Init::Is(0))),
            p: layout.array(n, |p| Decl::flag(format!("P.{name}[{p}]"), p != 0).at(p).waited_on()),
        }
    }

    #[rustfmt::skip] // a line of the paper is a line here
    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: Line) -> Next<Line> {
        let spin = |v: u8| self.p.at(v as usize);
        match at {
            L2 => if m.fetch_add(self.x, -1) == 0 { Goto(L3) } else { Enter(L10) },
            L3 => Goto(L4 { v: m.read(self.q) as u8 }),
            L4 { v } => if !m.test_and_set(spin(v)) { Goto(L5) } else { Enter(L10) },
            L5 => { m.write(self.q, p as Word); Goto(L6) }
            L6 => { m.write(self.p.at(p), 0); Goto(L7) }
            L7 => if m.read(self.x) < 0 { Goto(L8) } else { Enter(L10) },
            L8 => if m.read(self.p.at(p)) == 0 { Spin(L8) } else { Enter(L10) },
            L10 => { m.fetch_add(self.x, 1); Goto(L11) }
            L11 => Goto(L12 { v: m.read(self.q) as u8 }),
            L12 { v } => if !m.test_and_set(spin(v)) { Goto(L13) } else { Leave },
            L13 => { m.write(self.q, p as Word); Goto(L14) }
            L14 => { m.write(self.p.at(p), 0); Leave }
        }
    }

    #[rustfmt::skip]
    fn number(at: Line) -> u8 {
        match at {
            L2 => 2, L3 => 3, L4 { .. } => 4, L5 => 5, L6 => 6, L7 => 7, L8 => 8,
            L10 => 10, L11 => 11, L12 { .. } => 12, L13 => 13, L14 => 14,
        }
    }

    fn waits(at: Line) -> bool {
        at == L8
    }

    fn broken_invariant(&self, s: &BlockView<'_, Self>) -> Option<&'static str> {
        let (x, q) = (s.value(self.x), s.value(self.q));
        let set = |p: Pid| s.is_set(self.p.at(p));
        let everyone = 0..s.processes.len();
        let enqueuing = [5, 6, 13, 14];
        let v_is_q = |p: Pid| matches!(s.processes[p], Within::At(L4 { v }) if Word::from(v) == q);
        first_broken([
            ("I5", s.count(2..=14) <= self.k + 1),
            ("I6", x == self.k - s.count(3..=10)),
            (
                "I7",
                everyone.clone().all(|p| set(p) || q == p as Word)
                    && s.any(&enqueuing, |_| true) == everyone.clone().all(set),
            ),
            ("I8", s.count(5..=6) + s.count(13..=14) <= 1),
            (
                "I9",
                s.all(&[6, 14], |p| q == p as Word) && s.all(&[7, 8], |p| set(p) || q == p as Word),
            ),
            (
                "I10",
                x >= 0
                    || s.any(&[3, 5, 6], |_| true)
                    || s.any(&[4], v_is_q)
                    || s.any(&[7, 8], |p| !set(p)),
            ),
            ("I11", s.count(9..=9) <= self.k),
        ])
    }

    fn observe(&self, statement: &str, step: &BlockStep<'_, Self>) -> Observed {
        if statement == "footnote-8" {
            let found = step.after.count(3..=8) == self.k + 1;
            return Observed { found, applies: true, ..Observed::default() };
        }
        step.unless(
            |s, p| s.is_at(p, &[8]) && s.is_set(self.p.at(p)),
            |s, p| s.is_at(p, &[Self::CRITICAL]),
        )
    }
}
