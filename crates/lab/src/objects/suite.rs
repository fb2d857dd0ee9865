//! Models with their expected results.

use super::{
    check::{Question, Report},
    normal::Reduction,
    object::ObjectKind,
    observe::Violation,
    variants::WRONG,
};
use crate::{check::Verdict, graph::Bound};

/// A model and its expected result.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The object of the model.
    pub kind: ObjectKind,
    /// The number of processes.
    pub k: usize,
    /// The number of operations that each process may begin, where 0 means no limit.
    pub operations: &'static [u8],
    /// The operations from which processes choose, one bit each.
    pub only: u8,
    /// The name of a wrong variant.
    pub wrong: Option<&'static str>,
    /// The expected result.
    pub expected: Expected,
    /// Whether the check takes at most a few seconds.
    pub quick: bool,
}

/// The expected result of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// All properties hold. The numbers are the states, the maximum steps of an applied operation, and
    /// the maximum steps of a read. A maximum is 0 if no process begins such an operation.
    Holds(u64, u32, u32),
    /// This property is violated. The number is the length of a shortest run, or 0 if any length is
    /// accepted.
    Violated(Violation, usize),
}

impl Case {
    /// Returns the question that the checker must answer for this case.
    pub fn question(&self) -> Question {
        Question {
            kind: self.kind,
            k: self.k,
            operations: self.operations.to_vec(),
            only: self.only,
            wrong: self.wrong.map(String::from),
            reduction: Reduction::Full,
        }
    }
}

impl Expected {
    /// Returns whether a report agrees with the expected result.
    pub fn is_met(&self, report: &Report) -> bool {
        match *self {
            Expected::Holds(states, apply, read) => {
                let bound = |max: u32| (max != 0).then_some(Bound::Most(max));
                report.verdict() == Verdict::Holds
                    && report.states == states
                    && report.max_steps == Some((bound(apply), bound(read)))
            }
            Expected::Violated(violation, steps) => {
                let violated = report.violated.as_ref();
                violated.is_some_and(|counterexample| {
                    counterexample.violation == violation
                        && (steps == ANY || counterexample.lines.len() == steps)
                })
            }
        }
    }
}

const ALL: u8 = !0;
const FIRST: u8 = 1;
/// Accepts any length, because the number of threads decides which cycle is found.
const ANY: usize = 0;

const fn holds(
    (kind, k, operations, only): (ObjectKind, usize, &'static [u8], u8),
    (states, apply, read): (u64, u32, u32),
    quick: bool,
) -> Case {
    let expected = Expected::Holds(states, apply, read);
    Case { kind, k, operations, only, wrong: None, expected, quick }
}

const fn violated(
    variant: usize,
    (operations, only): (&'static [u8], u8),
    (violation, steps): (Violation, usize),
    quick: bool,
) -> Case {
    let wrong = WRONG[variant].name;
    let expected = Expected::Violated(violation, steps);
    Case { kind: ObjectKind::Counter, k: 2, operations, only, wrong, expected, quick }
}

/// The models. Those whose properties hold are explored completely. A counter that two processes use
/// without limit has too many states. With a limit for one of the two, all states can be explored.
pub const SUITE: &[Case] = &[
    holds((ObjectKind::Counter, 1, &[0], ALL), (129, 22, 6), true),
    holds((ObjectKind::Counter, 2, &[1], ALL), (2_637, 50, 9), true),
    holds((ObjectKind::Counter, 2, &[2], ALL), (284_206, 67, 44), true),
    holds((ObjectKind::Counter, 2, &[1, 0], FIRST), (1_172_313, 66, 0), false),
    holds((ObjectKind::Counter, 3, &[1], FIRST), (1_245_067, 83, 0), false),
    holds((ObjectKind::Register, 2, &[1], ALL), (9_611, 50, 9), true),
    holds((ObjectKind::Queue, 2, &[1, 2], ALL), (181_881, 66, 43), true),
    holds((ObjectKind::Stack, 2, &[1], ALL), (9_657, 50, 9), true),
    violated(0, (&[2], ALL), (Violation::Race, 45), true),
    violated(1, (&[2], ALL), (Violation::Race, 43), true),
    violated(2, (&[2], ALL), (Violation::Missing, 82), true),
    violated(3, (&[2], ALL), (Violation::Missing, 85), true),
    violated(4, (&[1], ALL), (Violation::WaitFree, ANY), true),
    violated(5, (&[2], ALL), (Violation::Race, 47), true),
    // This violation needs a read that makes a request. A process that has served another process never clears its
    // mark, so the marked buffer stays out of use until the process marks another one.
    violated(6, (&[3], ALL), (Violation::Linearizable, 137), false),
    violated(7, (&[1, 0], FIRST), (Violation::WaitFree, ANY), true),
    violated(8, (&[3], FIRST), (Violation::Linearizable, 113), true),
];
