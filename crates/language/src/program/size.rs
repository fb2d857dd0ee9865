//! Builds the step machine of a file for n processes of which k may be in the critical section. Evaluates the
//! constants, declares the variables and checks the promises at this size.

use std::sync::Arc;

use hallpass_algorithms::{Decl, Init, Kind as WordKind, Layout, Pid, framework::queue};

use super::{
    Elements, FAULT_VARIABLE, MOST_PRIVATE, MOST_VALUES, Program, SizeError,
    show::{Faults, QueueOfProcesses, SetOfProcesses, Spot},
};
use crate::{
    code::{Code, Ex, Instr, Kind, Promises, Value, Variable},
    eval::Scope,
    intern::{intern, intern_all},
};

/// The maximum number of values of all shared variables together.
const MOST_VALUES_TOGETHER: usize = 1 << 20;
/// The maximum number of shared variables. Each element of an array counts as one.
const MOST_VARIABLES: usize = 4096;
/// The largest value of a counter that is declared without a limit.
const COUNTER: Value = 12;
/// The maximum number of processes of an algorithm with a queue. It is small, because the values of a queue are the
/// arrangements of all sets of processes.
const MOST_IN_QUEUE: usize = 7;

impl Program {
    /// Builds the algorithm of `code` for `n` processes, of which `k` may be in the critical section.
    ///
    /// # Errors
    /// Fails if the file excludes this size, or a declaration makes no sense at it.
    pub fn new(code: Arc<Code>, n: usize, k: usize) -> Result<Self, SizeError> {
        let name = &code.name;
        let size = |text: String| Err(SizeError::new(text));
        if k == 0 || k >= n {
            return size(format!("k must be from 1 to n - 1, got n = {n}, k = {k}"));
        }
        if n > hallpass_algorithms::registry::MAX_PROCESSES {
            let most = hallpass_algorithms::registry::MAX_PROCESSES;
            return size(format!("n must be at most {most}, got {n}"));
        }
        let critical = code.instrs.iter().position(|instr| matches!(instr, Instr::Enter));
        let invariants: Vec<&'static str> = code.invariants.iter().map(|(name, _)| *name).collect();
        let mut program = Program {
            n,
            k,
            constants: Vec::new(),
            arrays: Vec::new(),
            critical: critical.unwrap_or(0) as u16,
            ranges: Vec::new(),
            starts: Vec::new(),
            layout: Layout::default(),
            values: 0,
            fault: Layout::default().add(Decl::flag(FAULT_VARIABLE, false)),
            figure: intern(name),
            invariants: intern_all(&invariants),
            conditions: Vec::new(),
            code: code.clone(),
        };
        for (constant, value) in &code.constants {
            let value = program.constant(value, &format!("the constant {constant}"))?;
            program.constants.push(value);
        }
        for (condition, printed) in &code.requires {
            if program.constant(condition, "a condition of `requires`")? == 0 {
                return size(format!("{name} requires {printed}, got n = {n}, k = {k}"));
            }
        }
        for variable in &code.shared {
            program.declare(variable).map_err(|error| error.at(&variable.span))?;
        }
        for variable in &code.private {
            let range = program.range(variable, &[]).map_err(|error| error.at(&variable.span))?;
            program.ranges.push(range);
        }
        for p in 0..n {
            let start = program.start(p)?;
            program.starts.push(start);
        }
        program.check_promises()?;
        let faults = Faults { spots: program.spots() };
        program.fault = program.layout.add(Decl::listed(
            FAULT_VARIABLE,
            WordKind::custom(faults),
            vec![0],
            Init::Is(0),
        ));
        program.conditions = program.conditions();
        Ok(program)
    }

    fn constant(&self, ex: &Ex, what: &str) -> Result<Value, SizeError> {
        self.bound(ex, &[], what)
    }

    /// Evaluates a part of a declaration, with these values of the indices.
    fn bound(&self, ex: &Ex, indices: &[Value], what: &str) -> Result<Value, SizeError> {
        let mut scope = Scope { bound: indices.to_vec(), ..Scope::constant(self) };
        let (n, k) = (self.n, self.k);
        scope.value(ex).map_err(|fault| {
            SizeError::new(format!("with n = {n}, k = {k}, {what} {}", fault.says()))
        })
    }

    /// Returns the smallest and the largest value of a variable.
    fn range(&self, variable: &Variable, indices: &[Value]) -> Result<(Value, Value), SizeError> {
        let what = format!("the range of {}", variable.name);
        Ok(match &variable.kind {
            Kind::Bool => (0, 1),
            Kind::Process => (0, self.n as Value - 1),
            Kind::Set => (0, i32::MAX.into()),
            // Every queue starts empty, and 0 is the empty queue. `declaration` lists the other queues one by one.
            Kind::Queue => (0, 0),
            Kind::Any => (i32::MIN.into(), i32::MAX.into()),
            Kind::Counter(None) => (0, COUNTER),
            Kind::Counter(Some(hi)) => (0, self.bound(hi, indices, &what)?),
            Kind::Between(lo, hi) => {
                (self.bound(lo, indices, &what)?, self.bound(hi, indices, &what)?)
            }
        })
    }

    fn declare(&mut self, variable: &Variable) -> Result<(), SizeError> {
        let mut dimensions = Vec::new();
        let what = format!("the indices of {}", variable.name);
        for (lo, hi) in &variable.indices {
            let (lo, hi) = (self.constant(lo, &what)?, self.constant(hi, &what)?);
            let len = usize::try_from(hi - lo + 1).unwrap_or(0);
            if len == 0 || len > MOST_VARIABLES {
                return Err(SizeError::new(format!(
                    "with n = {}, k = {}, {what} go from {lo} to {hi}: an array has 1 to {MOST_VARIABLES} elements",
                    self.n, self.k
                )));
            }
            dimensions.push((lo, len));
        }
        let before = self.layout.decls().len();
        let count = (dimensions.iter())
            .try_fold(1usize, |count, (_, len)| count.checked_mul(*len))
            .filter(|&count| before.saturating_add(count) <= MOST_VARIABLES)
            .ok_or_else(|| {
                SizeError::new(format!("at most {MOST_VARIABLES} shared variables are possible"))
            })?;
        let mut vars = Vec::with_capacity(count);
        for position in 0..count {
            let mut rest = position;
            let mut indices: Vec<Value> = Vec::new();
            for &(lo, len) in dimensions.iter().rev() {
                indices.insert(0, lo + (rest % len) as Value);
                rest /= len;
            }
            let decl = self.declaration(variable, &indices)?;
            self.values += decl.domain.listed().len();
            if self.values > MOST_VALUES_TOGETHER {
                return Err(SizeError::new(format!(
                    "with n = {}, k = {}, the shared variables have more than {MOST_VALUES_TOGETHER} values: \
                     declare smaller ranges",
                    self.n, self.k
                )));
            }
            vars.push(self.layout.add(decl));
        }
        self.arrays.push(Elements { dimensions, vars });
        Ok(())
    }

    fn declaration(&self, variable: &Variable, indices: &[Value]) -> Result<Decl, SizeError> {
        let shown: Vec<String> = indices.iter().map(Value::to_string).collect();
        let name = match shown.is_empty() {
            true => variable.name.clone(),
            false => format!("{}[{}]", variable.name, shown.join(",")),
        };
        let (mut lo, mut hi) = self.range(variable, indices)?;
        if matches!(variable.kind, Kind::Set) {
            (lo, hi) = (0, (1 << self.n.min(17)) - 1);
        }
        if matches!(variable.kind, Kind::Queue) && self.n > MOST_IN_QUEUE {
            let n = self.n;
            return Err(SizeError::new(format!(
                "{name} is a queue, and n = {n} processes do not fit into it: n must be at most {MOST_IN_QUEUE}"
            )));
        }
        if hi < lo || hi - lo >= MOST_VALUES {
            let (n, k) = (self.n, self.k);
            return Err(SizeError::new(format!(
                "with n = {n}, k = {k}, {name} ranges from {lo} to {hi}: a range has 1 to {MOST_VALUES} values"
            )));
        }
        let start = match &variable.start {
            None => Init::Open,
            Some(ex) => {
                let value = self.bound(ex, indices, &format!("the initial value of {name}"))?;
                if !(lo..=hi).contains(&value) {
                    return Err(SizeError::new(format!(
                        "{name} cannot start at {value}: it ranges from {lo} to {hi}"
                    )));
                }
                Init::Is(value)
            }
        };
        let kind = match &variable.kind {
            Kind::Bool => WordKind::Flag,
            Kind::Process => WordKind::Pid,
            Kind::Set => WordKind::custom(SetOfProcesses),
            Kind::Queue => WordKind::custom(QueueOfProcesses),
            _ => WordKind::Number,
        };
        let domain = match variable.kind {
            Kind::Queue => {
                queue::contents(self.n).iter().map(|content| queue::pack(content)).collect()
            }
            _ => (lo..=hi).collect(),
        };
        let mut decl = Decl::listed(name.clone(), kind, domain, start).waited_on();
        if matches!(variable.kind, Kind::Counter(_)) {
            decl = decl.unbounded();
        }
        if let Some(home) = &variable.home {
            let home = self.bound(home, indices, &format!("the home of {name}"))?;
            let p = usize::try_from(home).ok().filter(|&p| p < self.n).ok_or_else(|| {
                SizeError::new(format!(
                    "the home of {name} is {home}: it must be from 0 to {}",
                    self.n - 1
                ))
            })?;
            decl = decl.at(p);
        }
        Ok(decl)
    }

    /// Replaces the domains of the unbounded variables with those of `model`, the layout of a step machine with a
    /// normal form. The two layouts have their variables in the same order.
    pub fn adopt_domains(&mut self, model: &Layout) {
        let mut layout = Layout::default();
        for (index, decl) in self.layout.decls().iter().enumerate() {
            let domain = match model.decls().get(index) {
                Some(like) if decl.unbounded => like.domain.clone(),
                _ => decl.domain.clone(),
            };
            layout.add(Decl { domain, ..decl.clone() });
        }
        self.layout = layout;
    }

    /// Returns what the message on a fault says about each instruction. An instruction without a label gets the
    /// label of the line before it.
    fn spots(&self) -> Vec<Spot> {
        let mut label = String::new();
        let mut spots = Vec::new();
        for instr in &self.code.instrs {
            let (variable, ranges) = match instr {
                Instr::Access(access) => {
                    label.clone_from(&access.label);
                    let dimensions = self.arrays[access.variable].dimensions.iter();
                    let ranges = dimensions.map(|&(lo, len)| (lo, lo + len as Value - 1)).collect();
                    (self.code.shared[access.variable].name.clone(), ranges)
                }
                Instr::Assign(index, _) => {
                    let Variable { name, kind, .. } = &self.code.private[*index];
                    // The numbers that stand for sets mean nothing to a reader.
                    let range = (!matches!(kind, Kind::Set)).then_some(self.ranges[*index]);
                    (name.clone(), range.into_iter().collect())
                }
                _ => (String::new(), vec![]),
            };
            spots.push(Spot { label: label.clone(), variable, ranges });
        }
        spots
    }

    /// Returns the private variables of a process at the start of a passage. An initial value may use the variables
    /// before it.
    fn start(&self, p: Pid) -> Result<[i32; MOST_PRIVATE], SizeError> {
        let mut private = [0; MOST_PRIVATE];
        for (index, variable) in self.code.private.iter().enumerate() {
            let (name, (lo, hi)) = (&variable.name, self.ranges[index]);
            let Some(ex) = &variable.start else {
                private[index] = i32::try_from(0.clamp(lo, hi.max(lo))).unwrap_or(0);
                continue;
            };
            let wrong = |text: String| SizeError::new(text).at(&variable.span);
            let value = self.scope(p, &private, 0).value(ex).map_err(|fault| {
                let (n, k) = (self.n, self.k);
                wrong(format!(
                    "with n = {n}, k = {k}, the initial value of {name} {}",
                    fault.says()
                ))
            })?;
            let unbounded = matches!(variable.kind, Kind::Counter(_));
            private[index] = i32::try_from(value)
                .ok()
                .filter(|_| unbounded || (lo..=hi).contains(&value))
                .ok_or_else(|| {
                    wrong(format!(
                        "{name} cannot start at {value} for process {p}: it ranges from {lo} to {hi}"
                    ))
                })?;
        }
        Ok(private)
    }

    /// Refuses promises whose numbers have no value, or a value below 0.
    fn check_promises(&self) -> Result<(), SizeError> {
        let Promises { stopped, cc, dsm, .. } = &self.code.promises;
        let mut promised = Vec::new();
        if let Some(stopped) = stopped {
            promised
                .push((self.constant(stopped, "the number of stopped processes")?, "`stopped`"));
        }
        // A bound that grows with the contention may be below 0 while few processes compete.
        for bound in [cc, dsm].into_iter().flatten() {
            for contention in 1..=self.n {
                let what = format!("the bound `{}`", bound.formula);
                let value = self.bound(&bound.bound, &[contention as Value], &what)?;
                if contention == self.n {
                    promised.push((value, "`rmr`"));
                }
            }
        }
        match promised.into_iter().find(|(value, _)| *value < 0) {
            Some((value, what)) => Err(SizeError::new(format!(
                "with n = {}, k = {}, the number of the promise {what} is {value}: it must not be below 0",
                self.n, self.k
            ))),
            None => Ok(()),
        }
    }
}
