//! The parts of an executed run.

use hallpass_algorithms::{Decl, Label, Op, Pid, Section, Word};
use hallpass_language::program::FAULT_VARIABLE;

use crate::{
    schedule::{Conventions, Schedule},
    space::Agent,
};

/// The position of a process in its passage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stand {
    /// The part of the passage. The doorway ends at the first line at which the passage may wait. All
    /// later lines of the entry section count as [`Section::Waiting`].
    pub section: Section,
    /// The next line, or `None` in the remainder and in the critical section.
    pub label: Option<Label>,
    /// The name that the process holds in its critical section, if the algorithm assigns names.
    pub name: Option<usize>,
}

/// The kind of an access: an [`Op`] without its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Operation {
    Read,
    Write,
    FetchAdd,
    TestAndSet,
    Set,
    Clear,
    CompareAndSwap,
    AtomicUpdate,
}

impl From<Op> for Operation {
    fn from(op: Op) -> Self {
        match op {
            Op::Read => Operation::Read,
            Op::Write(_) => Operation::Write,
            Op::FetchAdd(_) => Operation::FetchAdd,
            Op::TestAndSet => Operation::TestAndSet,
            Op::Set(_) => Operation::Set,
            Op::Clear(_) => Operation::Clear,
            Op::CompareAndSwap { .. } => Operation::CompareAndSwap,
            Op::AtomicUpdate(..) => Operation::AtomicUpdate,
        }
    }
}

/// The place where an access takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Via {
    /// The access takes effect in memory.
    Memory,
    /// The access is a store into the process's own buffer.
    IntoBuffer,
    /// The access is a read that the process's own buffer answers.
    FromBuffer,
    /// An earlier store moves from the buffer to memory.
    Flush,
    /// The access is the effect of a mishap that hits the process.
    Outside,
}

/// One access to shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// The index of the variable in the layout.
    pub var: usize,
    /// The name of the variable.
    pub name: String,
    /// The kind of the access.
    pub operation: Operation,
    /// Where the access takes effect.
    pub via: Via,
    /// The value before the access. For a store into a buffer, this is the value in memory.
    pub found: Word,
    /// The value after the access. For a store into a buffer, this is the stored value.
    pub left: Word,
    /// `found` in readable form.
    pub found_shown: String,
    /// `left` in readable form.
    pub left_shown: String,
    /// Whether the access is a read-modify-write that changes nothing because its test fails.
    pub failed: bool,
    /// Whether `left` is outside the variable's declared range.
    pub out_of_range: bool,
}

impl Access {
    /// Returns whether the access changes the value in memory.
    pub fn changes_memory(&self) -> bool {
        matches!(self.via, Via::Memory | Via::Flush | Via::Outside) && self.found != self.left
    }

    /// Returns whether the access stands for a mistake of a line in a file, such as a division by 0. `left_shown` then
    /// says which.
    pub fn is_fault(&self) -> bool {
        self.name == FAULT_VARIABLE && self.out_of_range
    }
}

/// An event in the passage of a process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// The process starts a passage.
    LeavesRemainder,
    /// The process reaches the first line of this passage at which it may have to wait, or enters.
    LeavesDoorway,
    /// The process enters its critical section, with this name.
    Enters(Option<usize>),
    /// The process leaves its critical section.
    LeavesCritical,
    /// The process returns to its remainder.
    Returns,
    /// A mishap hits the process, for example `killed`.
    Mishap(&'static str),
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The agent that takes the step.
    pub agent: Agent,
    /// The process to which the agent belongs.
    pub process: Pid,
    /// The position of the process before the step.
    pub before: Stand,
    /// The position of the process after the step.
    pub after: Stand,
    /// The access to shared memory.
    pub access: Option<Access>,
    /// Whether the access is a remote reference in the cache-coherent model.
    pub miss: bool,
    /// Whether the access is a remote reference in the model of distributed shared memory.
    pub remote: bool,
    /// Whether the step does not change the state.
    pub stays: bool,
    /// The events of the step.
    pub events: Vec<Event>,
}

impl Step {
    /// Returns whether this is a step of a store buffer, and not of the process.
    pub fn is_flush(&self) -> bool {
        self.agent != self.process && self.mishap().is_none()
    }

    /// Returns the name of the mishap, or `None` if this is a step of the process or of its buffer.
    pub fn mishap(&self) -> Option<&'static str> {
        self.events.iter().find_map(|event| match event {
            Event::Mishap(name) => Some(*name),
            _ => None,
        })
    }
}

/// An executed run.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The schedule that was executed.
    pub schedule: Schedule,
    /// The replay string of the schedule.
    pub replay: String,
    /// The rules of counting remote references.
    pub conventions: Conventions,
    /// The shared variables.
    pub vars: Vec<Decl>,
    /// The steps of the stem, then one round of the cycle.
    pub steps: Vec<Step>,
    /// Why the first invariant that does not hold at the end could not be evaluated, such as "divides by 0". `None` if
    /// its value is `false`, if every invariant holds, or if the finding is not about an invariant.
    pub invariant_fault: Option<&'static str>,
    /// The result of [`confirm`](super::confirm).
    pub confirmed: Result<(), String>,
}

impl Trace {
    /// Returns the number of steps before the cycle.
    pub fn stem(&self) -> usize {
        self.schedule.stem.len()
    }

    /// Returns whether the run ends with a cycle that repeats forever.
    pub fn is_lasso(&self) -> bool {
        !self.schedule.cycle.is_empty()
    }

    /// Returns for each process whether it stops forever outside its remainder: the number of steps of the run up to
    /// its last step, or `None` if it does not stop. In a run without a cycle, no process counts as stopped.
    pub fn stops(&self) -> Vec<Option<usize>> {
        (0..self.schedule.n)
            .map(|p| {
                let own = |step: &Step| step.agent == p;
                let moves_on = self.schedule.cycle.contains(&p);
                let last = self.steps.iter().rposition(own)?;
                let outside = self.steps[last].after.section != Section::Remainder;
                (self.is_lasso() && !moves_on && outside).then_some(last + 1)
            })
            .collect()
    }

    /// Returns the processes for which the run has a step: of the process itself, its buffer or its mishap.
    pub fn movers(&self) -> Vec<Pid> {
        (0..self.schedule.n).filter(|&p| self.steps.iter().any(|s| s.process == p)).collect()
    }
}
