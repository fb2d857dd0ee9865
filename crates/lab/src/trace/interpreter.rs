//! Executes a schedule on the step machine itself, with a plain vector of words as its memory.
//!
//! With store buffers:
//!
//! - A read returns the youngest store to its variable in the process's own buffer. If there is none, it
//!   returns the value in memory.
//! - A write goes to the end of the process's own buffer.
//! - A read-modify-write requires this buffer to be empty.
//! - Agent n + p moves the oldest store of p to memory. The store counts as a memory access at that
//!   moment. A read from the buffer does not count as one.
//!
//! Without store buffers, a step of agent n + p is the mishap of p, for example that p is killed.

use std::{collections::VecDeque, sync::Arc};

use hallpass_algorithms::{Decl, Memory, Mishap, Op, Pid, Section, Var, Word};

use super::{
    Error,
    cache::Caches,
    check,
    confirm::confirm,
    replay_string,
    state::{RunState, Snapshot},
    step::{Access, Event, Stand, Step, Trace, Via},
};
use crate::{
    machine::{Machine, REMAINDER},
    schedule::{Conventions, Finding, MemoryModel, Schedule},
    space::Agent,
};

/// Executes steps one by one.
pub struct Interpreter {
    machine: Arc<dyn Machine>,
    model: MemoryModel,
    state: RunState,
    /// Whether each process has left the doorway of its current passage.
    past_doorway: Vec<bool>,
    caches: Caches,
    /// Why no further step is possible: a variable is outside its declared range, or a process could not execute a line
    /// of a file.
    broken: Option<String>,
}

/// Executes `schedule`: the stem and one round of the cycle. [`Trace::confirmed`] says whether the run shows
/// the finding of the schedule. If it does not, this is not an error.
///
/// # Errors
/// Fails if the schedule refers to something that does not exist, or if a step is impossible.
pub fn run(schedule: &Schedule, conventions: &Conventions) -> Result<Trace, Error> {
    let mut interpreter = Interpreter::new(schedule, conventions)?;
    let steps = interpreter.steps(0, schedule.stem.iter().chain(&schedule.cycle))?;
    Ok(Trace {
        schedule: schedule.clone(),
        replay: replay_string::encode(schedule)?,
        conventions: *conventions,
        vars: interpreter.machine.layout().decls().to_vec(),
        steps,
        invariant_fault: interpreter.invariant_fault(schedule),
        confirmed: confirm(schedule),
    })
}

/// Answers the access of a step with the value that the process sees. Changes neither memory nor buffer.
struct Port<'a> {
    memory: &'a [Word],
    buffer: &'a VecDeque<(usize, Word)>,
    model: MemoryModel,
    seen: Option<Seen>,
    accesses: usize,
}

#[derive(Clone, Copy)]
struct Seen {
    var: usize,
    op: Op,
    via: Via,
    found: Word,
}

impl Memory for Port<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let var = var.index();
        self.accesses += 1;
        let own = self.buffer.iter().rev().find(|store| store.0 == var).map(|store| store.1);
        let (via, found) = match (op, self.model) {
            (Op::Write(_), MemoryModel::StoreBuffers) => (Via::IntoBuffer, self.memory[var]),
            (Op::Read, MemoryModel::StoreBuffers) if own.is_some() => {
                (Via::FromBuffer, own.unwrap_or_default())
            }
            _ => (Via::Memory, self.memory[var]),
        };
        self.seen = Some(Seen { var, op, via, found });
        found
    }
}

fn describe(decl: &Decl, Seen { var, op, via, found }: Seen) -> Access {
    let left = op.leaves(found);
    Access {
        var,
        name: decl.name.clone(),
        operation: op.into(),
        via,
        found,
        left,
        found_shown: decl.show(found),
        left_shown: decl.show(left),
        failed: op.fails_on(found),
        out_of_range: !decl.allows(left),
    }
}

impl Interpreter {
    /// Creates an interpreter in the initial state of `schedule`.
    ///
    /// # Errors
    /// Fails if the schedule refers to something that does not exist.
    pub fn new(schedule: &Schedule, conventions: &Conventions) -> Result<Self, Error> {
        let machine = check::machine(schedule)?.into();
        Ok(Self::on(machine, schedule.memory, schedule.initial.clone(), conventions))
    }

    /// Creates an interpreter of `machine` with this memory model and this initial memory, which has a value for
    /// each declared variable.
    pub fn on(
        machine: Arc<dyn Machine>,
        model: MemoryModel,
        initial: Vec<Word>,
        conventions: &Conventions,
    ) -> Self {
        let caches = Caches::empty(*conventions, machine.n(), machine.layout().decls().len());
        Interpreter { model, caches, ..Self::of(machine, initial) }
    }

    /// Returns a copy of everything that steps change.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            state: self.state.clone(),
            past_doorway: self.past_doorway.clone(),
            caches: self.caches.clone(),
            broken: self.broken.clone(),
        }
    }

    /// Continues from a snapshot of an interpreter of the same step machine.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        let Snapshot { state, past_doorway, caches, broken } = snapshot.clone();
        (self.state, self.past_doorway) = (state, past_doorway);
        (self.caches, self.broken) = (caches, broken);
    }

    /// Creates an interpreter of `machine` with this initial memory.
    pub(super) fn of(machine: Arc<dyn Machine>, memory: Vec<Word>) -> Self {
        let n = machine.n();
        Interpreter {
            model: MemoryModel::Sequential,
            state: RunState {
                processes: vec![REMAINDER; n],
                buffers: vec![VecDeque::new(); n],
                memory,
            },
            past_doorway: vec![false; n],
            caches: Caches::empty(Conventions::default(), n, machine.layout().decls().len()),
            broken: None,
            machine,
        }
    }

    /// Returns the step machine.
    pub fn machine(&self) -> &dyn Machine {
        &*self.machine
    }

    /// Returns the step machine, for another interpreter.
    pub(super) fn shared_machine(&self) -> Arc<dyn Machine> {
        self.machine.clone()
    }

    /// Returns why the invariant that the schedule violates could not be evaluated in the current state. Returns `None`
    /// if its value is `false`.
    fn invariant_fault(&self, schedule: &Schedule) -> Option<&'static str> {
        let Finding::Invariant(_) = schedule.finding else { return None };
        self.machine.invariant_fault(&self.state.processes, &self.state.memory)
    }

    /// Returns the current state.
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// Returns the normal form of a state (see [`Machine::normalize`]). This is the state itself, unless the algorithm
    /// counts without bound.
    pub fn normal(&self, state: &RunState) -> RunState {
        let mut normal = state.clone();
        if self.machine.is_unbounded() {
            self.machine.normalize(&mut normal.processes, &mut normal.memory);
        }
        normal
    }

    /// Returns the position of a process.
    pub fn stand(&self, p: Pid) -> Stand {
        let position = self.machine.position(p, self.state.processes[p]);
        let section = match position.section {
            Section::Doorway if self.past_doorway[p] => Section::Waiting,
            section => section,
        };
        Stand { section, label: position.label, name: position.name }
    }

    /// Executes these steps. In errors, the first step has the number `taken` + 1.
    pub(super) fn steps<'a>(
        &mut self,
        taken: usize,
        agents: impl IntoIterator<Item = &'a Agent>,
    ) -> Result<Vec<Step>, Error> {
        let agents = agents.into_iter().enumerate();
        agents
            .map(|(i, &agent)| self.step(agent).map_err(|why| Error::Step(taken + i + 1, why)))
            .collect()
    }

    /// Executes one step.
    ///
    /// # Errors
    /// Fails if the step is impossible. In that case nothing changes.
    pub fn step(&mut self, agent: Agent) -> Result<Step, String> {
        if let Some(why) = &self.broken {
            return Err(format!("{why}, so the run has no meaning from here on"));
        }
        let n = self.machine.n();
        match agent.checked_sub(n) {
            None => self.own_step(agent),
            Some(p) if p < n && self.model == MemoryModel::Sequential => self.apply_mishap(p),
            Some(p) if p < n => self.flush(p),
            Some(_) => Err(format!("there is no agent {agent}")),
        }
    }

    fn own_step(&mut self, p: Pid) -> Result<Step, String> {
        let mut port = Port {
            memory: &self.state.memory,
            buffer: &self.state.buffers[p],
            model: self.model,
            seen: None,
            accesses: 0,
        };
        let at = self.state.processes[p];
        let next = self.machine.step(p, at, &mut port);
        let (seen, accesses) = (port.seen, port.accesses);
        if accesses > 1 {
            return Err(format!("process {p} makes {accesses} accesses in one step"));
        }
        let waits_for_buffer =
            |seen: Seen| seen.op.is_read_modify_write() && !self.state.buffers[p].is_empty();
        if seen.is_some_and(waits_for_buffer) {
            return Err(format!(
                "process {p} is at a read-modify-write and its store buffer is not empty"
            ));
        }

        let before = self.stand(p);
        self.state.processes[p] = next;
        if before.section == Section::Remainder {
            self.past_doorway[p] = false;
            self.caches.begin_passage(p);
        }
        let was_past = self.past_doorway[p];
        let now = self.stand(p).section;
        if matches!(now, Section::Waiting | Section::Critical) {
            self.past_doorway[p] = true;
        }
        let after = self.stand(p);
        let events = events(&before, &after, !was_past && self.past_doorway[p]);
        let mut step = self.perform(p, p, before, after, seen);
        step.stays &= at == next;
        step.events = events;
        self.machine.advance(&mut self.state.processes, &mut self.state.memory);
        Ok(step)
    }

    fn flush(&mut self, p: Pid) -> Result<Step, String> {
        let Some((var, value)) = self.state.buffers[p].pop_front() else {
            return Err(format!("the store buffer of process {p} is empty"));
        };
        let found = self.state.memory[var];
        let seen = Seen { var, op: Op::Write(value), via: Via::Flush, found };
        let (agent, stand) = (self.machine.n() + p, self.stand(p));
        Ok(Step { stays: false, ..self.perform(agent, p, stand.clone(), stand, Some(seen)) })
    }

    fn apply_mishap(&mut self, p: Pid) -> Result<Step, String> {
        let Some(Mishap { var, op, kills, name, .. }) = self.machine.mishap(p) else {
            return Err(format!("process {p} has no mishap"));
        };
        let var = var.index();
        let found = self.state.memory[var];
        let before = self.stand(p);
        if kills {
            self.state.processes[p] = REMAINDER;
            self.past_doorway[p] = false;
        }
        let after = self.stand(p);
        let seen =
            (op.leaves(found) != found).then_some(Seen { var, op, via: Via::Outside, found });
        let step = self.perform(self.machine.n() + p, p, before, after, seen);
        self.machine.advance(&mut self.state.processes, &mut self.state.memory);
        Ok(Step { stays: false, events: vec![Event::Mishap(name)], ..step })
    }

    /// Applies the access.
    fn perform(
        &mut self,
        agent: Agent,
        process: Pid,
        before: Stand,
        after: Stand,
        seen: Option<Seen>,
    ) -> Step {
        let mut step = Step {
            agent,
            process,
            before,
            after,
            access: None,
            miss: false,
            remote: false,
            stays: true,
            events: Vec::new(),
        };
        let Some(seen) = seen else { return step };
        let decl = &self.machine.layout().decls()[seen.var];
        let access = describe(decl, seen);
        if access.out_of_range {
            self.broken = Some(match access.is_fault() {
                true => access.left_shown.clone(),
                false => format!("{} is outside its declared range", decl.name),
            });
        }
        match seen.via {
            Via::Memory | Via::Flush => {
                step.miss = self.caches.access(process, seen.var, seen.op, seen.found);
                step.remote = decl.home != Some(process);
                self.state.memory[seen.var] = access.left;
            }
            Via::Outside => {
                self.caches.invalidate(seen.var);
                self.state.memory[seen.var] = access.left;
            }
            Via::IntoBuffer => self.state.buffers[process].push_back((seen.var, access.left)),
            Via::FromBuffer => {}
        }
        step.stays = access.via != Via::IntoBuffer && !access.changes_memory();
        step.access = Some(access);
        step
    }
}

fn events(before: &Stand, after: &Stand, leaves_doorway: bool) -> Vec<Event> {
    let mut events = Vec::new();
    let changes = |section| (before.section == section) != (after.section == section);
    let (remainder, critical) = (changes(Section::Remainder), changes(Section::Critical));
    if remainder && before.section == Section::Remainder {
        events.push(Event::LeavesRemainder);
    }
    if leaves_doorway {
        events.push(Event::LeavesDoorway);
    }
    if critical && after.section == Section::Critical {
        events.push(Event::Enters(after.name));
    }
    if critical && before.section == Section::Critical {
        events.push(Event::LeavesCritical);
    }
    if remainder && after.section == Section::Remainder {
        events.push(Event::Returns);
    }
    events
}
