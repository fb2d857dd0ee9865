//! (k+1, k)-exclusion for distributed shared memory with two spin locations per process. A process uses
//! the same two locations in all blocks. Anderson & Moir 1997, Figure 9.
//!
//! - X: the number of free slots (the declared range starts at k-n, as in Figure 3).
//! - Z: whether some process is at lines 4..8 (below: "at 4..8").
//! - Q: the process that may be waiting.
//! - v: a private variable, the value that a process has read from Q.
//! - P\[p\], R\[p\]: a flag, and the number of the block for which the flag was last set. They are in
//!   the memory of p, and p waits on no other variable. The next process that queues releases P\[p\]. Leaving
//!   processes release R\[p\], in case the next process that queues stops before it reaches line 5.
//! - IN: the number of this block, a constant. Process p waits while P\[p\] and R\[p\] are (false, IN).
//!   To release P\[p\] or R\[p\], another process changes it to (true, IN).
//!
//! - I12: at most k+1 processes are at 2..16.   I13: X = k - the number of processes at 3..14.
//! - I14: Z is set if and only if some process is at 4..8.   I15: at most one process is at 4..8.
//! - I16: p at 5..6 => v = Q.   I17: p at 6 => P\[v\] is not (false, IN).
//! - I18: p at 7..8 => Q = p.   I19: p at 8 => P\[p\] = (false, IN).
//! - I20: p at 9..12 => Q = p and (not Z or some process is at 4..5), or P\[p\] is not (false, IN).
//! - I21: p at 11..12 with P\[p\] = (false, IN) => Q = p.
//! - I22: X < 0 => some process is at 3..8, or at 9 with P = (false, IN), or at 10..12 with both P and
//!   R = (false, IN).
//! - I23: at most k processes are at 13.
//! - U3: if p is at 11..12 and P\[p\] or R\[p\] is not (false, IN), this stays true until p is at 13
//!   ("unless" in the paper).
//! - S1 to S6 (Lemma 2) are about the steps at lines outside this block. If P\[p\] contains the number of
//!   this block, such a step of another process does not change P\[p\] (S1), and such a step of p either
//!   does not change P\[p\] or replaces the number (S3). If P\[p\] contains another number, no such step
//!   writes the number of this block to P\[p\] (S5). S2, S4 and S6 say the same about R\[p\].
//! - L5, L6 (here these are statements, not lines): the outer levels let every process through, on the way in and
//!   on the way out.
//!
//! Cost: 10 remote references on a computer with distributed shared memory.
//!
//! The paper leaves the initial values of P and R open. So does this file: every flag and every block
//! number is a possible initial value.

use alloc::{format, string::String, vec::Vec};

use super::block::{Block, BlockInstance, BlockStep, BlockView, Within, first_broken};
use crate::framework::{
    layout::{Array, Codec, Decl, Init, Kind, Layout},
    machine::Next::{self, Enter, Goto, Leave, Spin},
    memory::{Memory, Pid, Var, Word},
    statement::{Observed, RunStatement},
};

/// The variables of one block.
pub struct Fig9 {
    pub(super) k: Word,
    pub(super) instance: Word,
    pub(super) x: Var,
    pub(super) z: Var,
    pub(super) q: Var,
    pub(super) spin: SpinLocations,
}

/// The spin locations that all blocks share.
#[derive(Clone, Copy)]
pub struct SpinLocations {
    pub(super) r: Array,
    pub(super) p: Array,
}

/// The paper's lines. `v` is the private variable of lines 4 to 5 and 15 to 16. Line 6 keeps it only for
/// I17.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line {
    L2,
    L3,
    L4,
    L5 { v: u8 },
    L6 { v: u8 },
    L7,
    L8,
    L9,
    L10,
    L11,
    L12,
    L14,
    L15,
    L16 { v: u8 },
}
use Line::*;

impl Fig9 {
    /// Evaluates one of S1 to S6 on a step, for every process p. `spin` is P or R.
    ///
    /// `triple` evaluates the statement, which the paper writes as a Hoare triple. Its arguments are whether p
    /// makes the step, and the values of the spin location of p before and after the step.
    fn triple(
        &self,
        step: &BlockStep<'_, Self>,
        spin: Array,
        triple: impl Fn(bool, Word, Word) -> Observed,
    ) -> Observed {
        let Some(mover) = step.mover_elsewhere() else { return Observed::default() };
        (0..step.before.processes.len()).fold(Observed::default(), |all, p| {
            let [before, after] = [&step.before, &step.after].map(|s| s.value(spin.at(p)));
            all.any(triple(mover == p, before, after))
        })
    }

    /// Returns whether `word`, the value of a spin location, has the number of this block.
    fn is_ours(&self, word: Word) -> bool {
        word >> 1 == self.instance
    }

    /// Packs the pair (flag, IN) into one word.
    pub(super) fn word(&self, flag: bool) -> Word {
        2 * self.instance + Word::from(flag)
    }
}

/// The format of a flag and an instance number: `2 * instance + flag`.
#[derive(Debug)]
struct Spintype;

impl Codec for Spintype {
    fn show(&self, value: Word) -> String {
        format!("({}, {})", value & 1 != 0, value >> 1)
    }
}

impl Block for Fig9 {
    const FIGURE: &'static str = "fig9";
    const CRITICAL: u8 = 13;
    const SYMMETRIC: bool = false; // Q initially names process 0
    const INVARIANTS: &'static [&'static str] =
        &["I12", "I13", "I14", "I15", "I16", "I17", "I18", "I19", "I20", "I21", "I22", "I23"];
    const STATEMENTS: &'static [RunStatement] = &[
        RunStatement::always("S1"),
        RunStatement::always("S2"),
        RunStatement::always("S3"),
        RunStatement::always("S4"),
        RunStatement::always("S5"),
        RunStatement::always("S6"),
        RunStatement::always("U3"),
        RunStatement::leads_to(Self::PASSES_OUTER),
        RunStatement::leads_to(Self::LEAVES_OUTER),
    ];
    const PASSES_OUTER: &'static str = "L5";
    const LEAVES_OUTER: &'static str = "L6";

    type Line = Line;
    const ENTRY: Line = L2;
    const EXIT: Line = L14;

    type Shared = SpinLocations;
    fn share(layout: &mut Layout, n: usize, blocks: usize) -> SpinLocations {
        let mut array = |letter: &str| {
            layout.array(n, |p| {
                let values = (0..2 * blocks as Word).collect::<Vec<_>>();
                Decl::listed(format!("{letter}[{p}]"), Kind::custom(Spintype), values, Init::Open)
                    .at(p)
                    .waited_on()
            })
        };
        SpinLocations { r: array("R"), p: array("P") }
    }

    fn new(layout: &mut Layout, spin: SpinLocations, place: BlockInstance<'_>) -> Self {
        let BlockInstance { n, k, instance, name } = place;
        let (least, k) = ((k as Word - n as Word).min(-1), k as Word);
        Fig9 {
            k,
            instance: instance as Word,
            x: layout.add(Decl::number(format!("X.{name}"), least, k, k)),
            z: layout.add(Decl::flag(format!("Z.{name}"), false)),
            q: layout.add(Decl::pid(format!("Q.{name}"), n, Init::Is(0))),
            spin,
        }
    }

    #[rustfmt::skip] // a line of the paper is a line here
    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: Line) -> Next<Line> {
        let SpinLocations { r: r_, p: p_ } = self.spin;
        let (held, free) = (self.word(false), self.word(true));
        match at {
            L2 => if m.fetch_add(self.x, -1) == 0 { Goto(L3) } else { Enter(L14) },
            L3 => if !m.test_and_set(self.z) { Goto(L4) } else { Enter(L14) },
            L4 => Goto(L5 { v: m.read(self.q) as u8 }),
            L5 { v } => { m.compare_and_swap(p_.at(v as usize), held, free); Goto(L6 { v }) }
            L6 { .. } => { m.write(self.q, p as Word); Goto(L7) }
            L7 => { m.write(p_.at(p), held); Goto(L8) }
            L8 => { m.write(self.z, 0); Goto(L9) }
            L9 => { m.write(r_.at(p), held); Goto(L10) }
            L10 => if m.read(self.x) < 0 { Goto(L11) } else { Enter(L14) },
            L11 => if m.read(p_.at(p)) == held { Goto(L12) } else { Enter(L14) },
            L12 => if m.read(r_.at(p)) == held { Spin(L11) } else { Enter(L14) },
            L14 => { m.fetch_add(self.x, 1); Goto(L15) }
            L15 => Goto(L16 { v: m.read(self.q) as u8 }),
            L16 { v } => { m.compare_and_swap(r_.at(v as usize), held, free); Leave }
        }
    }

    #[rustfmt::skip]
    fn number(at: Line) -> u8 {
        match at {
            L2 => 2, L3 => 3, L4 => 4, L5 { .. } => 5, L6 { .. } => 6, L7 => 7, L8 => 8, L9 => 9,
            L10 => 10, L11 => 11, L12 => 12, L14 => 14, L15 => 15, L16 { .. } => 16,
        }
    }

    fn waits(at: Line) -> bool {
        matches!(at, L11 | L12)
    }

    fn broken_invariant(&self, s: &BlockView<'_, Self>) -> Option<&'static str> {
        let (x, z, q) = (s.value(self.x), s.is_set(self.z), s.value(self.q));
        let p_held = |p: Pid| s.value(self.spin.p.at(p)) == self.word(false);
        let r_held = |p: Pid| s.value(self.spin.r.at(p)) == self.word(false);
        let v = |p: Pid| match s.processes[p] {
            Within::At(L5 { v } | L6 { v } | L16 { v }) => Some(v),
            _ => None,
        };
        let is_q = |p: Pid| q == p as Word;
        first_broken([
            ("I12", s.count(2..=16) <= self.k + 1),
            ("I13", x == self.k - s.count(3..=14)),
            ("I14", z == (s.count(4..=8) > 0)),
            ("I15", s.count(4..=8) <= 1),
            ("I16", s.all(&[5, 6], |p| v(p).map(Word::from) == Some(q))),
            ("I17", s.all(&[6], |p| v(p).is_some_and(|v| !p_held(v as Pid)))),
            ("I18", s.all(&[7, 8], is_q)),
            ("I19", s.all(&[8], p_held)),
            (
                "I20",
                s.all(&[9, 10, 11, 12], |p| {
                    is_q(p) && (!z || s.any(&[4, 5], |_| true)) || !p_held(p)
                }),
            ),
            ("I21", s.all(&[11, 12], |p| !p_held(p) || is_q(p))),
            (
                "I22",
                x >= 0
                    || s.count(3..=8) > 0
                    || s.any(&[9], p_held)
                    || s.any(&[10, 11, 12], |p| p_held(p) && r_held(p)),
            ),
            ("I23", s.count(13..=13) <= self.k),
        ])
    }

    fn observe(&self, statement: &str, step: &BlockStep<'_, Self>) -> Observed {
        let SpinLocations { r, p } = self.spin;
        let spin = if matches!(statement, "S2" | "S4" | "S6") { r } else { p };
        match statement {
            "S1" | "S2" => self.triple(step, spin, |own, before, after| {
                Observed::implication(!own && self.is_ours(before), after == before)
            }),
            "S3" | "S4" => self.triple(step, spin, |own, before, after| {
                let harmless = after == before || !self.is_ours(after);
                Observed::implication(own && self.is_ours(before), harmless)
            }),
            "S5" | "S6" => self.triple(step, spin, |_, before, after| {
                Observed::implication(!self.is_ours(before), !self.is_ours(after))
            }),
            _ => {
                let held = self.word(false);
                let released = |s: &BlockView<'_, Self>, q: Pid| {
                    s.value(p.at(q)) != held || s.value(r.at(q)) != held
                };
                step.unless(
                    |s, q| s.is_at(q, &[11, 12]) && released(s, q),
                    |s, q| s.is_at(q, &[Self::CRITICAL]),
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_that_is_taken_back_contradicts_u3() {
        let mut layout = Layout::default();
        let spin = Fig9::share(&mut layout, 2, 1);
        let fig9 =
            Fig9::new(&mut layout, spin, BlockInstance { n: 2, k: 1, instance: 0, name: "1" });
        let mut before = layout.first_initial();
        before[spin.p.at(0).index()] = fig9.word(false);
        before[spin.r.at(0).index()] = fig9.word(true);
        let mut after = before.clone();
        let processes = [Within::At(L11), Within::At(L16 { v: 0 })];
        let observe = |after: &[Word]| {
            let before = BlockView { processes: &processes, memory: &before };
            let after = BlockView { processes: &processes, memory: after };
            fig9.observe("U3", &BlockStep { mover: Some(1), before, after })
        };
        assert_eq!(observe(&after), Observed { history: 0, applies: true, found: false });
        after[spin.r.at(0).index()] = fig9.word(false);
        assert!(observe(&after).found);
    }

    #[test]
    fn a_step_elsewhere_that_writes_the_number_of_this_block_contradicts_s5_and_s6() {
        let mut layout = Layout::default();
        let spin = Fig9::share(&mut layout, 2, 2);
        let [ours, other] = [0, 1].map(|instance| {
            Fig9::new(&mut layout, spin, BlockInstance { n: 2, k: 1, instance, name: "" })
        });
        let mut before = layout.first_initial();
        for array in [spin.p, spin.r] {
            before[array.at(0).index()] = other.word(false);
        }
        let processes = [Within::Outside, Within::Outside];
        let observe = |statement: &str, array: Array, value: Word| {
            let mut after = before.clone();
            after[array.at(0).index()] = value;
            let before = BlockView { processes: &processes, memory: &before };
            let after = BlockView { processes: &processes, memory: &after };
            ours.observe(statement, &BlockStep { mover: Some(1), before, after })
        };
        for (statement, array) in [("S5", spin.p), ("S6", spin.r)] {
            let harmless = observe(statement, array, other.word(true));
            assert_eq!(harmless, Observed { history: 0, applies: true, found: false });
            assert!(observe(statement, array, ours.word(false)).found, "{statement}");
        }
    }
}
