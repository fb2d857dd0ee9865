//! k-assignment on top of any k-exclusion algorithm: each process in the critical section holds a
//! distinct name.
//! Anderson & Moir 1997, Figure 1.
//!
//! X\[j\]: whether name j is taken.
//!
//! Cost: if the k-exclusion algorithm costs B remote references, k-assignment costs B + k + 1. If
//! contention is at most c, k-assignment costs B + c + 1 (Lemma 1).
//!
//! Difference from the paper: if all k names are taken, a process enters with the name k. Exclusion
//! rules out this case. The paper's line 3 would read past the end of X.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use crate::framework::{
    layout::{Array, Decl, Layout},
    machine::{
        Algorithm, Label, Loc,
        Next::{self, Enter, Goto, Leave, Spin},
        View,
    },
    memory::{Memory, Pid, Word},
};

/// The exclusion algorithm `A` with names.
pub struct Named<A> {
    exclusion: A,
    layout: Layout,
    pub(super) x: Array,
}

/// The position of a process. `exit` is the first line of the exclusion algorithm's exit section.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum At<S> {
    /// Lines 1 and 6: the process is in the exclusion algorithm.
    Exclusion(S),
    /// Line 3: the process tries to take a name.
    L3 {
        /// The name that the process tries next.
        name: u8,
        /// The first line of the exclusion algorithm's exit section.
        exit: S,
    },
    /// Line 5: the process frees its name.
    L5 {
        /// The name that the process holds.
        name: u8,
        /// The first line of the exclusion algorithm's exit section.
        exit: S,
    },
}
use At::*;

impl<A: Algorithm> Named<A> {
    /// Adds names to `exclusion`.
    pub fn new(exclusion: A) -> Self {
        let mut layout = exclusion.layout().clone();
        let x = layout.array(exclusion.k(), |j| Decl::flag(format!("X[{j}]"), false));
        Named { exclusion, layout, x }
    }

    /// Returns whether `j` is one of the k names. A process that finds all names taken enters with the
    /// name k.
    pub(super) fn is_name(&self, j: u8) -> bool {
        (j as usize) < self.k()
    }
}

impl<A: Algorithm> Algorithm for Named<A> {
    type State = At<A::State>;

    fn n(&self) -> usize {
        self.exclusion.n()
    }

    fn k(&self) -> usize {
        self.exclusion.k()
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, p: Pid) -> Self::State {
        Exclusion(self.exclusion.begin(p))
    }

    #[inline]
    fn step<M: Memory>(&self, m: &mut M, p: Pid, at: Self::State) -> Next<Self::State> {
        match at {
            Exclusion(at) => match self.exclusion.step(m, p, at) {
                Goto(at) => Goto(Exclusion(at)),
                Spin(at) => Spin(Exclusion(at)),
                Enter(exit) => Goto(L3 { name: 0, exit }), // line 2
                Leave => Leave,
            },
            L3 { name, exit } if !self.is_name(name) => Enter(L5 { name, exit }),
            L3 { name, exit } => {
                if m.test_and_set(self.x.at(name as usize)) {
                    Goto(L3 { name: name + 1, exit })
                } else {
                    Enter(L5 { name, exit })
                }
            }
            L5 { name, exit } if !self.is_name(name) => Goto(Exclusion(exit)),
            L5 { name, exit } => {
                m.write(self.x.at(name as usize), 0);
                Goto(Exclusion(exit))
            }
        }
    }

    fn waits(&self, p: Pid, at: Self::State) -> bool {
        match at {
            Exclusion(at) => self.exclusion.waits(p, at),
            // Taking a name takes a bounded number of steps. Still, it does not belong to the doorway,
            // which ends in the exclusion algorithm.
            L3 { .. } | L5 { .. } => true,
        }
    }

    fn label(&self, p: Pid, at: Self::State) -> Label {
        let line = match at {
            Exclusion(at) => return self.exclusion.label(p, at),
            L3 { .. } => "3",
            L5 { .. } => "5",
        };
        Label { figure: "fig1", line: line.into(), instance: String::new() }
    }

    fn name(&self, at: Self::State) -> Option<usize> {
        match at {
            L5 { name, .. } => Some(name as usize),
            _ => None,
        }
    }

    fn variables(&self, at: Self::State) -> Option<Vec<(String, String)>> {
        let (inner, name) = match at {
            Exclusion(at) => (at, None),
            L3 { name, exit } | L5 { name, exit } => (exit, Some(name)),
        };
        let mut all = self.exclusion.variables(inner)?;
        all.extend(name.map(|name| ("name".to_string(), name.to_string())));
        Some(all)
    }

    fn is_symmetric(&self) -> bool {
        self.exclusion.is_symmetric()
    }

    fn is_unbounded(&self) -> bool {
        self.exclusion.is_unbounded()
    }

    fn normalize(&self, processes: &mut [Loc<Self::State>], memory: &mut [Word]) {
        let mut inner: Vec<_> = processes.iter().map(exclusion_of).collect();
        self.exclusion.normalize(&mut inner, memory);
        for (loc, inner) in processes.iter_mut().zip(inner) {
            let (Loc::Entry(at) | Loc::Critical(at) | Loc::Exit(at)) = loc else { continue };
            let (Loc::Entry(new) | Loc::Critical(new) | Loc::Exit(new)) = inner else { continue };
            match at {
                Exclusion(old) | L3 { exit: old, .. } | L5 { exit: old, .. } => *old = new,
            }
        }
    }

    fn counts(&self, at: &Loc<Self::State>) -> bool {
        self.exclusion.counts(&exclusion_of(at))
    }

    fn invariants(&self) -> &'static [&'static str] {
        self.exclusion.invariants()
    }

    fn broken_invariant(&self, state: &View<'_, Self::State>) -> Option<&'static str> {
        let processes: Vec<_> = state.processes.iter().map(exclusion_of).collect();
        self.exclusion.broken_invariant(&View { processes: &processes, memory: state.memory })
    }

    fn invariant_fault(&self, state: &View<'_, Self::State>) -> Option<&'static str> {
        let processes: Vec<_> = state.processes.iter().map(exclusion_of).collect();
        self.exclusion.invariant_fault(&View { processes: &processes, memory: state.memory })
    }
}

/// Returns the position of a process in the exclusion algorithm. A process that takes or frees a name is
/// in the critical section of the exclusion algorithm.
fn exclusion_of<S: Copy>(loc: &Loc<At<S>>) -> Loc<S> {
    match *loc {
        Loc::Remainder => Loc::Remainder,
        Loc::Entry(Exclusion(at)) => Loc::Entry(at),
        Loc::Exit(Exclusion(at)) => Loc::Exit(at),
        Loc::Critical(Exclusion(exit)) => Loc::Critical(exit),
        Loc::Entry(L3 { exit, .. } | L5 { exit, .. })
        | Loc::Critical(L3 { exit, .. } | L5 { exit, .. })
        | Loc::Exit(L3 { exit, .. } | L5 { exit, .. }) => Loc::Critical(exit),
    }
}
