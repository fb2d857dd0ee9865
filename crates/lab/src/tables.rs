//! A machine compiled into tables.
//!
//! Which variable a step accesses depends on the private state alone, and what comes of it on the
//! private state and that variable's value. So a step is a look-up: for each process, private
//! state and value, which bits of the packed state change. The tables are made by running the
//! machine's own code once for each such triple, with a memory that answers every value in turn.
//! That covers more private states than can be reached, which costs a few bits and no soundness.

use std::collections::HashMap;

use hallpass_algorithms::{Memory, Op, Pid, Section, Var, Word};

pub use crate::fields::Field;
use crate::{
    fields::{pack, width},
    machine::{Local, Machine, Place, REMAINDER},
};

/// What kind of access a step makes, for whoever counts remote references.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// None: the line is local.
    None,
    /// A read.
    Read,
    /// A write.
    Write,
    /// A read-modify-write.
    ReadModifyWrite,
}

/// What a process in a given private state does.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The kind of access.
    pub access: Access,
    /// The variable, if there is an access.
    pub var: u16,
    field: Field,
    first: u32,
}

/// What comes of a step that finds a given value.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The process's next private state, as its code.
    pub next: u32,
    /// The number of the value left behind.
    pub value: u32,
    /// Whether the access is a read-modify-write that changes nothing.
    pub failed: bool,
    /// Whether the value left behind is outside the variable's range.
    pub out_of_range: bool,
    local_bits: u64,
    var_bits: u64,
}

/// The compiled machine.
pub struct Tables {
    /// How many processes compete.
    pub n: usize,
    /// How many may be in at once.
    pub k: usize,
    /// Where each process's private state lies.
    pub locals: Vec<Field>,
    /// Where each variable lies.
    pub vars: Vec<Field>,
    /// Set once a step has left a variable's range; nothing follows such a state.
    pub fault: Field,
    /// The fields beyond these that were asked for, in that order.
    pub extra: Vec<Field>,
    /// How many bits a state takes.
    pub bits: u32,
    /// How many words a state takes.
    pub words: usize,
    /// For each process, the private states it can have: code to number.
    pub codes: Vec<Vec<Local>>,
    places: Vec<Vec<Place>>,
    sections: Vec<Vec<Section>>,
    /// What the processes do in each private state, one process after another.
    rows: Vec<Row>,
    /// Where in that each process begins.
    first_row: Vec<usize>,
    steps: Vec<Step>,
    domains: Vec<Vec<Word>>,
    initial: Vec<Vec<u32>>,
}

/// Why a machine cannot be compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TooBig {
    /// More private states than a code can number.
    PrivateStates,
    /// A state takes that many bits.
    Bits(u32),
    /// More contents of a process's store buffer than can be listed.
    Stores,
}

/// The most private states a process may have.
const MOST_LOCALS: usize = 1 << 20;

/// The most words a packed state may take.
pub const MOST_WORDS: usize = 4;

/// A memory that answers one access with a given value and remembers it.
struct Probe<'a> {
    domains: &'a [Vec<Word>],
    /// Which value of the variable's domain to answer.
    answer: usize,
    seen: Option<(Var, Op, Word)>,
}

impl Memory for Probe<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        assert!(self.seen.is_none(), "a step may make one shared access only");
        let old = self.domains[var.index()][self.answer];
        self.seen = Some((var, op, old));
        old
    }
}

/// One entry of the tables before packing.
struct Raw {
    access: Access,
    var: u16,
    /// For each value: next local, value left behind (or none: out of range), failed.
    outcomes: Vec<(Local, Option<u32>, bool)>,
}

impl Raw {
    /// What comes of each value, for the private state with this code.
    fn steps<'a>(
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
    while answer < answers {
        let mut probe = Probe { domains, answer, seen: None };
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

impl Tables {
    /// Compiles `machine`.
    pub fn new(machine: &dyn Machine) -> Result<Self, TooBig> {
        Self::with_extra_fields(machine, &[])
    }

    /// Compiles `machine` for states that hold more than private states and variables: for each
    /// of `counts` a number below it, 0 at first.
    pub fn with_extra_fields(machine: &dyn Machine, counts: &[usize]) -> Result<Self, TooBig> {
        let n = machine.n();
        let domains: Vec<Vec<Word>> =
            machine.layout().decls().iter().map(|decl| decl.domain.clone()).collect();
        let numbers: Vec<HashMap<Word, u32>> = domains
            .iter()
            .map(|domain| domain.iter().enumerate().map(|(i, &x)| (x, i as u32)).collect())
            .collect();

        let mut raws: Vec<HashMap<Local, Raw>> = Vec::new();
        for p in 0..n {
            let mut rows = HashMap::new();
            let mut todo = vec![REMAINDER];
            while let Some(at) = todo.pop() {
                if rows.contains_key(&at) {
                    continue;
                }
                if rows.len() >= MOST_LOCALS {
                    return Err(TooBig::PrivateStates);
                }
                let raw = run_row(machine, &domains, &numbers, p, at);
                todo.extend(raw.outcomes.iter().map(|outcome| outcome.0));
                rows.insert(at, raw);
            }
            raws.push(rows);
        }

        // Codes follow the machine's own numbers, so that processes that can be in the same
        // private states give them the same codes, which symmetry relies on.
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
            return Err(TooBig::Bits(bits));
        }

        let (mut rows, mut first_row, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for p in 0..n {
            first_row.push(rows.len());
            for (code, at) in codes[p].iter().enumerate() {
                let raw = &raws[p][at];
                let field = match raw.access {
                    Access::None => Field::default(),
                    _ => vars[raw.var as usize],
                };
                let first = steps.len() as u32;
                rows.push(Row { access: raw.access, var: raw.var, field, first });
                steps.extend(raw.steps(code, &codes[p], locals[p], field));
            }
        }

        let places: Vec<Vec<Place>> =
            (0..n).map(|p| codes[p].iter().map(|&at| machine.place(p, at)).collect()).collect();
        let sections =
            places.iter().map(|row| row.iter().map(|place| place.section).collect()).collect();
        let initial = machine
            .layout()
            .decls()
            .iter()
            .zip(&numbers)
            .map(|(decl, numbers)| decl.initial().iter().map(|x| numbers[x]).collect())
            .collect();
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
            places,
            sections,
            rows,
            first_row,
            steps,
            domains,
            initial,
        })
    }

    /// The code of `p`'s private state.
    #[inline]
    pub fn code(&self, state: &[u64], p: Pid) -> usize {
        self.locals[p].get(state)
    }

    /// The code of `p`'s private state when it has just left its remainder.
    pub fn begin(&self, p: Pid) -> usize {
        self.steps[self.rows[self.first_row[p] + REMAINDER as usize].first as usize].next as usize
    }

    /// What `p` does in the private state with this code.
    pub fn row_of(&self, p: Pid, code: usize) -> &Row {
        &self.rows[self.first_row[p] + code]
    }

    /// What comes of a step of `row`, for each value it may find.
    pub fn steps_of(&self, row: &Row) -> &[Step] {
        let count = match row.access {
            Access::None => 1,
            _ => self.domains[row.var as usize].len(),
        };
        &self.steps[row.first as usize..][..count]
    }

    /// What `p` does next.
    #[inline]
    pub fn row(&self, state: &[u64], p: Pid) -> &Row {
        &self.rows[self.first_row[p] + self.code(state, p)]
    }

    /// What `p` does in each of its private states.
    pub fn rows(&self, p: Pid) -> &[Row] {
        &self.rows[self.first_row[p]..][..self.codes[p].len()]
    }

    /// What comes of it.
    #[inline]
    pub fn step(&self, state: &[u64], row: &Row) -> &Step {
        &self.steps[row.first as usize + row.field.get(state)]
    }

    /// What comes of a step of `row` that finds the value with this number.
    pub fn step_on(&self, row: &Row, value: usize) -> &Step {
        &self.steps[row.first as usize + value]
    }

    /// What `p` does next and what comes of it, in a state whose size is known.
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

    /// Changes the private state of `p` by its step, and no variable.
    #[inline]
    pub fn apply_local<const W: usize>(&self, state: &mut [u64; W], p: Pid, step: &Step) {
        state[self.locals[p].word as usize] ^= step.local_bits;
    }

    /// The part of the passage `p` is in.
    #[inline]
    pub fn section(&self, state: &[u64], p: Pid) -> Section {
        self.sections[p][self.code(state, p)]
    }

    /// Where `p` stands.
    pub fn place(&self, state: &[u64], p: Pid) -> &Place {
        &self.places[p][self.code(state, p)]
    }

    /// Whether any private state holds a name.
    pub fn assigns_names(&self) -> bool {
        self.places.iter().flatten().any(|place| place.name.is_some())
    }

    /// How many processes are outside their remainder.
    #[inline]
    pub fn contention(&self, state: &[u64]) -> usize {
        (0..self.n).filter(|&p| self.code(state, p) != 0).count()
    }

    /// The value of each variable.
    pub fn memory(&self, state: &[u64]) -> Vec<Word> {
        self.vars.iter().zip(&self.domains).map(|(var, domain)| domain[var.get(state)]).collect()
    }

    /// The machine's number of each process's private state.
    pub fn private(&self, state: &[u64]) -> Vec<Local> {
        (0..self.n).map(|p| self.codes[p][self.code(state, p)]).collect()
    }

    /// For each variable, the numbers of the values it may have at first.
    pub fn initial(&self) -> &[Vec<u32>] {
        &self.initial
    }

    /// The value of `var` that has this number.
    pub fn value(&self, var: usize, number: usize) -> Word {
        self.domains[var][number]
    }
}
