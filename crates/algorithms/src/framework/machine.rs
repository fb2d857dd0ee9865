//! The trait of a step machine, and the types that describe where a process is.

use alloc::{string::String, vec::Vec};
use core::{fmt, fmt::Debug, hash::Hash};

use crate::framework::{
    layout::Layout,
    memory::{Memory, Op, Pid, Var, Word},
    stale::StaleRule,
    statement::{Observed, RunStatement, Side, Transition},
};

/// The result of a step: where the process continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next<S> {
    /// Continue at this line.
    Goto(S),
    /// Continue at this line, because the condition for which the process waits does not hold yet. In a native
    /// run, the thread pauses or parks first. For the checker, this is the same as `Goto`.
    Spin(S),
    /// Enter the critical section. The exit section will begin at this line.
    Enter(S),
    /// Return to the remainder section.
    Leave,
}

/// The part of a passage that a process is in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Section {
    /// The process does not compete.
    Remainder,
    /// The first part of the entry section, which takes a bounded number of the process's own steps.
    Doorway,
    /// The rest of the entry section: the waiting room.
    Waiting,
    /// The critical section.
    Critical,
    /// The exit section.
    Exit,
}

impl Section {
    /// Returns whether this is a part of the entry section: doorway or waiting room.
    pub fn is_entry(self) -> bool {
        matches!(self, Section::Doorway | Section::Waiting)
    }
}

/// The whole private state of a process: the section, and the line at which it continues.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Loc<S> {
    /// The process is in its remainder section.
    Remainder,
    /// The process is about to execute this line of its entry section.
    Entry(S),
    /// The process is in its critical section. Its exit section will begin at this line.
    Critical(S),
    /// The process is about to execute this line of its exit section.
    Exit(S),
}

/// A mishap: an event that can hit a process at any time, and its effect on memory. Examples: a kernel records
/// that a process has died, or a store ends a lease.
#[derive(Clone, Copy, Debug)]
pub struct Mishap {
    /// The variable that the mishap changes.
    pub var: Var,
    /// The change to the variable.
    pub op: Op,
    /// Whether the mishap kills the process. A killed process returns to its remainder, where it may start
    /// again as a new process.
    pub kills: bool,
    /// Whether the mishap may happen again and again in a run in which a process starves. If not, the checker assumes
    /// that mishaps end: only what happens after the last mishap decides whether a process starves or is
    /// [enabled](crate::StatementKind::Enabled).
    pub recurs: bool,
    /// The name of the mishap, such as `killed` or `lease ends`.
    pub name: &'static str,
}

/// A line as the paper numbers it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Label {
    /// The figure, such as `fig3`, or the name of the algorithm if the paper has no figure.
    pub figure: &'static str,
    /// The paper's line, such as `7` or `11(a)ii`.
    pub line: String,
    /// The instance of the figure, if the algorithm uses several.
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

/// A whole state, on which the invariants of a paper are evaluated.
pub struct View<'a, S> {
    /// The private state of each process.
    pub processes: &'a [Loc<S>],
    /// The value of each variable, in the order of the layout.
    pub memory: &'a [Word],
}

impl<S> View<'_, S> {
    /// Returns the value of `var` in this state.
    pub fn value(&self, var: Var) -> Word {
        self.memory[var.index()]
    }
}

/// A k-exclusion algorithm for `n` processes as a step machine.
///
/// A process in its remainder starts a passage at [`begin`](Algorithm::begin) and then takes steps. Each
/// step makes at most one access to shared memory, and the checker rejects a step machine that makes
/// two. The private state alone determines the variable that a step accesses and the kind of access.
pub trait Algorithm {
    /// The line at which a process is, and its private variables.
    type State: Copy + Eq + Hash + Debug + Send + Sync;

    /// Returns the number of competing processes.
    fn n(&self) -> usize;

    /// Returns how many processes may be in the critical section at once.
    fn k(&self) -> usize;

    /// Returns the shared variables.
    fn layout(&self) -> &Layout;

    /// Returns the first line of the entry section of `p`.
    fn begin(&self, p: Pid) -> Self::State;

    /// Executes line `at` of process `p` and returns where `p` continues.
    fn step<M: Memory>(&self, memory: &mut M, p: Pid, at: Self::State) -> Next<Self::State>;

    /// Returns whether this line of the entry section belongs to the waiting room. The doorway of a
    /// passage ends at the first such line that the passage reaches.
    fn waits(&self, p: Pid, at: Self::State) -> bool;

    /// Returns the paper's label of the line.
    fn label(&self, p: Pid, at: Self::State) -> Label;

    /// Returns the name (slot) of a process whose exit section begins at `at`, or `None` if the algorithm
    /// does not assign names.
    fn name(&self, _at: Self::State) -> Option<usize> {
        None
    }

    /// Returns the private variables of a process at this line by name, each with its value. `None` means that they are
    /// the fields of the state, as `Debug` prints them.
    fn variables(&self, _at: Self::State) -> Option<Vec<(String, String)>> {
        None
    }

    /// Returns the mishap that can hit `p`, if any. In addition, the checker lets every process stop
    /// permanently. No other process can observe such a stop.
    fn mishap(&self, _p: Pid) -> Option<Mishap> {
        None
    }

    /// Returns whether every renaming of the processes maps initial states to initial states and runs to runs.
    /// Such a step machine keeps no process number in its private state and compares process numbers
    /// only for equality. The lab's tests check the returned value for every step machine.
    fn is_symmetric(&self) -> bool {
        false
    }

    /// Returns whether the algorithm counts without bound. The checker then replaces each state with its
    /// normal form (see [`normalize`](Algorithm::normalize)), so that finitely many states remain.
    fn is_unbounded(&self) -> bool {
        false
    }

    /// Replaces a state with its normal form: a state with smaller numbers and the same future behaviour.
    /// In both states, the same processes can make the same kinds of steps on the same variables. These
    /// steps lead to states with the same normal form.
    fn normalize(&self, _processes: &mut [Loc<Self::State>], _memory: &mut [Word]) {}

    /// Makes each step whose moment makes no difference: the run has the same result, no matter when the process makes
    /// the step. The checker calls this function after each step, and so finds fewer states. By default, there are no
    /// such steps.
    ///
    /// Such a step changes no variable in a way that another process can notice. It does not change the section of its
    /// process, and no step of another process can change its result.
    fn advance(&self, _processes: &mut [Loc<Self::State>], _memory: &mut [Word]) {}

    /// Returns whether a step from or to `at` may change the numbers that
    /// [`normalize`](Algorithm::normalize) reads. If this is false for both ends of a step, and the step
    /// starts in a normal form, it also ends in a normal form.
    fn counts(&self, _at: &Loc<Self::State>) -> bool {
        true
    }

    /// Returns the rules that say which values are stale: no process can read them before a process overwrites
    /// them. By default, there are no rules. The normal form must not depend on stale values.
    fn stale_rules(&self) -> Vec<StaleRule> {
        Vec::new()
    }

    /// Returns whether the variable of `rule` may have a stale value while `p` is at `at`. `p` is the writer or the
    /// reader of this variable.
    fn permits_stale(&self, _rule: &StaleRule, _p: Pid, _at: &Loc<Self::State>) -> bool {
        false
    }

    /// Returns the names of the paper's invariants that
    /// [`broken_invariant`](Algorithm::broken_invariant) evaluates.
    fn invariants(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the first of the paper's invariants that does not hold in this state, or `None` if all hold.
    fn broken_invariant(&self, _state: &View<'_, Self::State>) -> Option<&'static str> {
        None
    }

    /// Returns why the first invariant that does not hold in this state could not be evaluated, such as "divides by 0".
    /// Returns `None` if it could be evaluated, or if all invariants hold.
    fn invariant_fault(&self, _state: &View<'_, Self::State>) -> Option<&'static str> {
        None
    }

    /// Returns the paper's statements about runs.
    fn run_statements(&self) -> &'static [RunStatement] {
        &[]
    }

    /// Evaluates a statement of kind `Always` or `Sometimes` on a step. `history` is the history that this
    /// function returned for the previous step. The checker may pass the normal form of the state before the
    /// step. It does not normalize the state after the step, so the numbers in the two states can be compared.
    fn observe(
        &self,
        _statement: &str,
        _history: u32,
        _step: &Transition<'_, Self::State>,
    ) -> Observed {
        Observed::default()
    }

    /// Returns the number of instances of a statement of kind `LeadsTo`, for example one for each block.
    fn instances(&self, _statement: &str) -> usize {
        1
    }

    /// Returns how many processes may stop in the runs that this instance of a statement of kind `LeadsTo` is about.
    /// The instance says nothing about runs in which more processes stop.
    fn survives(&self, _statement: &str, _instance: usize) -> usize {
        self.k().saturating_sub(1)
    }

    /// Evaluates a side of a statement of kind `LeadsTo` or `Enabled` for process `p`.
    fn condition(
        &self,
        _statement: &str,
        _instance: usize,
        _side: Side,
        _p: Pid,
        _state: &View<'_, Self::State>,
    ) -> bool {
        false
    }
}
