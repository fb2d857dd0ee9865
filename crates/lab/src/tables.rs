//! A step machine compiled into tables.
//!
//! The private state alone decides which variable a step accesses. The private state and the value of
//! that variable decide the effect. So a step is a look-up: for each process, private state and value,
//! the table has the bits of the packed state that change. The compiler runs the step machine's code
//! once for each such triple, with a memory that returns every value in turn. This covers more private
//! states than can be reached. It costs a few bits, but does not affect soundness.

mod budget;
mod closure;

use std::collections::HashMap;

use hallpass_algorithms::{Domain, Mishap, Pid, Section, Word};

use closure::{Raw, close};

pub use crate::fields::Field;
use crate::{
    fields::{pack, width},
    machine::{Local, Machine, Position, REMAINDER},
};
pub use budget::Budget;

/// The kind of access that a step makes. Remote references are counted by this kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// No access: the line is local.
    None,
    /// A read.
    Read,
    /// A write.
    Write,
    /// A read-modify-write.
    ReadModifyWrite,
}

/// The step of a process in a given private state.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The kind of access.
    pub access: Access,
    /// The variable that is accessed, if any.
    pub var: u16,
    field: Field,
    first: u32,
}

/// The effect of a step, given the value that it finds.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The next private state of the process, as a code.
    pub next: u32,
    /// The number of the value after the step.
    pub value: u32,
    /// Whether the access is a read-modify-write that changes nothing.
    pub failed: bool,
    /// Whether the value after the step is outside the variable's range.
    pub out_of_range: bool,
    local_bits: u64,
    var_bits: u64,
}

/// The compiled step machine.
pub struct Tables {
    /// The number of processes.
    pub n: usize,
    /// The maximum number of processes in the critical section at once.
    pub k: usize,
    /// The field of each process's private state.
    pub locals: Vec<Field>,
    /// The field of each variable.
    pub vars: Vec<Field>,
    /// A flag that a step sets if it leaves a variable's range. The exploration does not continue after
    /// such a state.
    pub fault: Field,
    /// The additional fields, in the order in which the caller asked for them.
    pub extra: Vec<Field>,
    /// The number of bits of a state.
    pub bits: u32,
    /// The number of words of a state.
    pub words: usize,
    /// For each process and code: the number of the private state.
    pub codes: Vec<Vec<Local>>,
    positions: Vec<Vec<Position>>,
    sections: Vec<Vec<Section>>,
    /// The step in each private state, for one process after another.
    rows: Vec<Row>,
    /// The index in `rows` of the first row of each process.
    first_row: Vec<usize>,
    steps: Vec<Step>,
    domains: Vec<Vec<Word>>,
    numbers: Vec<HashMap<Word, u32>>,
    initial: Vec<Vec<u32>>,
    fates: Vec<Option<Fate>>,
}

/// The effect of the fault that can hit a process.
#[derive(Clone, Debug)]
struct Fate {
    /// The variable's position in the layout.
    index: usize,
    var: Field,
    /// For each value of the variable: the number of the value after the fault.
    left: Vec<u32>,
    kills: bool,
}

/// The reason why a step machine cannot be compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CannotCompile {
    /// The step machine has more private states than a code can number.
    PrivateStates,
    /// A state takes this many bits, which is too many.
    Bits(u32),
    /// The tables take more memory than the budget allows.
    Memory,
    /// The caller stopped the compilation.
    Stopped,
    /// The variable with this name has more values than can be listed.
    Values(String),
    /// A process's store buffer has more possible contents than can be listed.
    Stores,
    /// At this line, the effect of a plain write of this process depends on the value that it
    /// overwrites. Such a write cannot wait in a store buffer.
    WriteThatReads {
        /// The process.
        process: Pid,
        /// The line.
        line: String,
    },
    /// At this line, a step of this process makes more than one shared access.
    TwoAccesses {
        /// The process.
        process: Pid,
        /// The line.
        line: String,
    },
}

/// The maximum number of words of a packed state.
pub const MOST_WORDS: usize = 4;

/// The memory for one value of a variable, in bytes: in the list of values, and in the map from values
/// to numbers.
const BYTES_PER_VALUE: usize = 40;

/// Lists the rows of all processes in order, with the steps of each row.
fn emit(
    raws: &[HashMap<Local, Raw>],
    codes: &[Vec<Local>],
    locals: &[Field],
    vars: &[Field],
) -> (Vec<Row>, Vec<usize>, Vec<Step>) {
    let (mut rows, mut first_row, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    for (p, codes) in codes.iter().enumerate() {
        first_row.push(rows.len());
        for (code, at) in codes.iter().enumerate() {
            let raw = &raws[p][at];
            let field = match raw.access {
                Access::None => Field::default(),
                _ => vars[raw.var as usize],
            };
            let first = steps.len() as u32;
            rows.push(Row { access: raw.access, var: raw.var, field, first });
            steps.extend(raw.steps(code, codes, locals[p], field));
        }
    }
    (rows, first_row, steps)
}

impl Tables {
    /// Compiles `machine`, without limits on memory and time.
    ///
    /// # Errors
    /// Fails if the step machine cannot be compiled.
    pub fn new(machine: &dyn Machine) -> Result<Self, CannotCompile> {
        Self::within(machine, &[], Budget::UNLIMITED)
    }

    /// Compiles `machine` within a budget, for states with additional fields. Each element of `counts`
    /// adds a field for a number less than this element. The number starts at 0.
    ///
    /// # Errors
    /// Fails if the step machine cannot be compiled, or if this takes more memory than the budget
    /// allows.
    pub fn within(
        machine: &dyn Machine,
        counts: &[usize],
        mut budget: Budget<'_>,
    ) -> Result<Self, CannotCompile> {
        let n = machine.n();
        let decls = machine.layout().decls();
        if let Some(wide) = decls.iter().find(|decl| matches!(decl.domain, Domain::Wide(_))) {
            return Err(CannotCompile::Values(wide.name.clone()));
        }
        let values: usize = decls.iter().map(|decl| decl.domain.listed().len()).sum();
        budget.spend(values * BYTES_PER_VALUE)?;
        let domains: Vec<Vec<Word>> =
            decls.iter().map(|decl| decl.domain.listed().to_vec()).collect();
        let numbers: Vec<HashMap<Word, u32>> = domains
            .iter()
            .map(|domain| domain.iter().enumerate().map(|(i, &x)| (x, i as u32)).collect())
            .collect();

        let raws: Vec<HashMap<Local, Raw>> = (0..n)
            .map(|p| close(machine, &domains, &numbers, p, &mut budget))
            .collect::<Result<_, _>>()?;

        // Codes follow the numbers of the step machine. So if two processes can be in the same private
        // states, these states have the same codes for both. Symmetry relies on this.
        let codes: Vec<Vec<Local>> = raws
            .iter()
            .map(|rows| {
                let mut codes: Vec<Local> = rows.keys().copied().collect();
                codes.sort_unstable();
                codes
            })
            .collect();
        let widths: Vec<u32> = (codes.iter().map(|codes| width(codes.len())))
            .chain(domains.iter().map(|domain| width(domain.len())))
            .chain([1])
            .chain(counts.iter().map(|&count| width(count)))
            .collect();
        let (mut locals, words) = pack(&widths);
        let mut vars = locals.split_off(n);
        let extra = vars.split_off(vars.len() - counts.len());
        let fault = vars.pop().expect("its width comes after theirs");
        let bits = widths.iter().sum();
        if words > MOST_WORDS {
            return Err(CannotCompile::Bits(bits));
        }

        let (rows, first_row, steps) = emit(&raws, &codes, &locals, &vars);
        let positions: Vec<Vec<Position>> =
            (0..n).map(|p| codes[p].iter().map(|&at| machine.position(p, at)).collect()).collect();
        let sections =
            positions.iter().map(|row| row.iter().map(|at| at.section).collect()).collect();
        let initial = decls
            .iter()
            .zip(&numbers)
            .map(|(decl, numbers)| decl.initial().iter().map(|x| numbers[x]).collect())
            .collect();
        let fate = |p| {
            let Mishap { var, op, kills, .. } = machine.mishap(p)?;
            let index = var.index();
            let left =
                domains[index].iter().map(|&word| numbers[index][&op.leaves(word)]).collect();
            Some(Fate { index, var: vars[index], left, kills })
        };
        let fates = (0..n).map(fate).collect();
        Ok(Tables {
            n,
            k: machine.k(),
            locals,
            vars,
            fault,
            extra,
            bits,
            words,
            codes,
            positions,
            sections,
            rows,
            first_row,
            steps,
            domains,
            numbers,
            initial,
            fates,
        })
    }

    /// Returns the code of the private state of `p`.
    #[inline]
    pub fn code(&self, state: &[u64], p: Pid) -> usize {
        self.locals[p].get(state)
    }

    /// Returns the code of the private state of `p` just after it has left its remainder.
    pub fn begin(&self, p: Pid) -> usize {
        self.steps[self.rows[self.first_row[p] + REMAINDER as usize].first as usize].next as usize
    }

    /// Returns the step of `p` in the private state with this code.
    pub fn row_of(&self, p: Pid, code: usize) -> &Row {
        &self.rows[self.first_row[p] + code]
    }

    /// Returns the effects of a step of `row`, one for each value that it may find.
    pub fn steps_of(&self, row: &Row) -> &[Step] {
        let count = match row.access {
            Access::None => 1,
            _ => self.domains[row.var as usize].len(),
        };
        &self.steps[row.first as usize..][..count]
    }

    /// Returns the next step of `p`.
    #[inline]
    pub fn row(&self, state: &[u64], p: Pid) -> &Row {
        &self.rows[self.first_row[p] + self.code(state, p)]
    }

    /// Returns the step of `p` in each of its private states.
    pub fn rows(&self, p: Pid) -> &[Row] {
        &self.rows[self.first_row[p]..][..self.codes[p].len()]
    }

    /// Returns the effect of a step of `row` in this state.
    #[inline]
    pub fn step(&self, state: &[u64], row: &Row) -> &Step {
        &self.steps[row.first as usize + row.field.get(state)]
    }

    /// Returns the effect of a step of `row` that finds the value with this number.
    pub fn step_on(&self, row: &Row, value: usize) -> &Step {
        &self.steps[row.first as usize + value]
    }

    /// Returns the next step of `p` and its effect, in a state of known size.
    #[inline]
    pub fn move_of<const W: usize>(&self, state: &[u64; W], p: Pid) -> (&Row, &Step) {
        let row = &self.rows[self.first_row[p] + self.locals[p].get_in(state)];
        (row, &self.steps[row.first as usize + row.field.get_in(state)])
    }

    /// Changes `state` by a step of `p`.
    #[inline]
    pub fn apply<const W: usize>(&self, state: &mut [u64; W], p: Pid, row: &Row, step: &Step) {
        state[self.locals[p].word as usize % W] ^= step.local_bits;
        state[row.field.word as usize % W] ^= step.var_bits;
    }

    /// Changes the private state of `p` by its step. Changes no variable.
    #[inline]
    pub fn apply_local<const W: usize>(&self, state: &mut [u64; W], p: Pid, step: &Step) {
        state[self.locals[p].word as usize] ^= step.local_bits;
    }

    /// Returns whether a fault can hit any process.
    pub fn has_mishaps(&self) -> bool {
        self.fates.iter().any(Option::is_some)
    }

    /// Returns the state after the fault of `p`, or `None` if there is no such fault or it changes
    /// nothing.
    #[inline]
    pub fn befallen<const W: usize>(&self, state: &[u64; W], p: Pid) -> Option<[u64; W]> {
        let fate = self.fates[p].as_ref()?;
        let mut next = *state;
        if fate.kills {
            self.locals[p].set(&mut next, REMAINDER as usize);
        }
        fate.var.set(&mut next, fate.left[fate.var.get_in(state)] as usize);
        (next != *state).then_some(next)
    }

    /// Returns the position in the layout of the variable that the fault of `p` changes in this state.
    pub fn var_changed_by_mishap<const W: usize>(&self, state: &[u64; W], p: Pid) -> Option<usize> {
        let fate = self.fates[p].as_ref()?;
        let value = fate.var.get_in(state);
        (fate.left[value] as usize != value).then_some(fate.index)
    }

    /// Returns the part of the passage in which `p` is.
    #[inline]
    pub fn section(&self, state: &[u64], p: Pid) -> Section {
        self.sections[p][self.code(state, p)]
    }

    /// Returns the position of `p`.
    pub fn position(&self, state: &[u64], p: Pid) -> &Position {
        &self.positions[p][self.code(state, p)]
    }

    /// Returns whether a process holds a name in some private state.
    pub fn assigns_names(&self) -> bool {
        self.positions.iter().flatten().any(|at| at.name.is_some())
    }

    /// Returns the number of processes outside their remainder.
    #[inline]
    pub fn contention(&self, state: &[u64]) -> usize {
        (0..self.n).filter(|&p| self.code(state, p) != 0).count()
    }

    /// Returns the value of each variable.
    pub fn memory(&self, state: &[u64]) -> Vec<Word> {
        self.vars.iter().zip(&self.domains).map(|(var, domain)| domain[var.get(state)]).collect()
    }

    /// Returns the step machine's number for the private state of each process.
    pub fn private(&self, state: &[u64]) -> Vec<Local> {
        (0..self.n).map(|p| self.codes[p][self.code(state, p)]).collect()
    }

    /// Overwrites private states and variables. Returns whether all of them fit into the tables.
    pub fn set(&self, state: &mut [u64], private: &[Local], memory: &[Word]) -> bool {
        for ((codes, field), at) in self.codes.iter().zip(&self.locals).zip(private) {
            if codes[field.get(state)] == *at {
                continue;
            }
            let Ok(code) = codes.binary_search(at) else { return false };
            field.set(state, code);
        }
        let vars = self.numbers.iter().zip(&self.domains).zip(&self.vars);
        for (((numbers, domain), field), value) in vars.zip(memory) {
            if domain[field.get(state)] == *value {
                continue;
            }
            let Some(&number) = numbers.get(value) else { return false };
            field.set(state, number as usize);
        }
        true
    }

    /// Returns the numbers of the initial values of each variable.
    pub fn initial(&self) -> &[Vec<u32>] {
        &self.initial
    }

    /// Returns the value of `var` that has this number.
    pub fn value(&self, var: usize, number: usize) -> Word {
        self.domains[var][number]
    }
}
