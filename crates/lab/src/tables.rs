//! A step machine compiled into tables.
//!
//! The private state alone decides which variable a step accesses. The private state and the value of
//! that variable decide the effect. So a step is a look-up: for each process, private state and value,
//! the table has the bits of the packed state that change. The compiler runs the step machine's code
//! once for each such triple, with a memory that returns every value in turn. This covers more private
//! states than can be reached. The unreachable ones cost a few bits, but do not affect soundness.

mod budget;
mod closure;
mod look_up;
mod parts;

use std::collections::HashMap;

use hallpass_algorithms::{Domain, Mishap, Pid, Section, Word};

use closure::{Raw, close};

pub use crate::fields::Field;
use crate::{
    fields::{pack, width},
    machine::{Local, Machine, Position},
};
pub use budget::Budget;

/// The kind of access that a step makes. Remote references are counted by this kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// No access: the line is local.
    None,
    /// A read, which is remote if the reader has no valid copy.
    Read,
    /// A write without a read.
    Write,
    /// A read-modify-write, such as a compare-and-swap.
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
    /// Whether the access is a failed read-modify-write.
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
    /// The flag of a state that is set if the last step wrote a value outside the variable's range, or if the
    /// [normal form](crate::space::Normal) of the state does not fit into the tables. The exploration does not continue
    /// after such a state.
    pub out_of_range: Field,
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
    /// For each row: whether the private state is in the critical section.
    critical: Vec<bool>,
    /// The step in each private state, for one process after another.
    rows: Vec<Row>,
    /// The index in `rows` of the first row of each process.
    first_row: Vec<usize>,
    steps: Vec<Step>,
    domains: Vec<Vec<Word>>,
    numbers: Vec<HashMap<Word, u32>>,
    initial: Vec<Vec<u32>>,
    mishap_effects: Vec<Option<MishapEffect>>,
    /// Whether [mishaps](Mishap), such as the death of a process, may happen any number of times in a run in which a
    /// process starves.
    pub mishaps_recur: bool,
}

/// The effect of the mishap that can hit a process.
#[derive(Clone, Debug)]
struct MishapEffect {
    /// The variable's position in the layout.
    index: usize,
    var: Field,
    /// For each value of the variable: the number of the value after the mishap.
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
        /// The process that makes the step.
        process: Pid,
        /// The label of the line.
        line: String,
    },
    /// At this line, a step of this process makes more than one shared access.
    TwoAccesses {
        /// The process that makes the step.
        process: Pid,
        /// The label of the line.
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
        let out_of_range =
            vars.pop().expect("the width of the flag follows those of the variables");
        let bits = widths.iter().sum();
        if words > MOST_WORDS {
            return Err(CannotCompile::Bits(bits));
        }

        let (rows, first_row, steps) = emit(&raws, &codes, &locals, &vars);
        let positions: Vec<Vec<Position>> =
            (0..n).map(|p| codes[p].iter().map(|&at| machine.position(p, at)).collect()).collect();
        let sections: Vec<Vec<Section>> =
            positions.iter().map(|row| row.iter().map(|at| at.section).collect()).collect();
        let critical =
            sections.iter().flatten().map(|&section| section == Section::Critical).collect();
        let initial = decls
            .iter()
            .zip(&numbers)
            .map(|(decl, numbers)| decl.initial().iter().map(|x| numbers[x]).collect())
            .collect();
        let mishap_effect = |p| {
            let Mishap { var, op, kills, .. } = machine.mishap(p)?;
            let index = var.index();
            let left =
                domains[index].iter().map(|&word| numbers[index][&op.leaves(word)]).collect();
            Some(MishapEffect { index, var: vars[index], left, kills })
        };
        let mishap_effects = (0..n).map(mishap_effect).collect();
        let mishaps_recur = (0..n).filter_map(|p| machine.mishap(p)).any(|mishap| mishap.recurs);
        Ok(Tables {
            n,
            k: machine.k(),
            locals,
            vars,
            out_of_range,
            extra,
            bits,
            words,
            codes,
            positions,
            sections,
            critical,
            rows,
            first_row,
            steps,
            domains,
            numbers,
            initial,
            mishap_effects,
            mishaps_recur,
        })
    }
}
