//! The explored states of a subject, as the answers need them: sections, violations and steps of every state.

use hallpass_algorithms::{Pid, Section, Word};

use super::subject::Subject;
use crate::{
    buffers::{self, Buffers},
    check::{Resources, cannot_compile, check_initial, with_words},
    explore::{Ended, Explored, explore},
    graph::Graph,
    schedule::MemoryModel,
    space::{Agent, Initial, Normal, SafetyFlags, Sequential, Space, StoreBuffers},
    standing::Standing,
    store::{Id, NONE},
    tables::{Access, Tables},
    trace::RunState,
};

/// Every explored state, by its number.
pub struct Chart {
    /// The number of processes.
    pub(super) n: usize,
    /// The number of transitions, including steps that only wait.
    pub transitions: u64,
    /// The number of breadth-first levels.
    pub depth: u32,
    /// Why the exploration ended.
    pub ended: Ended,
    /// Whether every run was explored: no limit was reached, no step left a range, no write found its buffer
    /// full.
    pub covers_all_runs: bool,
    /// The steps of every state.
    pub(super) graph: Graph,
    /// The number of initial states, which come first.
    pub(super) roots: Id,
    /// The agents that make only finitely many steps in a run in which a process starves. These are the
    /// [mishaps](hallpass_algorithms::Mishap), such as the death of a process, unless they may recur.
    pub(super) finite: u64,
    pub(super) sections: Sections,
    /// The violations of every state, as bits of [`violation`](crate::space::violation).
    pub(super) violations: Vec<u64>,
    pub(super) backward: Backward,
    packed: Box<dyn PackedStates>,
}

/// The section of every process in every state.
pub(super) struct Sections {
    n: usize,
    sections: Vec<Section>,
    /// Whether each process's stores have reached memory; empty without store buffers.
    settled: Vec<bool>,
}

impl Standing for Sections {
    fn n(&self) -> usize {
        self.n
    }

    #[inline]
    fn section(&self, id: Id, p: Pid) -> Section {
        self.sections[id as usize * self.n + p]
    }

    fn begins(&self, _: Id, _: Pid) -> bool {
        false // no analysis of the explorer asks for this
    }

    fn has_settled(&self, id: Id, p: Pid) -> bool {
        self.settled.is_empty() || self.settled[id as usize * self.n + p]
    }
}

/// For every state, the steps that lead to it.
pub(super) struct Backward {
    agents: usize,
    first: Vec<u32>,
    /// Each step as `from * agents + agent`.
    steps: Vec<u32>,
}

impl Backward {
    fn new(graph: &Graph) -> Self {
        let mut first = vec![0u32; graph.len() + 1];
        let leads_on = |step: usize, to: Id| to != NONE && to as usize != step / graph.agents;
        for (step, &to) in graph.targets.iter().enumerate() {
            if leads_on(step, to) {
                first[to as usize + 1] += 1;
            }
        }
        for index in 1..first.len() {
            first[index] += first[index - 1];
        }
        let mut next = first.clone();
        let mut steps = vec![0; first[graph.len()] as usize];
        for (step, &to) in graph.targets.iter().enumerate() {
            if leads_on(step, to) {
                steps[next[to as usize] as usize] = step as u32;
                next[to as usize] += 1;
            }
        }
        Backward { agents: graph.agents, first, steps }
    }

    /// Returns the steps that lead to `id` from another state.
    pub fn steps_to(&self, id: Id) -> impl Iterator<Item = (Id, Agent)> + '_ {
        let range = self.first[id as usize] as usize..self.first[id as usize + 1] as usize;
        let agents = self.agents as u32;
        self.steps[range].iter().map(move |step| (step / agents, (step % agents) as Agent))
    }
}

/// The states behind the numbers. The trait hides how many words a state takes.
trait PackedStates: Send + Sync {
    fn find(&self, state: &RunState) -> Option<Id>;
    fn access(&self, id: Id, p: Pid) -> (Access, usize, bool);
    fn memory(&self, id: Id) -> Vec<Word>;
}

struct Packed<const W: usize> {
    tables: Tables,
    buffers: Option<Buffers>,
    explored: Explored<W>,
}

impl<const W: usize> PackedStates for Packed<W> {
    fn find(&self, state: &RunState) -> Option<Id> {
        let mut packed = [0; W];
        if !self.tables.set(&mut packed, &state.processes, &state.memory) {
            return None;
        }
        if let Some(buffers) = &self.buffers {
            for (p, stores) in state.buffers.iter().enumerate() {
                let content = buffers.content(&self.tables, p, stores.iter().copied())?;
                self.tables.extra[p].set(&mut packed, content);
            }
        }
        self.explored.store.find(&self.explored.store.pending(packed, 0))
    }

    fn access(&self, id: Id, p: Pid) -> (Access, usize, bool) {
        let state = self.explored.store.get(id);
        let row = self.tables.row(&state, p);
        (row.access, row.var as usize, self.tables.step(&state, row).failed)
    }

    fn memory(&self, id: Id) -> Vec<Word> {
        self.tables.memory(&self.explored.store.get(id))
    }
}

impl Chart {
    /// Explores every state of `subject`, up to the limits. Reads no clock, and ends all threads that it starts
    /// before it returns.
    ///
    /// # Errors
    /// Fails if the subject is too large to be compiled into tables, or memory is not enough for its graph.
    pub fn new(subject: &Subject, resources: &Resources<'_>) -> Result<Self, String> {
        let machine = &**subject.machine();
        let (n, k, budget) = (machine.n(), machine.k(), resources.budget());
        let compiled = match subject.memory() {
            MemoryModel::Sequential => {
                Tables::within(machine, &[], budget).map(|tables| (tables, None))
            }
            MemoryModel::StoreBuffers => {
                Buffers::compile_within(machine, buffers::CAPACITY, budget)
                    .map(|(tables, buffers)| (tables, Some(buffers)))
            }
        };
        let (tables, buffers) =
            compiled.map_err(|cause| cannot_compile(subject.name(), n, k, cause).to_string())?;
        check_initial(&tables, Initial::All, resources.bytes).map_err(|error| error.to_string())?;
        with_words!(tables.words, chart(subject, tables, buffers, resources))
    }

    /// Returns the number of states.
    pub fn states(&self) -> u64 {
        self.violations.len() as u64
    }

    /// Returns the number of `state`, which must be in its normal form. Returns `None` if it was not explored.
    pub fn find(&self, state: &RunState) -> Option<Id> {
        self.packed.find(state)
    }

    /// Returns the access that `p` makes next: its kind, the variable, and whether it is a read-modify-write that
    /// fails.
    pub(super) fn access(&self, id: Id, p: Pid) -> (Access, usize, bool) {
        self.packed.access(id, p)
    }

    /// Returns the value of every variable.
    pub(super) fn memory(&self, id: Id) -> Vec<Word> {
        self.packed.memory(id)
    }

    /// Returns whether stores go through buffers.
    pub(super) fn has_buffers(&self) -> bool {
        !self.sections.settled.is_empty()
    }

    /// Returns the graph without the steps of these agents.
    pub(super) fn without(&self, agents: u64) -> Graph {
        let mut targets = self.graph.targets.clone();
        for (step, to) in targets.iter_mut().enumerate() {
            if agents >> (step % self.graph.agents) & 1 == 1 {
                *to = NONE;
            }
        }
        Graph { agents: self.graph.agents, targets }
    }
}

fn chart<const W: usize>(
    subject: &Subject,
    tables: Tables,
    buffers: Option<Buffers>,
    resources: &Resources<'_>,
) -> Result<Chart, String> {
    let machine = &**subject.machine();
    let names = machine.invariants();
    let broken = |state: &[u64]| {
        let name = machine.broken_invariant(&tables.private(state), &tables.memory(state))?;
        names.iter().position(|&other| other == name).map(|index| index as u32)
    };
    let base = Sequential {
        tables: &tables,
        contention: tables.n,
        initial: Initial::All,
        normal: Normal::of(machine, &tables),
        mishaps: buffers.is_none() && tables.has_mishaps(),
        flags: SafetyFlags { exclusion: true, names: tables.assigns_names() },
        invariants: (!names.is_empty()).then_some(&broken),
        every_step: false,
    };
    let parts = match &buffers {
        None => explored_parts::<W>(&base, &tables, None, resources)?,
        Some(buffers) => {
            let space = StoreBuffers { base, buffers };
            explored_parts::<W>(&space, &tables, Some(buffers), resources)?
        }
    };
    let Parts { explored, graph, sections, violations } = parts;
    (resources.phase)("reversing the graph");
    let exact = buffers.as_ref().is_none_or(Buffers::is_exact);
    let has_last = buffers.is_none() && tables.has_mishaps() && !tables.mishaps_recur;
    Ok(Chart {
        n: tables.n,
        transitions: explored.transitions,
        depth: explored.depth,
        ended: explored.ended,
        covers_all_runs: explored.is_whole() && exact,
        roots: explored.roots(),
        finite: if has_last { ((1 << tables.n) - 1) << tables.n } else { 0 },
        backward: Backward::new(&graph),
        graph,
        sections,
        violations,
        packed: Box::new(Packed { tables, buffers, explored }),
    })
}

struct Parts<const W: usize> {
    explored: Explored<W>,
    graph: Graph,
    sections: Sections,
    violations: Vec<u64>,
}

fn explored_parts<const W: usize>(
    space: &dyn Space<W>,
    tables: &Tables,
    buffers: Option<&Buffers>,
    resources: &Resources<'_>,
) -> Result<Parts<W>, String> {
    (resources.phase)("exploring");
    let explored = explore(space, &resources.limits());
    if explored.ended == Ended::Stopped {
        return Err("stopped".into());
    }
    // Memory for the graph, the reversed graph, and the answers.
    let needed = explored.bytes + 3 * explored.graph_bytes(space.agents());
    if needed > resources.bytes || explored.states * space.agents() as u64 > u64::from(u32::MAX) {
        let mib = needed >> 20;
        return Err(format!(
            "the graph would take {mib} MiB of memory: try a smaller n, or raise --memory"
        ));
    }
    (resources.phase)("building the graph");
    let graph = explored.graph(space, resources.threads);
    let mut violations = Vec::with_capacity(explored.states as usize);
    let mut sections = Vec::with_capacity(explored.states as usize * tables.n);
    let mut settled = Vec::new();
    for id in explored.ids() {
        let state = explored.store.get(id);
        violations.push(space.violations(&state));
        sections.extend((0..tables.n).map(|p| tables.section(&state, p)));
        if buffers.is_some() {
            settled.extend((0..tables.n).map(|p| tables.extra[p].get(&state) == 0));
        }
    }
    Ok(Parts { explored, graph, sections: Sections { n: tables.n, sections, settled }, violations })
}
