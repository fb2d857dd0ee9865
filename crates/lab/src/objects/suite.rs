//! What is expected.

use super::{
    check::{Question, Report},
    normal::Depth,
    observe::Fault,
    toys::Kind,
    variants::WRONG,
};
use crate::{check::Verdict, graph::Bound};

/// A model, and what is expected of it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The object.
    pub kind: Kind,
    /// How many share it.
    pub k: usize,
    /// How many operations each begins; 0 for no end.
    pub operations: &'static [u8],
    /// Which operations they choose from.
    pub only: u8,
    /// What is wrong on purpose.
    pub wrong: Option<&'static str>,
    /// What is expected.
    pub expected: Expected,
    /// Whether it takes a few seconds at most.
    pub quick: bool,
}

/// What is expected of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// All holds, in so many states; an operation that changes the object takes at most so many own
    /// steps, and one that looks at it so many.
    Holds(u64, u32, u32),
    /// This is violated, by a shortest run of so many steps; 0 for any.
    Violated(Fault, usize),
}

impl Case {
    /// The question.
    pub fn question(&self) -> Question {
        Question {
            kind: self.kind,
            k: self.k,
            operations: self.operations.to_vec(),
            only: self.only,
            wrong: self.wrong.map(String::from),
            depth: Depth::Full,
        }
    }
}

impl Expected {
    /// Whether a report says so.
    pub fn is_met(&self, report: &Report) -> bool {
        match *self {
            Expected::Holds(states, change, look) => {
                let most = |most: u32| (most != 0).then_some(Bound::Most(most));
                report.verdict() == Verdict::Holds
                    && report.states == states
                    && report.most_steps == Some((most(change), most(look)))
            }
            Expected::Violated(fault, steps) => {
                let violated = report.violated.as_ref();
                violated.is_some_and(|shown| {
                    shown.fault == fault && (steps == ANY || shown.lines.len() == steps)
                })
            }
        }
    }
}

const ALL: u8 = !0;
const FIRST: u8 = 1;
/// Which loop is found depends on how many threads look for it.
const ANY: usize = 0;

const fn holds(
    (kind, k, operations, only): (Kind, usize, &'static [u8], u8),
    (states, change, look): (u64, u32, u32),
    quick: bool,
) -> Case {
    let expected = Expected::Holds(states, change, look);
    Case { kind, k, operations, only, wrong: None, expected, quick }
}

const fn violated(
    variant: usize,
    (operations, only): (&'static [u8], u8),
    (fault, steps): (Fault, usize),
    quick: bool,
) -> Case {
    let wrong = WRONG[variant].name;
    let expected = Expected::Violated(fault, steps);
    Case { kind: Kind::Counter, k: 2, operations, only, wrong, expected, quick }
}

/// The models. Those that hold are all of what there is to see; a counter that two share for ever has
/// more states than can be seen, but one of them may go on for ever.
pub const SUITE: &[Case] = &[
    holds((Kind::Counter, 1, &[0], ALL), (129, 22, 6), true),
    holds((Kind::Counter, 2, &[1], ALL), (2_637, 50, 9), true),
    holds((Kind::Counter, 2, &[2], ALL), (284_206, 67, 44), true),
    holds((Kind::Counter, 2, &[1, 0], FIRST), (1_172_313, 66, 0), false),
    holds((Kind::Counter, 3, &[1], FIRST), (1_245_067, 83, 0), false),
    holds((Kind::Register, 2, &[1], ALL), (9_611, 50, 9), true),
    holds((Kind::Queue, 2, &[1, 2], ALL), (181_881, 66, 43), true),
    holds((Kind::Stack, 2, &[1], ALL), (9_657, 50, 9), true),
    violated(0, (&[2], ALL), (Fault::Race, 45), true),
    violated(1, (&[2], ALL), (Fault::Race, 43), true),
    violated(2, (&[2], ALL), (Fault::Missing, 82), true),
    violated(3, (&[2], ALL), (Fault::Missing, 85), true),
    violated(4, (&[1], ALL), (Fault::WaitFree, ANY), true),
    violated(5, (&[2], ALL), (Fault::Race, 47), true),
    // It takes a look that has to ask: who serves another leaves a mark, and the place stays out of use.
    violated(6, (&[3], ALL), (Fault::Linearizable, 137), false),
    violated(7, (&[1, 0], FIRST), (Fault::WaitFree, ANY), true),
    violated(8, (&[3], FIRST), (Fault::Linearizable, 113), true),
];
