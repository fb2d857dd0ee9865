//! Checks that two step machines differ only in the names of their private states.
//!
//! The first step machine, `own`, is usually an algorithm from a file. The second, `model`, is the
//! built-in algorithm whose normal form the file uses.
//!
//! Both step machines run in lockstep, one process at a time: from each pair of private states, and for
//! every value that the step may find. Suppose that they always access the same variable in the same
//! way, and that the pairs are one-to-one. Then every run of one is a run of the other. So both have the
//! same states, verdicts and remote references, and the normal form of one is a normal form of the
//! other.

use std::{collections::HashSet, fmt};

use hallpass_algorithms::{Layout, Memory, Mishap, Op, Pid, Section, Var, Word};

use hallpass_language::program::FAULT_VARIABLE;

use crate::machine::{Local, Machine, Position, REMAINDER};

/// The maximum number of private states that are compared.
const MOST_PAIRS: usize = 1 << 20;

/// The first difference between two step machines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference(String);

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The corresponding private states and variables of two step machines.
#[derive(Default)]
struct Pairs {
    /// For each variable of the second step machine: the corresponding variable of the first.
    vars: Vec<usize>,
    /// From the first step machine to the second.
    there: Matches,
    /// From the second step machine to the first.
    back: Matches,
}

/// For each private state of one step machine: the corresponding private state of the other.
#[derive(Default)]
struct Matches(Vec<Option<Local>>);

impl Matches {
    fn get(&self, at: Local) -> Option<Local> {
        self.0.get(at as usize).copied().flatten()
    }

    /// Returns the state to which `at` corresponds. If there is none yet, `other` becomes this state.
    fn get_or_insert(&mut self, at: Local, other: Local) -> Local {
        if self.0.len() <= at as usize {
            self.0.resize(at as usize + 1, None);
        }
        *self.0[at as usize].get_or_insert(other)
    }
}

/// A memory that answers one access and records it.
struct Probe {
    answer: Word,
    seen: Option<(Var, Op)>,
}

impl Memory for Probe {
    fn access(&mut self, var: Var, op: Op) -> Word {
        self.seen = Some((var, op));
        self.answer
    }
}

/// Makes a step that finds `answer`. Returns the next private state, and the access as comparable data:
/// the variable, the kind, the value after the access, and whether the access fails.
fn step(
    machine: &dyn Machine,
    p: Pid,
    at: Local,
    answer: Word,
) -> (Local, Option<(usize, &'static str, Word, bool)>) {
    let mut probe = Probe { answer, seen: None };
    let next = machine.step(p, at, &mut probe);
    let access = probe.seen.map(|(var, op)| {
        let kind = match op {
            Op::Read => "reads",
            Op::Write(_) => "writes",
            _ => "changes",
        };
        (var.index(), kind, op.leaves(answer), op.fails_on(answer))
    });
    (next, access)
}

fn shown(machine: &dyn Machine, p: Pid, at: Local) -> String {
    let Position { section, label, .. } = machine.position(p, at);
    match (label, section) {
        (Some(label), _) => format!("at {label}"),
        (None, Section::Critical) => "in its critical section".into(),
        (None, _) => "in its remainder".into(),
    }
}

/// Checks that two step machines are equal, except for the names of private states and variables.
/// `own` may have more variables than `model`, if it never uses the additional ones.
///
/// # Errors
/// Returns the first difference.
pub fn same_machine(own: &dyn Machine, model: &dyn Machine) -> Result<(), Difference> {
    pairs(own, model).map(|_| ())
}

/// Compares the variables, in order. Returns, for each variable of `model`, the corresponding variable
/// of `own`.
fn same_layout(own: &Layout, model: &Layout) -> Result<Vec<usize>, Difference> {
    // An algorithm from a file has one more variable, in which the lab records faults of lines.
    let mut indices =
        (0..own.decls().len()).filter(|&index| own.decls()[index].name != FAULT_VARIABLE);
    let mut vars = Vec::new();
    for like in model.decls() {
        let Some(index) = indices.next() else {
            return Err(Difference(format!(
                "it has no variable that corresponds to {}",
                like.name
            )));
        };
        let decl = &own.decls()[index];
        vars.push(index);
        let (a, b) = (&decl.name, &like.name);
        if decl.initial() != like.initial() {
            return Err(Difference(format!("{a} starts with different values than {b}")));
        }
        if decl.home != like.home {
            return Err(Difference(format!("{a} has a different home than {b}")));
        }
        // `decl` may allow more values than `like`. No step writes the additional values, so they make no
        // difference.
        if like.domain.listed().iter().any(|&value| !decl.domain.contains(value)) {
            return Err(Difference(format!("{b} has values that {a} does not have")));
        }
    }
    Ok(vars)
}

fn pairs(own: &dyn Machine, model: &dyn Machine) -> Result<Pairs, Difference> {
    if (own.n(), own.k()) != (model.n(), model.k()) {
        return Err(Difference("it has a different size".into()));
    }
    let vars = same_layout(own.layout(), model.layout())?;
    let mut pairs = Pairs { vars, ..Pairs::default() };
    for p in 0..own.n() {
        let mut seen = HashSet::new();
        let mut todo = vec![(REMAINDER, REMAINDER)];
        while let Some((a, b)) = todo.pop() {
            let here = || format!("process {p} {}", shown(own, p, a));
            let known = (pairs.there.get_or_insert(a, b), pairs.back.get_or_insert(b, a));
            if known != (b, a) {
                let there = shown(model, p, b);
                return Err(Difference(format!(
                    "{} corresponds to more than one private state, such as {there}",
                    here()
                )));
            }
            let (x, y) = (own.position(p, a), model.position(p, b));
            if (x.section, x.name) != (y.section, y.name) {
                return Err(Difference(format!("{} is in a different section", here())));
            }
            if !seen.insert(a) {
                continue;
            }
            if pairs.there.0.len() > MOST_PAIRS {
                return Err(Difference("there are too many private states to compare".into()));
            }
            todo.extend(next_pairs(own, model, &pairs.vars, p, (a, b))?);
        }
    }
    Ok(pairs)
}

/// Returns the pairs that one step reaches, for every value that it may find.
fn next_pairs(
    own: &dyn Machine,
    model: &dyn Machine,
    vars: &[usize],
    p: Pid,
    (a, b): (Local, Local),
) -> Result<Vec<(Local, Local)>, Difference> {
    let differs =
        |what: String| Err(Difference(format!("process {p} {} {what}", shown(own, p, a))));
    // The step accesses the same variable for every value that it finds, so try it with 0.
    let answers = match (step(own, p, a, 0).1, step(model, p, b, 0).1) {
        (None, None) => &[0][..],
        (Some((var, ..)), Some((other, ..))) if var == vars[other] => {
            model.layout().decls()[other].domain.listed()
        }
        (Some((var, kind, ..)), Some((other, ..))) => {
            let name =
                |machine: &dyn Machine, var: usize| machine.layout().decls()[var].name.clone();
            return differs(format!("{kind} {} instead of {}", name(own, var), name(model, other)));
        }
        _ => {
            return differs(
                "makes an access and the other step machine makes none, or the reverse".into(),
            );
        }
    };
    let mut next = Vec::with_capacity(answers.len());
    for &answer in answers {
        let ((a_next, a_access), (b_next, b_access)) =
            (step(own, p, a, answer), step(model, p, b, answer));
        let b_access = b_access.map(|(var, kind, left, failed)| (vars[var], kind, left, failed));
        if a_access != b_access {
            return differs(format!(
                "has a different effect than in the other step machine if it finds {answer}"
            ));
        }
        next.push((a_next, b_next));
    }
    Ok(next)
}

/// A step machine that uses the normal form of another, equal step machine.
pub(super) struct Borrowed {
    own: Box<dyn Machine>,
    model: Box<dyn Machine>,
    pairs: Pairs,
}

impl Borrowed {
    pub(super) fn new(own: Box<dyn Machine>, model: Box<dyn Machine>) -> Result<Self, Difference> {
        let pairs = pairs(&*own, &*model)?;
        Ok(Borrowed { own, model, pairs })
    }

    /// Changes a state as `change` changes its counterpart in `model`.
    fn translated(
        &self,
        processes: &mut [Local],
        memory: &mut [Word],
        change: impl FnOnce(&mut [Local], &mut [Word]),
    ) {
        let translate = |matches: &Matches, at: &[Local]| -> Option<Vec<Local>> {
            at.iter().map(|&at| matches.get(at)).collect()
        };
        // Every private state has a counterpart unless a variable has left its range, and the compiled tables report
        // that.
        let Some(mut there) = translate(&self.pairs.there, processes) else { return };
        let vars = &self.pairs.vars;
        let mut values: Vec<Word> = vars.iter().map(|&var| memory[var]).collect();
        change(&mut there, &mut values);
        if let Some(back) = translate(&self.pairs.back, &there) {
            processes.copy_from_slice(&back);
            vars.iter().zip(values).for_each(|(&var, value)| memory[var] = value);
        }
    }
}

impl Machine for Borrowed {
    fn n(&self) -> usize {
        self.own.n()
    }

    fn k(&self) -> usize {
        self.own.k()
    }

    fn layout(&self) -> &Layout {
        self.own.layout()
    }

    fn is_symmetric(&self) -> bool {
        // `own` has the same runs as `model`, but it has its own invariants, and they may name a process.
        self.model.is_symmetric() && (self.own.invariants().is_empty() || self.own.is_symmetric())
    }

    fn invariants(&self) -> &'static [&'static str] {
        self.own.invariants()
    }

    fn mishap(&self, p: Pid) -> Option<Mishap> {
        self.own.mishap(p)
    }

    fn step(&self, p: Pid, at: Local, memory: &mut dyn Memory) -> Local {
        self.own.step(p, at, memory)
    }

    fn variables(&self, at: Local) -> Vec<(String, String)> {
        self.own.variables(at)
    }

    fn position(&self, p: Pid, at: Local) -> Position {
        self.own.position(p, at)
    }

    fn is_unbounded(&self) -> bool {
        self.model.is_unbounded()
    }

    fn counts(&self, at: Local) -> bool {
        self.pairs.there.get(at).is_none_or(|at| self.model.counts(at))
    }

    fn normalize(&self, processes: &mut [Local], memory: &mut [Word]) {
        self.translated(processes, memory, |there, memory| self.model.normalize(there, memory));
    }

    fn advance(&self, processes: &mut [Local], memory: &mut [Word]) {
        self.translated(processes, memory, |there, memory| self.model.advance(there, memory));
    }

    fn broken_invariant(&self, processes: &[Local], memory: &[Word]) -> Option<&'static str> {
        self.own.broken_invariant(processes, memory)
    }

    fn invariant_fault(&self, processes: &[Local], memory: &[Word]) -> Option<&'static str> {
        self.own.invariant_fault(processes, memory)
    }
}
