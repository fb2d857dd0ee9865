//! Every private state a process can have, by running the machine against every answer.

use std::collections::HashMap;

use hallpass_algorithms::{Memory, Op, Pid, Var, Word};

use super::{Access, Step, TooBig};
use crate::{
    fields::Field,
    machine::{Local, Machine, REMAINDER},
};

/// The most private states a process may have.
const MOST_LOCALS: usize = 1 << 20;

/// A memory that answers one access with a given value and remembers it.
struct Probe<'a> {
    domains: &'a [Vec<Word>],
    /// Which value of the variable's domain to answer.
    answer: usize,
    seen: Option<(Var, Op, Word)>,
    /// The step and what it accesses, for the message about a step that makes two accesses.
    describe: &'a dyn Fn(Var, Var) -> String,
}

impl Memory for Probe<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        if let Some((first, ..)) = self.seen {
            panic!("a step may make only one shared access: {}", (self.describe)(first, var));
        }
        let old = self.domains[var.index()][self.answer];
        self.seen = Some((var, op, old));
        old
    }
}

/// One entry of the tables before packing.
pub(super) struct Raw {
    pub access: Access,
    pub var: u16,
    /// For each value: next local, value left behind (or none: out of range), failed.
    outcomes: Vec<(Local, Option<u32>, bool)>,
}

impl Raw {
    /// What comes of each value, for the private state with this code.
    pub fn steps<'a>(
        &'a self,
        code: usize,
        codes: &'a [Local],
        local: Field,
        var: Field,
    ) -> impl Iterator<Item = Step> + 'a {
        self.outcomes.iter().enumerate().map(move |(value, &(next, left, failed))| {
            let next = codes.binary_search(&next).expect("closed under steps");
            let left_or_same = left.unwrap_or(value as u32);
            Step {
                next: next as u32,
                value: left_or_same,
                failed,
                out_of_range: left.is_none(),
                local_bits: ((code ^ next) as u64) << local.shift,
                var_bits: ((value as u64) ^ u64::from(left_or_same)) << var.shift,
            }
        })
    }
}

fn run_row(
    machine: &dyn Machine,
    domains: &[Vec<Word>],
    numbers: &[HashMap<Word, u32>],
    p: Pid,
    at: Local,
) -> Raw {
    let mut raw = Raw { access: Access::None, var: 0, outcomes: Vec::new() };
    let mut answers = 1;
    let mut answer = 0;
    let describe = |first: Var, second: Var| {
        let name = |var: Var| machine.layout().decl(var).name.clone();
        let line = machine.place(p, at).label.map_or_else(String::new, |label| label.to_string());
        format!("process {p} at line {line} accesses {} and {}", name(first), name(second))
    };
    while answer < answers {
        let mut probe = Probe { domains, answer, seen: None, describe: &describe };
        let next = machine.step(p, at, &mut probe);
        match probe.seen {
            None => raw.outcomes.push((next, Some(0), false)),
            Some((var, op, old)) => {
                answers = domains[var.index()].len();
                raw.var = var.index() as u16;
                raw.access = match op {
                    Op::Read => Access::Read,
                    Op::Write(_) => Access::Write,
                    _ => Access::ReadModifyWrite,
                };
                let left = numbers[var.index()].get(&op.leaves(old)).copied();
                raw.outcomes.push((next, left, op.fails_on(old)));
            }
        }
        answer += 1;
    }
    raw
}

/// What `p` does in each of its private states: from the remainder on, whatever it may find.
pub(super) fn close(
    machine: &dyn Machine,
    domains: &[Vec<Word>],
    numbers: &[HashMap<Word, u32>],
    p: Pid,
) -> Result<HashMap<Local, Raw>, TooBig> {
    let mut rows = HashMap::new();
    let mut todo = vec![REMAINDER];
    while let Some(at) = todo.pop() {
        if rows.contains_key(&at) {
            continue;
        }
        if rows.len() >= MOST_LOCALS {
            return Err(TooBig::PrivateStates);
        }
        let raw = run_row(machine, domains, numbers, p, at);
        todo.extend(raw.outcomes.iter().map(|outcome| outcome.0));
        rows.insert(at, raw);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use hallpass_algorithms::{Decl, Label, Layout, Section};

    use super::*;
    use crate::machine::Place;

    /// Reads `x` and writes `y` in one step.
    struct TwoAccesses(Layout);

    impl Machine for TwoAccesses {
        fn n(&self) -> usize {
            1
        }

        fn k(&self) -> usize {
            1
        }

        fn layout(&self) -> &Layout {
            &self.0
        }

        fn is_symmetric(&self) -> bool {
            false
        }

        fn invariants(&self) -> &'static [&'static str] {
            &[]
        }

        fn step(&self, _: Pid, _: Local, mut memory: &mut dyn Memory) -> Local {
            let mut vars = self.0.vars();
            let (x, y) = (vars.next().unwrap(), vars.next().unwrap());
            let value = memory.read(x);
            (&mut memory).write(y, value);
            REMAINDER
        }

        fn place(&self, _: Pid, _: Local) -> Place {
            let label = Label { figure: "fig0", line: "7".into(), instance: String::new() };
            Place { section: Section::Doorway, label: Some(label), name: None }
        }

        fn broken_invariant(&self, _: &[Local], _: &[Word]) -> Option<&'static str> {
            None
        }
    }

    #[test]
    #[should_panic(expected = "process 0 at line fig0:7 accesses x and y")]
    fn a_step_with_two_accesses_is_named() {
        let mut layout = Layout::default();
        layout.add(Decl::flag("x", false));
        layout.add(Decl::flag("y", false));
        let values: HashMap<Word, u32> = [(0, 0), (1, 1)].into();
        let _ =
            close(&TwoAccesses(layout), &[vec![0, 1], vec![0, 1]], &[values.clone(), values], 0);
    }
}
