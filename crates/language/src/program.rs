//! A file at one size: a step machine.

use std::{fmt, sync::Arc};

use hallpass_algorithms::{
    Algorithm, Codec, Decl, Init, Kind as WordKind, Label, Layout, Loc, Memory, Next, Op, Pid, Var,
    View, Word,
};

use crate::{
    code::{Access, Code, Instr, Kind, Promises, Touch, Value, Variable},
    eval::{Fault, MOST_ELEMENTS, Scope},
    intern::intern,
};

/// The most private variables of a file.
pub const MOST_PRIVATE: usize = 12;
/// The most values of a shared variable.
const MOST_VALUES: Value = 1 << 16;
/// The most values of all shared variables together.
const MOST_VALUES_TOGETHER: usize = 1 << 20;
/// The most shared variables, elements of arrays counted one by one.
const MOST_VARIABLES: usize = 4096;
/// The most local instructions between two accesses.
const MOST_LOCAL: usize = 2_000;
/// The line of a process that has made a fault. Its private variables say which.
const FAULT: u16 = u16::MAX;
/// The name of the variable in which the lab records a fault of a line, such as an index that does not exist.
pub const FAULT_VARIABLE: &str = "fault";
/// The largest value of a counter that has no limit of its own.
const COUNTER: Value = 12;

/// The private state of a process: the line that it executes next, and the private variables that matter
/// there. The others are 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct At {
    pub(crate) line: u16,
    pub(crate) private: [i32; MOST_PRIVATE],
}

/// The elements of a shared array. A plain variable has one.
pub(crate) struct Elements {
    /// The first index and the number of indices, for each dimension.
    pub(crate) dimensions: Vec<(Value, usize)>,
    pub(crate) vars: Vec<Var>,
}

/// An algorithm of a file, for n processes of which k may be in the critical section.
pub struct Program {
    pub(crate) code: Arc<Code>,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) constants: Vec<Value>,
    pub(crate) arrays: Vec<Elements>,
    /// The number of the instruction that enters the critical section.
    pub(crate) critical: u16,
    /// The smallest and the largest value of each private variable.
    ranges: Vec<(Value, Value)>,
    /// For each process, the private variables at the start of a passage.
    starts: Vec<[i32; MOST_PRIVATE]>,
    layout: Layout,
    /// The number of values of all shared variables together.
    values: usize,
    /// A variable of the lab with the only value 0. A process that makes a fault writes something else to it.
    fault: Var,
    figure: &'static str,
    invariants: &'static [&'static str],
}

/// Error: a file does not describe an algorithm of this size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SizeError(pub String);

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SizeError {}

/// Shows a set of processes.
#[derive(Debug)]
struct SetOfProcesses;

impl Codec for SetOfProcesses {
    fn show(&self, value: Word) -> String {
        show_set(value)
    }
}

fn show_set(set: Value) -> String {
    let elements: Vec<String> =
        (0..MOST_ELEMENTS).filter(|e| set >> e & 1 != 0).map(|e| e.to_string()).collect();
    format!("{{{}}}", elements.join(", "))
}

/// Shows the fault of a line.
#[derive(Debug)]
struct Faults {
    labels: Vec<String>,
}

impl Codec for Faults {
    fn show(&self, value: Word) -> String {
        let Some(code) = usize::try_from(value - 1).ok() else { return "none".into() };
        let fault = Fault::ALL[code % Fault::ALL.len()];
        match self.labels.get(code / Fault::ALL.len()).filter(|label| !label.is_empty()) {
            Some(label) => format!("line {label} {}", fault.says()),
            None => format!("the first line {}", fault.says()),
        }
    }
}

impl Program {
    /// Builds the algorithm of `code` for `n` processes, of which `k` may be in the critical section.
    ///
    /// # Errors
    /// Fails if the file excludes this size, or a declaration makes no sense at it.
    pub fn new(code: Arc<Code>, n: usize, k: usize) -> Result<Self, SizeError> {
        let name = &code.name;
        let size = |text: String| Err(SizeError(text));
        if k == 0 || k >= n {
            return size(format!("k must be from 1 to n - 1, got n = {n}, k = {k}"));
        }
        if n > hallpass_algorithms::registry::MAX_PROCESSES {
            let most = hallpass_algorithms::registry::MAX_PROCESSES;
            return size(format!("n must be {most} at most, got {n}"));
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
            invariants: crate::intern::intern_all(&invariants),
            code: code.clone(),
        };
        for constant in &code.constants {
            let value = program.constant(constant, "a constant")?;
            program.constants.push(value);
        }
        for (condition, printed) in &code.requires {
            if program.constant(condition, "a condition of `requires`")? == 0 {
                return size(format!("{name} requires {printed}, got n = {n}, k = {k}"));
            }
        }
        for variable in &code.shared {
            program.declare(variable)?;
        }
        for variable in &code.private {
            let range = program.range(variable, &[])?;
            program.ranges.push(range);
        }
        for p in 0..n {
            let start = program.start(p)?;
            program.starts.push(start);
        }
        program.check_promises()?;
        let faults = Faults { labels: program.labels() };
        program.fault = program.layout.add(Decl::listed(
            FAULT_VARIABLE,
            WordKind::custom(faults),
            vec![0],
            Init::Is(0),
        ));
        Ok(program)
    }

    fn constant(&self, ex: &crate::code::Ex, what: &str) -> Result<Value, SizeError> {
        self.bound(ex, &[], what)
    }

    /// Evaluates a part of a declaration, with these values of the indices.
    fn bound(
        &self,
        ex: &crate::code::Ex,
        indices: &[Value],
        what: &str,
    ) -> Result<Value, SizeError> {
        let mut scope = Scope { bound: indices.to_vec(), ..Scope::constant(self) };
        let (n, k) = (self.n, self.k);
        scope
            .value(ex)
            .map_err(|fault| SizeError(format!("with n = {n}, k = {k}, {what} {}", fault.says())))
    }

    /// Returns the smallest and the largest value of a variable.
    fn range(&self, variable: &Variable, indices: &[Value]) -> Result<(Value, Value), SizeError> {
        let what = format!("the range of {}", variable.name);
        Ok(match &variable.kind {
            Kind::Bool => (0, 1),
            Kind::Process => (0, self.n as Value - 1),
            Kind::Set => (0, i32::MAX.into()),
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
                return Err(SizeError(format!(
                    "with n = {}, k = {}, {what} go from {lo} to {hi}",
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
                SizeError(format!("at most {MOST_VARIABLES} shared variables are possible"))
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
                return Err(SizeError(format!(
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
        if hi < lo || hi - lo >= MOST_VALUES {
            let (n, k) = (self.n, self.k);
            return Err(SizeError(format!(
                "with n = {n}, k = {k}, {name} ranges from {lo} to {hi}: a range has 1 to {MOST_VALUES} values"
            )));
        }
        let start = match &variable.start {
            None => Init::Open,
            Some(ex) => {
                let value = self.bound(ex, indices, &format!("the initial value of {name}"))?;
                if !(lo..=hi).contains(&value) {
                    return Err(SizeError(format!(
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
            _ => WordKind::Number,
        };
        let mut decl = Decl::listed(name.clone(), kind, (lo..=hi).collect(), start).waited_on();
        if matches!(variable.kind, Kind::Counter(_)) {
            decl = decl.unbounded();
        }
        if let Some(home) = &variable.home {
            let home = self.bound(home, indices, &format!("the home of {name}"))?;
            let p = usize::try_from(home).ok().filter(|&p| p < self.n).ok_or_else(|| {
                SizeError(format!(
                    "the home of {name} is {home}: it must be from 0 to {}",
                    self.n - 1
                ))
            })?;
            decl = decl.at(p);
        }
        Ok(decl)
    }

    /// Replaces the domain of the first variables by those of a machine with a normal form.
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

    /// Returns the label of each instruction, that of the line before it if it has none.
    fn labels(&self) -> Vec<String> {
        let mut last = String::new();
        let mut labels = Vec::new();
        for instr in &self.code.instrs {
            if let Instr::Access(access) = instr {
                last.clone_from(&access.label);
            }
            labels.push(last.clone());
        }
        labels
    }

    /// Returns the checked file.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Returns a bound on remote references at this contention.
    pub fn value_of_bound(&self, bound: &crate::code::Ex, contention: usize) -> Option<u64> {
        let mut scope = Scope { bound: vec![contention as Value], ..Scope::constant(self) };
        scope.value(bound).ok().and_then(|value| u64::try_from(value).ok())
    }

    /// Returns how many processes may stop without starving another, if the file says so.
    pub fn stopped(&self) -> Option<usize> {
        let value = Scope::constant(self).value(self.code.promises.stopped.as_ref()?).ok()?;
        usize::try_from(value).ok()
    }

    fn access(&self, at: At) -> Option<&Access> {
        match self.code.instrs.get(at.line as usize) {
            Some(Instr::Access(access)) => Some(access),
            _ => None,
        }
    }

    pub(crate) fn is_waiting(&self, at: At) -> bool {
        self.access(at).is_some_and(|access| access.waits)
    }

    fn faulty(&self, line: usize, fault: Fault) -> At {
        let mut private = [0; MOST_PRIVATE];
        let number = Fault::ALL.iter().position(|&other| other == fault).unwrap_or(0);
        private[0] = (1 + line * Fault::ALL.len() + number) as i32;
        At { line: FAULT, private }
    }

    /// Returns the private state at an instruction, without the variables that no longer matter.
    fn at(&self, line: usize, mut private: [i32; MOST_PRIVATE]) -> At {
        let live = self.code.live[line];
        for (index, value) in private.iter_mut().enumerate() {
            if live >> index & 1 == 0 {
                *value = 0;
            }
        }
        At { line: line as u16, private }
    }

    /// Executes local instructions from `line` on, up to an instruction that a process can stand at.
    fn local(&self, me: Pid, line: usize, mut private: [i32; MOST_PRIVATE], found: Word) -> At {
        let mut next = line;
        for _ in 0..MOST_LOCAL {
            match &self.code.instrs[next] {
                Instr::Access(_) | Instr::Enter | Instr::Leave => return self.at(next, private),
                Instr::Jump(to) => next = *to,
                Instr::Unless(condition, to) => {
                    match self.scope(me, &private, found).holds(condition) {
                        Ok(true) => next += 1,
                        Ok(false) => next = *to,
                        Err(fault) => return self.faulty(next, fault),
                    }
                }
                Instr::Assign(index, value) => {
                    let value = match self.scope(me, &private, found).value(value) {
                        Ok(value) => value,
                        Err(fault) => return self.faulty(next, fault),
                    };
                    let (lo, hi) = self.ranges[*index];
                    let unbounded = matches!(self.code.private[*index].kind, Kind::Counter(_));
                    match i32::try_from(value) {
                        Ok(word) if unbounded || (lo..=hi).contains(&value) => {
                            private[*index] = word
                        }
                        _ => return self.faulty(next, Fault::Range),
                    }
                    next += 1;
                }
            }
        }
        self.faulty(line, Fault::Endless)
    }

    fn scope<'a>(&'a self, me: Pid, private: &'a [i32], found: Word) -> Scope<'a> {
        Scope { program: self, me, private, found, state: None, bound: Vec::new(), work: 0 }
    }

    /// Returns what a process at `at` does next, after local instructions.
    fn proceed(&self, me: Pid, from: Option<u16>, at: At) -> Next<At> {
        match self.code.instrs.get(at.line as usize) {
            Some(Instr::Enter) => Next::Enter(self.local(me, at.line as usize + 1, at.private, 0)),
            Some(Instr::Leave) => Next::Leave,
            _ if from == Some(at.line) => Next::Spin(at),
            _ => Next::Goto(at),
        }
    }

    /// Returns the variable that a line accesses, and how.
    fn operation(&self, me: Pid, at: &At, access: &Access) -> Result<(Var, Op), Fault> {
        let mut scope = self.scope(me, &at.private, 0);
        let element = scope.element(access.variable, &access.indices)?;
        let op = match &access.touch {
            Touch::Read => Op::Read,
            Touch::Write(value) => Op::Write(scope.value(value)?),
            Touch::FetchAdd(by, None) => Op::FetchAdd(scope.value(by)?),
            Touch::FetchAdd(by, Some(modulus)) => {
                let (by, modulus) = (scope.value(by)?, scope.value(modulus)?);
                if !(1..=MOST_VALUES).contains(&modulus) {
                    return Err(Fault::Arithmetic);
                }
                Op::AtomicUpdate(add_modulo, by.rem_euclid(modulus) << 32 | modulus)
            }
            Touch::TestAndSet => Op::TestAndSet,
            Touch::CompareAndSwap(old, new) => {
                Op::CompareAndSwap { old: scope.value(old)?, new: scope.value(new)? }
            }
            Touch::Swap(value) => Op::AtomicUpdate(replace, scope.value(value)?),
        };
        Ok((self.arrays[access.variable].vars[element], op))
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
            let value = self.scope(p, &private, 0).value(ex).map_err(|fault| {
                let (n, k) = (self.n, self.k);
                SizeError(format!(
                    "with n = {n}, k = {k}, the initial value of {name} {}",
                    fault.says()
                ))
            })?;
            let unbounded = matches!(variable.kind, Kind::Counter(_));
            private[index] = i32::try_from(value)
                .ok()
                .filter(|_| unbounded || (lo..=hi).contains(&value))
                .ok_or_else(|| {
                    SizeError(format!(
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
            Some((value, what)) => Err(SizeError(format!(
                "with n = {}, k = {}, the number of the promise {what} is {value}: it must not be below 0",
                self.n, self.k
            ))),
            None => Ok(()),
        }
    }
}

fn replace(_: Word, new: Word) -> Word {
    new
}

/// Adds modulo a number. The argument is 2^32 times the summand, plus the modulus.
fn add_modulo(old: Word, argument: Word) -> Word {
    let (by, modulus) = (argument >> 32, argument & 0xffff_ffff);
    (old + by).rem_euclid(modulus)
}

impl Algorithm for Program {
    type State = At;

    fn n(&self) -> usize {
        self.n
    }

    fn k(&self) -> usize {
        self.k
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn begin(&self, p: Pid) -> At {
        self.local(p, 0, self.starts[p], 0)
    }

    fn step<M: Memory>(&self, memory: &mut M, p: Pid, at: At) -> Next<At> {
        if at.line == FAULT {
            memory.write(self.fault, at.private[0].into());
            return Next::Spin(at);
        }
        let Some(access) = self.access(at) else {
            return self.proceed(p, None, at);
        };
        let (var, op) = match self.operation(p, &at, access) {
            Ok(operation) => operation,
            Err(fault) => {
                memory.write(self.fault, self.faulty(at.line.into(), fault).private[0].into());
                return Next::Spin(at);
            }
        };
        let old = memory.access(var, op);
        let found = match op {
            Op::TestAndSet => (old != 0).into(),
            Op::CompareAndSwap { old: expected, .. } => (old == expected).into(),
            _ => old,
        };
        let next = self.local(p, at.line as usize + 1, at.private, found);
        self.proceed(p, Some(at.line), next)
    }

    fn waits(&self, _: Pid, at: At) -> bool {
        self.is_waiting(at)
    }

    fn label(&self, _: Pid, at: At) -> Label {
        let line = match self.access(at) {
            Some(access) => access.label.clone(),
            None if at.line == FAULT => "fault".to_string(),
            None => "end".to_string(),
        };
        let mut shown = Vec::new();
        if at.line != FAULT {
            for (index, variable) in self.code.private.iter().enumerate() {
                let value = at.private[index];
                if self.code.live[at.line as usize] >> index & 1 != 0 {
                    let value = match variable.kind {
                        Kind::Set => show_set(value.into()),
                        Kind::Bool => (value != 0).to_string(),
                        _ => value.to_string(),
                    };
                    shown.push(format!("{}={value}", variable.name));
                }
            }
        }
        Label { figure: self.figure, line, instance: shown.join(",") }
    }

    fn name(&self, at: At) -> Option<usize> {
        let value = at.private[self.code.name_variable?];
        // A negative name is wrong as well: no number below k equals this one.
        Some(usize::try_from(value).unwrap_or(usize::MAX))
    }

    fn is_unbounded(&self) -> bool {
        self.layout.decls().iter().any(|decl| decl.unbounded)
    }

    /// Does not change the state: a counter is explored up to its limit.
    fn counts(&self, _: &Loc<At>) -> bool {
        false
    }

    fn invariants(&self) -> &'static [&'static str] {
        self.invariants
    }

    fn broken_invariant(&self, state: &View<'_, At>) -> Option<&'static str> {
        let mut scope = Scope { state: Some(state), ..Scope::constant(self) };
        // An invariant that has no value does not hold.
        let broken = |(_, ex): &&(&str, crate::code::Ex)| {
            scope.work = 0;
            !scope.holds(ex).unwrap_or(false)
        };
        self.code.invariants.iter().find(broken).map(|(name, _)| *name)
    }
}
