//! Decides deadlock, starvation and enabledness, based on the cycles of the graph of all steps.
//!
//! **Fairness.** Fairness is weak, per process: every process outside its remainder that has not stopped keeps
//! taking steps. A step that only waits counts as a step.
//!
//! **Traps.** An endless run eventually stays in one strongly connected component of the graph. In this
//! component, each process takes steps, stays in its remainder, or has stopped. A *trap* is a component in which
//! a process, the victim, keeps taking steps and never *enters*, that is, never enters its critical section. The
//! cost of a trap is the number of stopped processes: those that are outside their remainder and take no step in
//! the component. The resilience is the cost of the cheapest trap.
//!
//! **Whole components are enough.** A smaller cycle within a component is never cheaper than the component: a
//! process that takes no step in the component takes none in the cycle either.
//!
//! **The model needs no crash steps.** A stopped process simply takes no step in the component.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use hallpass_algorithms::{Pid, Section};
use indexmap::IndexMap;

use crate::{
    explore::Ended,
    graph::{Components, Edges, Graph, Part, components, shortest},
    space::Agent,
    standing::Standing,
    store::{Id, NONE},
};

/// The states in which a process is in its entry section.
pub struct InEntry<'a, S> {
    /// The section of each process in each state.
    pub standing: &'a S,
    /// The process whose entry section counts.
    pub process: Pid,
}

impl<S: Standing> Part for InEntry<'_, S> {
    fn node(&self, node: Id) -> bool {
        self.standing.section(node, self.process).is_entry()
    }
}

/// All states, and the steps by which no process ends its entry section. In these steps, no process
/// enters its critical section, and no process gives up and returns to its remainder.
pub struct NoneEnters<'a, S> {
    /// The section of each process in each state.
    pub standing: &'a S,
}

impl<S: Standing> Part for NoneEnters<'_, S> {
    fn node(&self, _: Id) -> bool {
        true
    }

    fn edge(&self, from: Id, agent: Agent, to: Id) -> bool {
        agent >= self.standing.n()
            || !self.standing.section(from, agent).is_entry()
            || self.standing.section(to, agent).is_entry()
    }
}

/// A trap, with one cycle through it as its evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trap {
    /// The processes that have stopped outside their remainder.
    pub stopped: Vec<Pid>,
    /// The first state of the cycle.
    pub start: Id,
    /// The agent of each step of the cycle.
    pub cycle: Vec<Agent>,
}

/// Returns a trap for `victim` with the fewest stopped processes.
pub fn starvation<S: Standing>(graph: &Graph, standing: &S, victim: Pid) -> Option<Trap> {
    let part = InEntry { standing, process: victim };
    cheapest_trap(graph, standing, &part, |_, agent| agent == victim)
}

/// Returns a trap with the fewest stopped processes in which some process tries to enter and no process
/// enters.
pub fn deadlock<S: Standing>(graph: &Graph, standing: &S) -> Option<Trap> {
    let part = NoneEnters { standing };
    cheapest_trap(graph, standing, &part, |node, agent| {
        agent < standing.n() && standing.section(node, agent).is_entry()
    })
}

/// Returns the trap in `part` with the fewest stopped processes. A trap in `part` is one of its components, in which a
/// victim takes steps.
pub(crate) fn cheapest_trap<S: Standing>(
    graph: &Graph,
    standing: &S,
    part: &impl Part,
    is_victim: impl Fn(Id, Agent) -> bool,
) -> Option<Trap> {
    let components = components(graph, part);
    let mut best: Option<(usize, Id)> = None;
    for component in 0..components.count() {
        let members = components.members(component);
        let (mut movers, mut victim_moves) = (0u64, false);
        for &node in members {
            for (agent, to) in graph.edges(node) {
                if components.of(to) == component && part.edge(node, agent, to) {
                    movers |= 1 << agent;
                    victim_moves |= is_victim(node, agent);
                }
            }
        }
        if !victim_moves || !stores_settle(standing, members[0], movers) {
            continue;
        }
        let cost = stopped(standing, members[0], movers).len();
        let first = members.iter().copied().min().expect("no component is empty");
        best = Some(best.map_or((cost, first), |best| best.min((cost, first))));
    }
    let (cost, start) = best?;
    let inside = Inside { components: &components, component: components.of(start), part };
    let cycle = fair_cycle(graph, standing, &inside, start, cost, is_victim);
    let movers = cycle.iter().fold(0, |movers, &agent| movers | 1 << agent);
    Some(Trap { stopped: stopped(standing, start, movers), start, cycle })
}

/// Returns the processes that are outside their remainder in the state `node`, and that are not in the set `movers`.
pub(crate) fn stopped<S: Standing>(standing: &S, node: Id, movers: u64) -> Vec<Pid> {
    (0..standing.n())
        .filter(|&p| movers >> p & 1 == 0 && standing.section(node, p) != Section::Remainder)
        .collect()
}

/// Returns whether every store reaches memory eventually. A buffer never stops, even if its process has
/// stopped.
pub(crate) fn stores_settle<S: Standing>(standing: &S, node: Id, movers: u64) -> bool {
    let n = standing.n();
    (0..n).all(|p| movers >> (n + p) & 1 == 1 || standing.has_settled(node, p))
}

/// One component of a part of the graph.
pub(crate) struct Inside<'a, P> {
    pub components: &'a Components,
    pub component: u32,
    pub part: &'a P,
}

impl<P: Part> Part for Inside<'_, P> {
    fn node(&self, node: Id) -> bool {
        self.components.of(node) == self.component
    }

    fn edge(&self, from: Id, agent: Agent, to: Id) -> bool {
        self.part.edge(from, agent, to)
    }
}

/// Returns a shortest cycle through `start` in which a victim takes steps, at most `cost` processes have
/// stopped, and every store reaches memory. The search is breadth first over states and sets of agents
/// that have taken steps.
pub(crate) fn fair_cycle<S: Standing>(
    graph: &impl Edges,
    standing: &S,
    inside: &impl Part,
    start: Id,
    cost: usize,
    is_victim: impl Fn(Id, Agent) -> bool,
) -> Vec<Agent> {
    let search = CycleSearch { cost, most: usize::MAX, stop: None };
    fair_cycle_within(graph, standing, inside, start, search, is_victim)
        .expect("a fair cycle exists")
}

/// The limits of a search for a cycle.
pub(crate) struct CycleSearch<'a> {
    /// The maximum number of stopped processes.
    pub cost: usize,
    /// The maximum number of nodes.
    pub most: usize,
    /// The search stops soon after this becomes true. `None` if the caller never stops the search.
    pub stop: Option<&'a AtomicBool>,
}

/// Returns the cycle that [`fair_cycle`] returns, or the limit that the search reaches before it finds the
/// cycle.
pub(crate) fn fair_cycle_within<S: Standing>(
    graph: &impl Edges,
    standing: &S,
    inside: &impl Part,
    start: Id,
    CycleSearch { cost, most, stop }: CycleSearch<'_>,
    is_victim: impl Fn(Id, Agent) -> bool,
) -> Result<Vec<Agent>, Ended> {
    type Node = (Id, u64, bool);
    const NODES_PER_CHECK: usize = 1 << 10;
    let mut seen: IndexMap<Node, (usize, Agent), foldhash::fast::FixedState> = IndexMap::default();
    seen.insert((start, 0, false), (0, 0));
    let mut index: usize = 0;
    loop {
        if index.is_multiple_of(NODES_PER_CHECK) && stop.is_some_and(|stop| stop.load(Relaxed)) {
            return Err(Ended::Stopped);
        }
        let (&(node, movers, victim), _) = seen.get_index(index).ok_or(Ended::Memory)?;
        if node == start
            && victim
            && stopped(standing, start, movers).len() <= cost
            && stores_settle(standing, start, movers)
        {
            break;
        }
        graph.for_each_edge(node, &mut |agent, to| {
            if inside.node(to) && inside.edge(node, agent, to) && seen.len() < most {
                let next = (to, movers | 1 << agent, victim || is_victim(node, agent));
                seen.entry(next).or_insert((index, agent));
            }
        });
        index += 1;
    }
    let mut cycle = Vec::new();
    while index != 0 {
        let (_, &(parent, agent)) = seen.get_index(index).expect("it was seen");
        cycle.push(agent);
        index = parent;
    }
    cycle.reverse();
    Ok(cycle)
}

/// The states in which a process is in its entry section and not enabled. From such a state, there is a
/// fair continuation in which the process keeps taking steps and never enters its critical section.
pub struct KeptOut {
    process: Pid,
    components: Components,
    /// For each component: whether it can reach a cycle in which the process takes steps, and whether it
    /// contains such a cycle.
    reaches: Vec<(bool, bool)>,
}

impl KeptOut {
    /// Computes the states in which `process` is in its entry section and not enabled.
    pub fn new<S: Standing>(graph: &Graph, standing: &S, process: Pid) -> Self {
        let components = components(graph, &InEntry { standing, process });
        let mut reaches: Vec<(bool, bool)> = Vec::with_capacity(components.count() as usize);
        for component in 0..components.count() {
            let members = components.members(component);
            let (mut reach, mut movers) = (false, 0u64);
            for &node in members {
                for (agent, to) in graph.edges(node) {
                    match components.of(to) {
                        NONE => {}
                        same if same == component => movers |= 1 << agent,
                        other => reach |= reaches[other as usize].0,
                    }
                }
            }
            let here = movers >> process & 1 == 1 && stores_settle(standing, members[0], movers);
            reaches.push((reach || here, here));
        }
        KeptOut { process, components, reaches }
    }

    /// Returns whether the process is in its entry section and not enabled.
    #[inline]
    pub fn contains(&self, node: Id) -> bool {
        match self.components.of(node) {
            NONE => false,
            component => self.reaches[component as usize].0,
        }
    }

    /// Returns a run from `node` in which the process never enters: the path to a cycle, and a cycle in
    /// which the process takes steps. Any other process may have stopped.
    pub fn evidence<S: Standing>(
        &self,
        graph: &Graph,
        standing: &S,
        node: Id,
    ) -> (Vec<Agent>, Vec<Agent>) {
        let here = |node: Id| self.reaches[self.components.of(node) as usize].1;
        let (path, at) =
            shortest(graph, node, |node| self.contains(node), here).expect("it reaches a cycle");
        let part = InEntry { standing, process: self.process };
        let inside =
            Inside { components: &self.components, component: self.components.of(at), part: &part };
        let any_number = standing.n();
        let is_victim = |_: Id, agent: Agent| agent == self.process;
        (path, fair_cycle(graph, standing, &inside, at, any_number, is_victim))
    }
}
