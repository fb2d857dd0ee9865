//! Finds every private state that a process can have, by running the step machine with every value that
//! a read may return.

use std::collections::HashMap;

use hallpass_algorithms::{Memory, Op, Pid, Var, Word};

use super::{Access, Budget, CannotCompile, Step};
use crate::{
    fields::Field,
    machine::{Local, Machine, REMAINDER},
};

/// The maximum number of private states of a process.
const MOST_LOCALS: usize = 1 << 20;

/// The approximate memory for a private state, in bytes: in the numbering of the step machine, here, and
/// in the tables.
const BYTES_PER_LOCAL: usize = 512;
/// The memory for the effect of a step on one value, in bytes: here, and in the tables.
const BYTES_PER_OUTCOME: usize = 16 + size_of::<Step>();

/// A memory that answers one access with a given value and records the access.
struct Probe<'a> {
    domains: &'a [Vec<Word>],
    /// The index in the variable's domain of the value to return.
    answer: usize,
    seen: Option<(Var, Op, Word)>,
    accesses: usize,
}

impl Memory for Probe<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        self.accesses += 1;
        let domain = &self.domains[var.index()];
        // A second access is an error. Until the step ends, any value will do.
        let old = if self.accesses == 1 { domain[self.answer] } else { domain[0] };
        self.seen = Some((var, op, old));
        old
    }
}

/// One entry of the tables before packing.
pub(super) struct Raw {
    pub access: Access,
    pub var: u16,
    /// For each value: the next private state, the value after the step (`None` if it is out of range),
    /// and whether the access failed.
    outcomes: Vec<(Local, Option<u32>, bool)>,
}

impl Raw {
    /// Returns the effect on each value, for the private state with this code.
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
    budget: &mut Budget<'_>,
) -> Result<Raw, CannotCompile> {
    let mut raw = Raw { access: Access::None, var: 0, outcomes: Vec::new() };
    let mut answers = 1;
    let mut answer = 0;
    while answer < answers {
        let mut probe = Probe { domains, answer, seen: None, accesses: 0 };
        let next = machine.step(p, at, &mut probe);
        if probe.accesses > 1 {
            let line = machine.position(p, at).label.map_or_else(String::new, |at| at.to_string());
            return Err(CannotCompile::TwoAccesses { process: p, line });
        }
        match probe.seen {
            None => raw.outcomes.push((next, Some(0), false)),
            Some((var, op, old)) => {
                answers = domains[var.index()].len();
                budget.spend(BYTES_PER_OUTCOME)?;
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
    Ok(raw)
}

/// Returns the step of `p` in each of its private states, starting in the remainder, for every value
/// that it may find.
pub(super) fn close(
    machine: &dyn Machine,
    domains: &[Vec<Word>],
    numbers: &[HashMap<Word, u32>],
    p: Pid,
    budget: &mut Budget<'_>,
) -> Result<HashMap<Local, Raw>, CannotCompile> {
    let mut rows = HashMap::new();
    let mut todo = vec![REMAINDER];
    while let Some(at) = todo.pop() {
        if rows.contains_key(&at) {
            continue;
        }
        if rows.len() >= MOST_LOCALS {
            return Err(CannotCompile::PrivateStates);
        }
        budget.spend(BYTES_PER_LOCAL)?;
        let raw = run_row(machine, domains, numbers, p, at, budget)?;
        todo.extend(raw.outcomes.iter().map(|outcome| outcome.0));
        rows.insert(at, raw);
    }
    Ok(rows)
}
