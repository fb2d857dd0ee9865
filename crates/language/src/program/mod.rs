//! The step machine of a file at one *size*, that is, for given numbers n and k.

mod places;
mod show;
mod size;
mod step;

use std::{fmt, sync::Arc};

use hallpass_algorithms::{Layout, Var};

use crate::{
    code::{Code, Ex, Value},
    eval::Scope,
    token::Span,
};

/// The maximum number of private variables of a file.
pub const MOST_PRIVATE: usize = 12;
/// The maximum number of values of a shared variable.
const MOST_VALUES: Value = 1 << 16;
/// The name of the variable to which a process writes its fault, such as the use of an index that does not exist.
pub const FAULT_VARIABLE: &str = "fault";

/// The private state of a process: the line that it executes next, and the private variables that matter
/// at this line. The other private variables are 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct At {
    pub(crate) line: u16,
    pub(crate) private: [i32; MOST_PRIVATE],
}

/// The elements of a shared array. A plain variable has one.
pub(crate) struct Elements {
    /// The first index and the number of indices, for each dimension.
    pub(crate) dimensions: Vec<(Value, usize)>,
    pub(crate) vars: Vec<Var>,
}

/// An algorithm of a file, for n processes of which k may be in the critical section.
pub struct Program {
    pub(crate) code: Arc<Code>,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) constants: Vec<Value>,
    pub(crate) arrays: Vec<Elements>,
    /// The number of the instruction that enters the critical section.
    pub(crate) critical: u16,
    /// The smallest and the largest value of each private variable.
    ranges: Vec<(Value, Value)>,
    /// For each process, the private variables at the start of a passage.
    starts: Vec<[i32; MOST_PRIVATE]>,
    layout: Layout,
    /// The sum of the numbers of values that the shared variables can have.
    values: usize,
    /// A variable that the file does not declare. Its range contains only 0. A process that makes a fault writes a
    /// value outside this range to it, which the lab reports as a violation.
    fault: Var,
    figure: &'static str,
    invariants: &'static [&'static str],
    /// The conditions of the invariants at this size.
    conditions: Vec<Ex>,
}

/// Error: a file does not describe an algorithm of this size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SizeError {
    /// The reason, in one sentence.
    pub message: String,
    /// The declaration that makes no sense at this size, if there is one.
    pub span: Option<Span>,
}

impl SizeError {
    fn new(message: String) -> Self {
        SizeError { message, span: None }
    }

    /// Adds the place of the declaration.
    fn at(self, span: &Span) -> Self {
        SizeError { span: Some(span.clone()), ..self }
    }
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SizeError {}

impl Program {
    /// Returns the checked file.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Returns a bound on remote references at this contention, or `None` if the bound has no value or is below 0.
    pub fn value_of_bound(&self, bound: &Ex, contention: usize) -> Option<u64> {
        let mut scope = Scope { bound: vec![contention as Value], ..Scope::constant(self) };
        scope.value(bound).ok().and_then(|value| u64::try_from(value).ok())
    }

    /// Returns how many processes may stop without starving another, if the file says so.
    pub fn stopped(&self) -> Option<usize> {
        let value = Scope::constant(self).value(self.code.promises.stopped.as_ref()?).ok()?;
        usize::try_from(value).ok()
    }
}
