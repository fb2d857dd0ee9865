//! k-exclusion in bounded space from reads and writes, with O(n) remote references. Zehavi, "An Improved
//! k-Exclusion Algorithm", Algorithm 1, on any timestamp system.
//!
//! Process p writes element \[p\]\[i\] of an array for process i. The element is in the memory of i. (Exceptions: there
//! is only one reveal\[p\] for all i, in the memory of p, and line 14 of i clears discover\[p\]\[i\].) If an element is
//! set, it means:
//!
//! - compete: p competes.
//! - ignore: i should ignore what p has written.
//! - order: p comes before i.
//! - reveal\[p\]: p may be discovered.
//! - discover: p has discovered i, if both cells are set.
//! - allow: i may enter.
//!
//! - Observation1: compete\[p\]\[i\] holds from line 1 for i to line 15 for i.
//! - Observation2: ignore\[p\]\[i\] holds from line 2 for i to line 8 for i.
//! - Observation3: reveal\[p\] holds from line 5 to line 13.
//! - Lemma-3, about runs: if p reads both cells of discover\[q\]\[p\] as set, q has discovered p in this passage of p.
//!
//! Doorway: lines 1 to 10. Cost: O(n), if Label and Scan cost O(n).
//!
//! Differences from the paper:
//!
//! - "for each i" leaves out p itself. No other process reads the elements \[p\]\[p\], and they hold nothing
//!   that p does not know.
//! - Line 11(a)ii skips a process that line 11(a)i has deleted.
//! - Once line 11(b)i has emptied `precede`, the loop ends.
//! - For line 12, the process keeps the set of line 10 instead of the order.

use alloc::{format, vec::Vec};

use crate::{
    framework::{
        layout::{Array, Decl, Init, Kind, Layout},
        machine::{
            Algorithm, Label, Loc,
            Next::{self, Enter, Goto, Leave, Spin},
            View,
        },
        memory::{Memory, Pid, Var, Word},
        pids::Pids,
        stale::StaleRule,
        statement::{Observed, RunStatement, Transition},
    },
    papers::timestamps::{Collect, InProcedure, InProcedureOf, Timestamps, Turn},
};

pub mod bakery;
pub mod entries;
mod lines;
mod observations;
mod stale;
mod statements;
pub mod wrong;

pub use bakery::Bakery;
pub use lines::{Ahead, Line};

/// The algorithm on the timestamp system `T`.
pub struct Zehavi<T> {
    n: usize,
    k: usize,
    layout: Layout,
    compete: Array,
    ignore: Array,
    order: Array,
    reveal: Array,
    allow: Array,
    discover: [Array; 2],
    stamps: T,
}

use Line::*;

/// The position of a process that uses the timestamp system `T`.
pub type At<T> = Line<<T as Timestamps>::Labelling, <T as Timestamps>::Scanning>;

impl<T: Timestamps> Zehavi<T> {
    /// Builds the algorithm for `n` processes, of which `k` may be in the critical section.
    pub fn new(n: usize, k: usize) -> Self {
        let mut layout = Layout::default();
        let layout_ = &mut layout;
        // Row p of a square array contains the elements that p writes for the others. The diagonal is
        // never used.
        let mut square = |name: &str, cell: &str, init: Init| {
            layout_.array(n * n, |index| {
                let (p, i) = (index / n, index % n);
                let init = if p == i { Init::Is(0) } else { init.clone() };
                let domain = if p == i { [0].into() } else { [0, 1].into() };
                let name = format!("{name}[{p}][{i}]{cell}");
                Decl::listed(name, Kind::Flag, domain, init).at(i).waited_on()
            })
        };
        let compete = square("compete", "", Init::Is(0));
        let ignore = square("ignore", "", Init::Is(0));
        let order = square("order", "", Init::Open);
        let allow = square("allow", "", Init::Open);
        let discover =
            [square("discover", "[0]", Init::Is(0)), square("discover", "[1]", Init::Is(0))];
        let reveal = layout.array(n, |p| Decl::flag(format!("reveal[{p}]"), false).at(p));
        let stamps = T::new(&mut layout, n);
        Zehavi { n, k, layout, compete, ignore, order, reveal, allow, discover, stamps }
    }

    /// Returns the element of `array` that `from` writes for `to`.
    fn element(&self, array: Array, from: Pid, to: Pid) -> Var {
        array.at(from * self.n + to)
    }

    fn discovered(&self, cell: u8, by: Pid, other: Pid) -> Var {
        self.element(self.discover[cell as usize], by, other)
    }

    fn others(&self, p: Pid) -> Pids {
        Pids::others(self.n, p)
    }

    fn first(&self, p: Pid) -> Pid {
        self.others(p).first().unwrap_or(0)
    }

    fn next(&self, p: Pid, i: Pid) -> Option<Pid> {
        self.others(p).after(i)
    }

    /// Returns the next iteration of line 4, or line 5.
    fn line_4(&self, p: Pid, i: Pid) -> At<T> {
        self.next(p, i).map_or(L5, |i| L4 { i, cell: 0 })
    }

    /// Executes the condition of line 11: waits, or continues at line 12.
    fn line_11(&self, ahead: Ahead) -> Next<At<T>> {
        match ahead.precede.first() {
            Some(i) if ahead.precede.len() >= self.k => Spin(L11ai { i, ahead }),
            _ => self.line_12(ahead.before),
        }
    }

    /// Returns the next iteration of line 11(a), or line 11(b).
    fn line_11a(&self, p: Pid, i: Pid, ahead: Ahead) -> At<T> {
        match ahead.precede.after(i) {
            Some(i) => L11ai { i, ahead },
            None => L11b { i: self.first(p), cell: 0, ahead },
        }
    }

    /// Returns the next iteration of line 11(b), or line 11.
    fn line_11b(&self, p: Pid, i: Pid, ahead: Ahead) -> Next<At<T>> {
        match self.next(p, i) {
            Some(i) => Goto(L11b { i, cell: 0, ahead }),
            None => self.line_11(ahead),
        }
    }

    fn is_waiting(&self, at: At<T>) -> bool {
        matches!(at, L11ai { .. } | L11aii { .. } | L11b { .. } | L11bi { .. } | L12 { .. })
    }

    fn line_12(&self, before: Pids) -> Next<At<T>> {
        before.first().map_or(Enter(L13), |i| Goto(L12 { i, before }))
    }
}

impl<T: Timestamps> Algorithm for Zehavi<T> {
    type State = At<T>;

    fn n(&self) -> usize {
        self.n
    }

    fn k(&self) -> usize {
        self.k
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, p: Pid) -> At<T> {
        L1 { i: self.first(p) }
    }

    #[rustfmt::skip] // a line of the paper is a line here
    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: At<T>) -> Next<At<T>> {
        let first = self.first(p);
        match at {
            L1 { i } => {
                m.write(self.element(self.compete, p, i), 1);
                Goto(self.next(p, i).map_or(L2 { i: first }, |i| L1 { i }))
            }
            L2 { i } => {
                m.write(self.element(self.ignore, p, i), 1);
                Goto(self.next(p, i).map_or_else(|| L3(self.stamps.begin_label(p)), |i| L2 { i }))
            }
            L3(label) => match self.stamps.label(m, p, label) {
                Turn::Goto(label) => Goto(L3(label)),
                Turn::Done(()) => Goto(L4 { i: first, cell: 0 }),
            },
            L4 { i, cell } => match m.read(self.discovered(cell, p, i)) != 0 {
                false => Goto(L4a { i }),
                true if cell == 0 => Goto(L4 { i, cell: 1 }),
                true => Goto(self.line_4(p, i)),
            },
            L4a { i } => { m.write(self.discovered(0, p, i), 0); Goto(L4b { i }) }
            L4b { i } => { m.write(self.discovered(1, p, i), 0); Goto(L4c { i }) }
            L4c { i } => { m.write(self.element(self.allow, p, i), 0); Goto(L4d { i }) }
            L4d { i } => if m.read(self.reveal.at(i)) != 0 { Goto(L4dSet { i }) } else { Goto(L4e { i }) },
            L4dSet { i } => { m.write(self.discovered(0, p, i), 1); Goto(L4e { i }) }
            L4e { i } => if m.read(self.reveal.at(i)) != 0 { Goto(L4eSet { i }) } else { Goto(L4f { i, cell: 0 }) },
            L4eSet { i } => { m.write(self.discovered(1, p, i), 1); Goto(L4f { i, cell: 0 }) }
            L4f { i, cell } => match m.read(self.discovered(cell, p, i)) != 0 {
                false => Goto(L4fi { i }),
                true if cell == 0 => Goto(L4f { i, cell: 1 }),
                true => Goto(self.line_4(p, i)),
            },
            L4fi { i } => { m.write(self.discovered(0, p, i), 0); Goto(L4fii { i }) }
            L4fii { i } => { m.write(self.discovered(1, p, i), 0); Goto(self.line_4(p, i)) }
            L5 => { m.write(self.reveal.at(p), 1); Goto(L6(self.stamps.begin_scan(p))) }
            L6(scan) => match self.stamps.scan(m, p, scan) {
                Turn::Goto(scan) => Goto(L6(scan)),
                Turn::Done(seen) => Goto(L7 { i: first, before: seen.before::<T>(p) }),
            },
            L7 { i, before } => {
                m.write(self.element(self.order, p, i), (!before.contains(i)).into());
                Goto(self.next(p, i).map_or(L8 { i: first, before }, |i| L7 { i, before }))
            }
            L8 { i, before } => {
                m.write(self.element(self.ignore, p, i), 0);
                match self.next(p, i) {
                    Some(i) => Goto(L8 { i, before }),
                    None => match self.line_11(Ahead { before, precede: before }) { // lines 9, 10
                        Spin(at) => Goto(at),
                        next => next,
                    }
                }
            }
            L11ai { i, ahead } => match m.read(self.element(self.compete, i, p)) != 0 {
                true => Goto(L11aii { i, part: 0, ahead }),
                false => Goto(self.line_11a(p, i, ahead.without(i))),
            },
            L11aii { i, part, ahead } => {
                let holds = match part {
                    0 | 1 => m.read(self.discovered(part, i, p)) != 0,
                    2 => m.read(self.element(self.ignore, i, p)) == 0,
                    _ => m.read(self.element(self.order, i, p)) == 0,
                };
                match (holds, part) {
                    (false, _) => Goto(self.line_11a(p, i, ahead)),
                    (true, 0..3) => Goto(L11aii { i, part: part + 1, ahead }),
                    (true, _) => Goto(self.line_11a(p, i, ahead.without(i))),
                }
            }
            L11b { i, cell, ahead } => match m.read(self.discovered(cell, i, p)) != 0 {
                false => self.line_11b(p, i, ahead),
                true if cell == 0 => Goto(L11b { i, cell: 1, ahead }),
                true => Goto(L11bi { i, ahead }),
            },
            L11bi { i, ahead } => match m.read(self.element(self.allow, i, p)) != 0 {
                true => self.line_12(ahead.before),
                false => self.line_11b(p, i, ahead),
            },
            L12 { i, before } => {
                m.write(self.element(self.allow, p, i), 1);
                before.after(i).map_or(Enter(L13), |i| Goto(L12 { i, before }))
            }
            L13 => { m.write(self.reveal.at(p), 0); Goto(L14a { i: first }) }
            L14a { i } => { m.write(self.discovered(0, i, p), 0); Goto(L14b { i }) }
            L14b { i } => {
                m.write(self.discovered(1, i, p), 0);
                Goto(self.next(p, i).map_or(L15 { i: first }, |i| L14a { i }))
            }
            L15 { i } => {
                m.write(self.element(self.compete, p, i), 0);
                self.next(p, i).map_or(Leave, |i| Goto(L15 { i }))
            }
        }
    }

    fn waits(&self, _: Pid, at: At<T>) -> bool {
        self.is_waiting(at)
    }

    fn label(&self, _: Pid, at: At<T>) -> Label {
        let (line, instance) = match at {
            L3(label) => ("3", T::label_line(label).into()),
            L6(scan) => ("6", T::scan_line(scan).into()),
            at => at.printed(),
        };
        Label { figure: "zehavi", line: line.into(), instance }
    }

    fn is_unbounded(&self) -> bool {
        T::UNBOUNDED
    }

    fn counts(&self, at: &Loc<At<T>>) -> bool {
        in_procedure::<T>(at) != InProcedure::Neither
    }

    fn normalize(&self, processes: &mut [Loc<At<T>>], memory: &mut [Word]) {
        let mut in_procedure: Vec<InProcedureOf<T>> =
            processes.iter().map(in_procedure::<T>).collect();
        self.stamps.normalize(&mut in_procedure, memory);
        for (loc, in_procedure) in processes.iter_mut().zip(in_procedure) {
            match (loc, in_procedure) {
                (Loc::Entry(L3(at)), InProcedure::Label(new)) => *at = new,
                (Loc::Entry(L6(at)), InProcedure::Scan(new)) => *at = new,
                _ => {}
            }
        }
    }

    fn stale_rules(&self) -> Vec<StaleRule> {
        self.rules()
    }

    fn permits_stale(&self, rule: &StaleRule, p: Pid, at: &Loc<At<T>>) -> bool {
        match p == rule.writer {
            true => self.writer_permits(rule.kind, rule.reader, at),
            false => self.reader_permits(rule.kind, rule.writer, at),
        }
    }

    fn invariants(&self) -> &'static [&'static str] {
        &["Observation1", "Observation2", "Observation3"]
    }

    fn broken_invariant(&self, state: &View<'_, At<T>>) -> Option<&'static str> {
        self.broken_observation(state)
    }

    fn run_statements(&self) -> &'static [RunStatement] {
        statements::ALL
    }

    fn observe(&self, _: &str, history: u32, step: &Transition<'_, At<T>>) -> Observed {
        self.discovery_is_recent(history, step)
    }
}

/// Returns the position of a process in the procedures of the timestamp system.
fn in_procedure<T: Timestamps>(loc: &Loc<At<T>>) -> InProcedureOf<T> {
    match *loc {
        Loc::Entry(L3(label)) => InProcedure::Label(label),
        Loc::Entry(L6(scan)) => InProcedure::Scan(scan),
        _ => InProcedure::Neither,
    }
}
