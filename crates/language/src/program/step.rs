//! Executes a file: one shared access and the local instructions after it in each step.

use std::cell::Cell;

use hallpass_algorithms::{
    Algorithm, Label, Layout, Loc, Memory, Next, Op, Pid, Var, View, Word, framework::queue,
};

use super::{
    At, MOST_PRIVATE, MOST_VALUES, Program,
    show::{TWICE, show_set},
};
use crate::{
    code::{Access, Instr, Kind, Touch, Value},
    eval::{Fault, Scope},
};

/// The maximum number of local instructions between two accesses.
const MOST_LOCAL: usize = 2_000;
/// The line of a process that has made a fault. Its private variables contain the fault.
const FAULT: u16 = u16::MAX;

thread_local! {
    /// An empty list, kept for the bound variables of the next invariant that this thread evaluates.
    static BOUND: Cell<Vec<Value>> = const { Cell::new(Vec::new()) };
}

impl Program {
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
        private[..2].copy_from_slice(&fault.numbers(line));
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

    /// Executes local instructions from `line` on, up to the next access, `Enter` or `Leave`. Between two steps, a
    /// process is at one of these three, unless it has made a fault.
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
                        _ => return self.faulty(next, Fault::Range(value as i32)),
                    }
                    next += 1;
                }
            }
        }
        self.faulty(line, Fault::Endless)
    }

    pub(super) fn scope<'a>(&'a self, me: Pid, private: &'a [i32], found: Word) -> Scope<'a> {
        Scope { program: self, me, private, found, state: None, bound: Vec::new(), work: 0 }
    }

    /// Returns the next step of a process that has reached `at`. `from` is the line of the access that it has just
    /// made, if any. A process that is at this line again spins.
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
                    return Err(Fault::Modulus);
                }
                Op::AtomicUpdate(add_modulo, by.rem_euclid(modulus) << 32 | modulus)
            }
            Touch::TestAndSet => Op::TestAndSet,
            Touch::CompareAndSwap(old, new) => {
                Op::CompareAndSwap { old: scope.value(old)?, new: scope.value(new)? }
            }
            Touch::Swap(value) => Op::AtomicUpdate(replace, scope.value(value)?),
            Touch::Enqueue(p) => Op::AtomicUpdate(append, self.process(scope.value(p)?)?),
            Touch::Dequeue => Op::AtomicUpdate(without_first, 0),
            Touch::Remove(p) => Op::AtomicUpdate(without, self.process(scope.value(p)?)?),
        };
        Ok((self.arrays[access.variable].vars[element], op))
    }

    /// Returns `number` if it is the number of a process.
    fn process(&self, number: Value) -> Result<Value, Fault> {
        if (0..self.n as Value).contains(&number) { Ok(number) } else { Err(Fault::Element) }
    }

    /// Returns the value of an operation on a variable that held `old`.
    fn result(&self, me: Pid, at: &At, access: &Access, op: Op, old: Word) -> Word {
        match (&access.touch, op) {
            (_, Op::TestAndSet) => (old != 0).into(),
            (_, Op::CompareAndSwap { old: expected, .. }) => (old == expected).into(),
            (Touch::Enqueue(_), _) => queue::unpack(old).len() as Word,
            (Touch::Dequeue, _) => queue::unpack(old).first().map_or(-1, |&p| p as Word),
            (Touch::Remove(p), _) => {
                let p = self.scope(me, &at.private, 0).value(p).unwrap_or(-1);
                queue::unpack(old).iter().any(|&other| other as Word == p).into()
            }
            _ => old,
        }
    }
}

impl Program {
    /// Returns the private variables that matter at a line, each with its value.
    fn live(&self, at: At) -> Vec<(String, String)> {
        if at.line == FAULT {
            return Vec::new();
        }
        let live = self.code.live[at.line as usize];
        let variables = self.code.private.iter().zip(at.private).enumerate();
        variables
            .filter(|(index, _)| live >> index & 1 != 0)
            .map(|(_, (variable, value))| {
                let value = match variable.kind {
                    Kind::Set => show_set(value.into()),
                    Kind::Bool => (value != 0).to_string(),
                    _ => value.to_string(),
                };
                (variable.name.clone(), value)
            })
            .collect()
    }
}

impl Program {
    /// Returns the index of the first invariant that does not hold. If its evaluation failed, also returns the fault.
    fn broken(&self, state: &View<'_, At>) -> Option<(usize, Option<Fault>)> {
        // An allocation in every state would take a tenth of the time of a check.
        let bound = BOUND.take();
        let mut scope = Scope { state: Some(state), bound, ..Scope::constant(self) };
        let broken = self.conditions.iter().enumerate().find_map(|(index, ex)| {
            scope.work = 0;
            match scope.holds(ex) {
                Ok(true) => None,
                Ok(false) => Some((index, None)),
                Err(fault) => Some((index, Some(fault))),
            }
        });
        BOUND.set(scope.bound);
        broken
    }
}

fn replace(_: Word, new: Word) -> Word {
    new
}

fn append(old: Word, p: Word) -> Word {
    let mut content = queue::unpack(old);
    if content.contains(&(p as Pid)) {
        return TWICE;
    }
    content.push(p as Pid);
    queue::pack(&content)
}

fn without_first(old: Word, _: Word) -> Word {
    let content = queue::unpack(old);
    queue::pack(content.get(1..).unwrap_or(&[]))
}

fn without(old: Word, p: Word) -> Word {
    let mut content = queue::unpack(old);
    content.retain(|&other| other as Word != p);
    queue::pack(&content)
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
            memory.write(self.fault, Fault::word([at.private[0], at.private[1]]));
            return Next::Spin(at);
        }
        let Some(access) = self.access(at) else {
            return self.proceed(p, None, at);
        };
        let (var, op) = match self.operation(p, &at, access) {
            Ok(operation) => operation,
            Err(fault) => {
                memory.write(self.fault, Fault::word(fault.numbers(at.line.into())));
                return Next::Spin(at);
            }
        };
        let old = memory.access(var, op);
        let found = self.result(p, &at, access, op, old);
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
        let shown: Vec<String> =
            self.live(at).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        Label { figure: self.figure, line, instance: shown.join(",") }
    }

    fn variables(&self, at: At) -> Option<Vec<(String, String)>> {
        Some(self.live(at))
    }

    fn name(&self, at: At) -> Option<usize> {
        let value = at.private[self.code.name_variable?];
        // A negative name is wrong too, so it becomes a number that is not below k.
        Some(usize::try_from(value).unwrap_or(usize::MAX))
    }

    fn is_symmetric(&self) -> bool {
        self.code.is_symmetric
    }

    fn is_unbounded(&self) -> bool {
        self.layout.decls().iter().any(|decl| decl.unbounded)
    }

    /// Returns `false`, because a file has no normal form of its own: a counter is explored up to its limit.
    fn counts(&self, _: &Loc<At>) -> bool {
        false
    }

    fn invariants(&self) -> &'static [&'static str] {
        self.invariants
    }

    fn broken_invariant(&self, state: &View<'_, At>) -> Option<&'static str> {
        self.broken(state).map(|(index, _)| self.invariants[index])
    }

    fn invariant_fault(&self, state: &View<'_, At>) -> Option<&'static str> {
        self.broken(state)?.1.map(Fault::says)
    }
}
