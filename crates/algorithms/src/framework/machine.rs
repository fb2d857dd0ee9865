//! The trait of a step machine, and the words for where a process stands.

use alloc::string::String;
use core::{fmt, fmt::Debug, hash::Hash};

use crate::framework::{
    layout::Layout,
    memory::{Memory, Op, Pid, Var, Word},
};

/// Where a step goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next<S> {
    /// On to this line.
    Goto(S),
    /// Nothing was there yet: wait here. A native driver pauses or parks, the checker sees a loop.
    Spin(S),
    /// Into the critical section; the exit section will begin at this line.
    Enter(S),
    /// Back to the remainder section.
    Leave,
}

/// The part of a passage a process is in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Section {
    /// Not competing.
    Remainder,
    /// The part of the entry section that is finished in a bounded number of own steps.
    Doorway,
    /// The rest of the entry section.
    Waiting,
    /// Inside.
    Critical,
    /// On the way out.
    Exit,
}

impl Section {
    /// Whether this is the entry section (doorway or waiting room).
    pub fn is_entry(self) -> bool {
        matches!(self, Section::Doorway | Section::Waiting)
    }
}

/// A process's whole private state: the section, and the line where it goes on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Loc<S> {
    /// In its remainder section.
    Remainder,
    /// About to execute this line of its entry section.
    Entry(S),
    /// In its critical section; the exit section will begin at this line.
    Critical(S),
    /// About to execute this line of its exit section.
    Exit(S),
}

/// What may befall a process at any time, and how memory tells: as a kernel notes that a process has
/// died, or a store ends its lease.
#[derive(Clone, Copy, Debug)]
pub struct Mishap {
    /// The variable.
    pub var: Var,
    /// What happens to it.
    pub op: Op,
    /// Whether the process is killed: it goes back to its remainder, where another may take its place.
    pub kills: bool,
    /// What has become of the process, as `killed`.
    pub name: &'static str,
}

/// A line as the paper numbers it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Label {
    /// The figure, as `fig3`; or the name of the algorithm where the paper has no figure.
    pub figure: &'static str,
    /// The paper's line, as `7` or `11(a)ii`.
    pub line: String,
    /// Which instance of the figure, where one algorithm uses several.
    pub instance: String,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.figure, self.line)?;
        if !self.instance.is_empty() {
            write!(f, "@{}", self.instance)?;
        }
        Ok(())
    }
}

/// A whole state, for the invariants a paper states.
pub struct View<'a, S> {
    /// Where each process stands.
    pub processes: &'a [Loc<S>],
    /// What each variable holds, in the order of the layout.
    pub memory: &'a [Word],
}

impl<S> View<'_, S> {
    /// The value of `var`.
    pub fn value(&self, var: Var) -> Word {
        self.memory[var.index()]
    }
}

/// A k-exclusion algorithm for `n` processes as a step machine.
///
/// A process in its remainder starts a passage at [`begin`](Algorithm::begin) and then takes steps.
/// Each step makes at most one access to shared memory; the checker refuses a machine that makes
/// two. Which variable a step accesses, and how, depends on the private state alone.
pub trait Algorithm {
    /// Line label and private variables of a process.
    type State: Copy + Eq + Hash + Debug + Send + Sync;

    /// How many processes compete.
    fn n(&self) -> usize;

    /// How many may be in at once.
    fn k(&self) -> usize;

    /// The shared variables.
    fn layout(&self) -> &Layout;

    /// The first line of `p`'s entry section.
    fn begin(&self, p: Pid) -> Self::State;

    /// Executes the line at which `p` stands.
    fn step<M: Memory>(&self, memory: &mut M, p: Pid, at: Self::State) -> Next<Self::State>;

    /// Whether this line of the entry section belongs to the waiting room. The doorway of a
    /// passage ends at the first such line it reaches.
    fn waits(&self, p: Pid, at: Self::State) -> bool;

    /// The paper's label of the line.
    fn label(&self, p: Pid, at: Self::State) -> Label;

    /// The name (slot) a process holds whose exit section begins here, where the algorithm
    /// assigns names.
    fn name(&self, _at: Self::State) -> Option<usize> {
        None
    }

    /// What may befall `p`. Even where nothing may, a process may stop for ever, which nobody sees.
    fn mishap(&self, _p: Pid) -> Option<Mishap> {
        None
    }

    /// Whether any renaming of the processes maps runs to runs, the initial states included.
    /// Such a machine keeps no process identifier in its private state and compares identifiers
    /// only for equality. The lab's tests hold every machine to its word.
    fn is_symmetric(&self) -> bool {
        false
    }

    /// Whether it counts without bound, so that the checker must bring each state into its normal
    /// form to see finitely many.
    fn is_unbounded(&self) -> bool {
        false
    }

    /// Replaces the state by one with smaller numbers that behaves the same for ever: the same
    /// processes can make the same kinds of steps on the same variables, to states that again have
    /// the same normal form.
    fn normalize(&self, _processes: &mut [Loc<Self::State>], _memory: &mut [Word]) {}

    /// Whether the numbers that [`normalize`](Algorithm::normalize) looks at may change at a step
    /// from here or to here. Where neither end of a step says so, a normal state stays normal.
    fn counts(&self, _at: &Loc<Self::State>) -> bool {
        true
    }

    /// The names of the paper's invariants that [`broken_invariant`](Algorithm::broken_invariant)
    /// looks at.
    fn invariants(&self) -> &'static [&'static str] {
        &[]
    }

    /// The first of the paper's invariants that does not hold in this state.
    fn broken_invariant(&self, _state: &View<'_, Self::State>) -> Option<&'static str> {
        None
    }
}
