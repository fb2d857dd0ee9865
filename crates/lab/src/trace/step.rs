//! What a run is made of.

use hallpass_algorithms::{Decl, Label, Op, Pid, Section, Word};

use crate::{
    schedule::{Conventions, Schedule},
    space::Agent,
};

/// Where a process stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stand {
    /// The part of the passage. A doorway ends at the first line where the passage may wait and
    /// does not begin again: what follows is [`Section::Waiting`], whatever line it is.
    pub section: Section,
    /// The line it is about to execute, unless it is in its remainder or critical section.
    pub label: Option<Label>,
    /// The name it holds, in the critical section of an algorithm that assigns names.
    pub name: Option<usize>,
}

/// What an access does; [`Op`] without its arguments.
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
    Ideal,
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
            Op::AtomicUpdate(..) => Operation::Ideal,
        }
    }
}

/// Where an access takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Via {
    /// In memory.
    Memory,
    /// A store that goes into the process's own buffer.
    IntoBuffer,
    /// A read that the process's own buffer answers.
    FromBuffer,
    /// An earlier store that now leaves the buffer for memory.
    Flush,
    /// What a mishap of the process does.
    Outside,
}

/// One access to shared memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// The variable's place in the layout.
    pub var: usize,
    /// Its name.
    pub name: String,
    /// What is done to it.
    pub operation: Operation,
    /// Where.
    pub via: Via,
    /// The value it finds; of a store into a buffer, what memory holds meanwhile.
    pub found: Word,
    /// The value it leaves; of a store into a buffer, what is stored.
    pub left: Word,
    /// `found` as a person would write it.
    pub found_shown: String,
    /// `left` as a person would write it.
    pub left_shown: String,
    /// Whether it is a read-modify-write that changes nothing because its test fails.
    pub failed: bool,
    /// Whether `left` is outside the variable's declared range.
    pub out_of_range: bool,
}

impl Access {
    /// Whether memory holds another value afterwards.
    pub fn changes_memory(&self) -> bool {
        matches!(self.via, Via::Memory | Via::Flush | Via::Outside) && self.found != self.left
    }
}

/// What a step means for its process's passage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// It starts a passage.
    LeavesRemainder,
    /// For the first time in this passage it stands where it may have to wait, or is in.
    LeavesDoorway,
    /// It enters its critical section, with this name.
    Enters(Option<usize>),
    /// It leaves its critical section.
    LeavesCritical,
    /// It is back in its remainder.
    Returns,
    /// Something befalls it: it is killed, as one.
    Mishap(&'static str),
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Who moves.
    pub agent: Agent,
    /// Whose step that is; a buffer moves on behalf of its process.
    pub process: Pid,
    /// Where the process stood.
    pub before: Stand,
    /// Where it stands now.
    pub after: Stand,
    /// What it did to shared memory.
    pub access: Option<Access>,
    /// Whether that is a remote reference on a cache-coherent machine.
    pub miss: bool,
    /// Whether it is one with distributed shared memory.
    pub remote: bool,
    /// Whether the whole state is the same as before.
    pub stays: bool,
    /// What it means for the passage.
    pub events: Vec<Event>,
}

impl Step {
    /// Whether a store buffer moves and not the process.
    pub fn is_flush(&self) -> bool {
        self.agent != self.process && self.mishap().is_none()
    }

    /// What befalls the process, if this is no step of its own.
    pub fn mishap(&self) -> Option<&'static str> {
        self.events.iter().find_map(|event| match event {
            Event::Mishap(name) => Some(*name),
            _ => None,
        })
    }
}

/// A run, executed.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What was run.
    pub schedule: Schedule,
    /// Its replay string.
    pub replay: String,
    /// The rules by which misses are counted.
    pub conventions: Conventions,
    /// The shared variables.
    pub vars: Vec<Decl>,
    /// Every step of the stem, then one round of the cycle.
    pub steps: Vec<Step>,
    /// What [`confirm`](super::confirm) says of it.
    pub confirmed: Result<(), String>,
}

impl Trace {
    /// How many of the steps come before the cycle.
    pub fn stem(&self) -> usize {
        self.schedule.stem.len()
    }

    /// Whether the run goes on for ever.
    pub fn is_lasso(&self) -> bool {
        !self.schedule.cycle.is_empty()
    }

    /// For each process, after how many steps of the run it stops for ever outside its remainder;
    /// only in a run that goes on for ever does anybody.
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

    /// The processes that move at all, buffers included.
    pub fn movers(&self) -> Vec<Pid> {
        (0..self.schedule.n).filter(|&p| self.steps.iter().any(|s| s.process == p)).collect()
    }
}
