//! Repeats the cycle of a run, without [normal forms](hallpass_algorithms::Algorithm::normalize). Each execution of the
//! cycle is a *round*.
//!
//! If the state after a round equals the state before it, the cycle repeats forever. An algorithm that
//! counts without bound may never return to the same state, but the normal forms of the two states are equal.
//! States with equal normal forms should behave the same. The proof of this is an argument about the
//! algorithm, which may be wrong. So the cycle is also executed many times with the actual states, which
//! are not replaced with their normal forms. Every round must look like the first round.

use super::{
    Error,
    interpreter::Interpreter,
    step::{Stand, Step},
};
use crate::space::Agent;

/// The number of rounds, including the first, that must look alike if no round returns to exactly the same state.
const ROUNDS: usize = 100;

/// Executes the cycle again after its `first` round, and returns the third round. `taken` is the number
/// of steps before the second round.
///
/// # Errors
/// Fails if a step is impossible, or if a round differs from the first round or does not end where it begins.
pub(super) fn repeat(
    interpreter: &mut Interpreter,
    cycle: &[Agent],
    first: &[Step],
    taken: usize,
) -> Result<Vec<Step>, String> {
    let sentence = |error: Error| error.to_string();
    let mut third = Vec::new();
    for round in 2..=ROUNDS {
        let before = interpreter.state().clone();
        let steps =
            interpreter.steps(taken + (round - 2) * cycle.len(), cycle).map_err(sentence)?;
        if let Some(at) = steps.iter().zip(first).position(|(now, then)| !look_alike(now, then)) {
            return Err(format!(
                "without normal forms, the cycle does not repeat: step {} of round {round} differs from round 1",
                at + 1
            ));
        }
        if interpreter.normal(interpreter.state()) != interpreter.normal(&before) {
            return Err(format!("round {round} of the cycle does not end where it begins"));
        }
        if round == 3 {
            third = steps;
        }
        if round >= 3 && *interpreter.state() == before {
            break;
        }
    }
    Ok(third)
}

/// Checks that the cycle, executed from the current state, ends where it begins and repeats.
///
/// # Errors
/// Returns one sentence that says why it does not.
pub(crate) fn recurs(interpreter: &mut Interpreter, cycle: &[Agent]) -> Result<(), String> {
    let begin = interpreter.state().clone();
    let first = interpreter.steps(0, cycle).map_err(|error| error.to_string())?;
    if interpreter.normal(interpreter.state()) != interpreter.normal(&begin) {
        return Err("the cycle does not end in the state in which it begins".into());
    }
    repeat(interpreter, cycle, &first, cycle.len()).map(|_| ())
}

/// Returns whether two steps execute the same line with the same visible result. This ignores whether a
/// process has left its doorway, because that depends on earlier steps, and may change during the
/// first round.
fn look_alike(one: &Step, other: &Step) -> bool {
    let same = |one: &Stand, other: &Stand| {
        let same_section =
            one.section == other.section || one.section.is_entry() && other.section.is_entry();
        same_section && one.label == other.label && one.name == other.name
    };
    one.agent == other.agent && same(&one.before, &other.before) && same(&one.after, &other.after)
}

#[cfg(test)]
mod tests {
    use hallpass_algorithms::{Decl, Label, Layout, Memory, Op, Pid, Section, Var, Word};

    use super::*;
    use crate::machine::{Local, Machine, Position, REMAINDER};

    /// The number of reads after which the process enters.
    const LOOKS: Word = 9;

    /// A process that counts its reads, and enters after `LOOKS` reads. Its normal form is wrong,
    /// because it forgets the count.
    struct Forgetful {
        layout: Layout,
        looks: Var,
    }

    const WAITS: Local = 1;
    const INSIDE: Local = 2;

    impl Machine for Forgetful {
        fn n(&self) -> usize {
            1
        }

        fn k(&self) -> usize {
            1
        }

        fn layout(&self) -> &Layout {
            &self.layout
        }

        fn is_symmetric(&self) -> bool {
            false
        }

        fn invariants(&self) -> &'static [&'static str] {
            &[]
        }

        fn step(&self, _: Pid, at: Local, memory: &mut dyn Memory) -> Local {
            match at {
                REMAINDER => WAITS,
                WAITS if memory.access(self.looks, Op::FetchAdd(1)) < LOOKS => WAITS,
                WAITS => INSIDE,
                _ => REMAINDER,
            }
        }

        fn position(&self, _: Pid, at: Local) -> Position {
            let section = match at {
                REMAINDER => Section::Remainder,
                WAITS => Section::Waiting,
                _ => Section::Critical,
            };
            let label = (at == WAITS).then(|| Label {
                figure: "test",
                line: "1".into(),
                instance: Default::default(),
            });
            Position { section, label, name: None }
        }

        fn is_unbounded(&self) -> bool {
            true
        }

        fn normalize(&self, _: &mut [Local], memory: &mut [Word]) {
            memory.fill(0);
        }

        fn broken_invariant(&self, _: &[Local], _: &[Word]) -> Option<&'static str> {
            None
        }
    }

    #[test]
    fn a_cycle_that_repeats_only_in_normal_form_is_not_confirmed() {
        let mut layout = Layout::default();
        let looks = layout.add(Decl::number("looks", 0, 1000, 0).unbounded());
        let machine = Forgetful { layout, looks };
        let mut interpreter = Interpreter::of(std::sync::Arc::new(machine), vec![0]);
        interpreter.steps(0, &[0]).unwrap();
        let first = interpreter.steps(1, &[0]).unwrap();
        let error = repeat(&mut interpreter, &[0], &first, 2).unwrap_err();
        assert_eq!(
            error,
            "without normal forms, the cycle does not repeat: step 1 of round 10 differs from round 1"
        );
    }
}
