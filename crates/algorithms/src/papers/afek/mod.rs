//! First-in-first-enabled l-exclusion from reads and writes.
//! Afek, Dolev, Gafni, Merritt & Shavit 1994, Figure 2, on any timestamp system.
//!
//! - x\[i\]: whether process i is in its entry or critical section. Line 1 sets it, and line 11 clears it.
//! - S: the processes j for which process i found x\[j\] set in its doorway, at line 4.
//! - y: the processes j of S for which process i found x\[j\] still set, at line 6.
//! - Test: the processes of y that come before process i by their timestamps.
//!
//! Lines 2 and 12 run the procedure Label of the timestamp system, and line 7 runs Scan. Doorway: lines 1 to 4. Waiting
//! room: lines 5 to 9. The paper's l is called k in this crate.
//!
//! Differences from the paper: a process does not read its own x, because it knows the value and Test
//! never counts the process itself. Where the paper says "in any order", this code uses ascending order.

use alloc::{format, vec::Vec};

use crate::{
    framework::{
        layout::{Array, Decl, Layout},
        machine::{
            Algorithm, Label, Loc,
            Next::{self, Enter, Goto, Leave, Spin},
        },
        memory::{Memory, Pid, Word},
        pids::Pids,
        statement::{Observed, RunStatement, Transition},
    },
    papers::timestamps::{Collect, InProcedure, InProcedureOf, Timestamps, Turn},
};

pub mod entries;
mod statements;
pub mod wrong;

/// The algorithm on the timestamp system `T`.
pub struct Afek<T> {
    n: usize,
    k: usize,
    layout: Layout,
    x: Array,
    stamps: T,
}

/// The paper's lines. Lines 3, 5, 8 and 9 are local, so they are part of the line before them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Line<L, S> {
    L1,
    L2(L),
    L4 { j: Pid, s: Pids },
    L6 { j: Pid, s: Pids, y: Pids },
    L7 { s: Pids, y: Pids, scan: S },
    L11,
    L12(L),
}
use Line::*;

/// The position of a process that uses the timestamp system `T`.
pub type At<T> = Line<<T as Timestamps>::Labelling, <T as Timestamps>::Scanning>;

impl<T: Timestamps> Afek<T> {
    /// Builds the algorithm for `n` processes, of which `k` may be in the critical section.
    pub fn new(n: usize, k: usize) -> Self {
        let mut layout = Layout::default();
        let x = layout.array(n, |i| Decl::flag(format!("x[{i}]"), false).at(i).waited_on());
        let stamps = T::new(&mut layout, n);
        Afek { n, k, layout, x, stamps }
    }

    fn others(&self, p: Pid) -> Pids {
        Pids::others(self.n, p)
    }

    /// Returns line 4 for the process after `after` (for the first process if `after` is `None`), or the
    /// waiting room if no process is left.
    fn line_4(&self, p: Pid, after: Option<Pid>, s: Pids) -> At<T> {
        let next = match after {
            None => self.others(p).first(),
            Some(j) => self.others(p).after(j),
        };
        match next {
            Some(j) => L4 { j, s },
            None => self.line_6(p, s),
        }
    }

    /// Returns line 6 for the first process of `s`, or line 7 if `s` is empty.
    fn line_6(&self, p: Pid, s: Pids) -> At<T> {
        match s.first() {
            Some(j) => L6 { j, s, y: Pids::NONE },
            None => self.line_7(p, s, Pids::NONE),
        }
    }

    fn line_7(&self, p: Pid, s: Pids, y: Pids) -> At<T> {
        L7 { s, y, scan: self.stamps.begin_scan(p) }
    }
}

impl<T: Timestamps> Algorithm for Afek<T> {
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

    fn begin(&self, _: Pid) -> At<T> {
        L1
    }

    #[rustfmt::skip] // a line of the paper is a line here
    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: At<T>) -> Next<At<T>> {
        match at {
            L1 => { m.write(self.x.at(p), 1); Goto(L2(self.stamps.begin_label(p))) }
            L2(label) => match self.stamps.label(m, p, label) {
                Turn::Goto(label) => Goto(L2(label)),
                Turn::Done(()) => Goto(self.line_4(p, None, Pids::NONE)),
            },
            L4 { j, s } => {
                let s = if m.read(self.x.at(j)) != 0 { s.with(j) } else { s };
                Goto(self.line_4(p, Some(j), s))
            }
            L6 { j, s, y } => {
                let y = if m.read(self.x.at(j)) != 0 { y.with(j) } else { y };
                match s.after(j) {
                    Some(j) => Goto(L6 { j, s, y }),
                    None => Goto(self.line_7(p, s, y)),
                }
            }
            L7 { s, y, scan } => match self.stamps.scan(m, p, scan) {
                Turn::Goto(scan) => Goto(L7 { s, y, scan }),
                Turn::Done(seen) => {
                    let test = y.and(seen.before::<T>(p)); // line 8
                    if test.len() < self.k { Enter(L11) } else { Spin(self.line_6(p, s)) }
                }
            },
            L11 => { m.write(self.x.at(p), 0); Goto(L12(self.stamps.begin_label(p))) }
            L12(label) => match self.stamps.label(m, p, label) {
                Turn::Goto(label) => Goto(L12(label)),
                Turn::Done(()) => Leave,
            },
        }
    }

    fn waits(&self, _: Pid, at: At<T>) -> bool {
        matches!(at, L6 { .. } | L7 { .. })
    }

    fn label(&self, _: Pid, at: At<T>) -> Label {
        let (line, instance) = match at {
            L1 => ("1", ""),
            L2(label) => ("2", T::label_line(label)),
            L4 { .. } => ("4", ""),
            L6 { .. } => ("6", ""),
            L7 { scan, .. } => ("7", T::scan_line(scan)),
            L11 => ("11", ""),
            L12(label) => ("12", T::label_line(label)),
        };
        Label { figure: "afek", line: line.into(), instance: instance.into() }
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
                (Loc::Entry(L2(at)) | Loc::Exit(L12(at)), InProcedure::Label(new)) => *at = new,
                (Loc::Entry(L7 { scan, .. }), InProcedure::Scan(new)) => *scan = new,
                _ => {}
            }
        }
    }

    fn run_statements(&self) -> &'static [RunStatement] {
        statements::ALL
    }

    fn observe(&self, _: &str, history: u32, step: &Transition<'_, At<T>>) -> Observed {
        self.test_never_grows(history, step)
    }
}

/// Returns the position of a process within the timestamp system.
fn in_procedure<T: Timestamps>(loc: &Loc<At<T>>) -> InProcedureOf<T> {
    match *loc {
        Loc::Entry(L2(label)) | Loc::Exit(L12(label)) => InProcedure::Label(label),
        Loc::Entry(L7 { scan, .. }) => InProcedure::Scan(scan),
        _ => InProcedure::Neither,
    }
}
