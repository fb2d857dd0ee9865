//! The checker's answers about every state: how many steps away each violation is, and which processes can still be
//! kept out of their critical sections forever.
//!
//! The answers depend on which processes have stopped forever, because a stopped process makes no further step.

use std::collections::VecDeque;

use hallpass_algorithms::Pid;

use super::chart::{Chart, Sections};
use crate::{
    graph::{Components, Graph, Part, components},
    liveness::{
        CycleSearch, InEntry, Inside, KeptOut, NoneEnters, fair_cycle_within, stopped,
        stores_settle,
    },
    space::{Agent, violation},
    store::{Id, NONE},
};

/// A violation to look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// A state that violates a safety property, by its bit in [`violation`].
    Safety(u32),
    /// A loop in which a process tries to enter its critical section, and no process enters.
    Deadlock,
    /// A loop that keeps this process out.
    Starve(Pid),
}

/// How near a violation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Near {
    /// The number of steps to the violation, or to the first state of a loop.
    pub steps: u32,
    /// For a loop: how many processes outside their remainders make no step in it.
    pub stopped: u32,
}

/// A run to a violation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Way {
    /// The agents of the steps to the violation, or to the loop.
    pub steps: Vec<Agent>,
    /// The agents of one round of the loop; empty if the violation is a state.
    pub cycle: Vec<Agent>,
    /// The number of steps after which the violation shows, if it shows before the end of `steps`.
    pub shown_after: Option<usize>,
}

/// The answers for every state of a chart, for one set of stopped processes.
pub struct Answers {
    pub(super) stopped: u64,
    /// The graph without the steps of stopped processes and without
    /// [mishaps](hallpass_algorithms::Mishap) that do not recur; `None` if that is the whole graph.
    live: Option<Graph>,
    violations: Vec<(u32, Vec<u32>)>,
    traps: Vec<(Goal, Traps)>,
    kept_out: Vec<KeptOut>,
}

/// The distance to a violation that cannot be reached.
const FAR: u32 = u32::MAX;

impl Answers {
    /// Computes the answers for all states in which exactly the processes of the set `stopped` have stopped.
    pub fn new(chart: &Chart, stopped: u64, phase: &dyn Fn(&str)) -> Self {
        let ended = stopped | chart.finite;
        let live = (ended != 0).then(|| chart.without(ended));
        let graph = live.as_ref().unwrap_or(&chart.graph);
        let all = chart.violations.iter().fold(0, |all, violations| all | violations);
        phase("distances to violations");
        let distances = |bit: u32| {
            let violating = (0..chart.violations.len() as Id)
                .filter(|&id| chart.violations[id as usize] >> bit & 1 == 1);
            (bit, distances(chart, stopped, violating))
        };
        let violations = (0..u64::BITS).filter(|bit| all >> bit & 1 == 1).map(distances).collect();
        phase("deadlock");
        let part = NoneEnters { standing: &chart.sections };
        let mut traps =
            vec![(Goal::Deadlock, Traps::new(chart, graph, stopped, &part, Goal::Deadlock))];
        let mut kept_out = Vec::new();
        for p in 0..chart.n {
            phase(&format!("starvation of process {p}"));
            let part = InEntry { standing: &chart.sections, process: p };
            let goal = Goal::Starve(p);
            traps.push((goal, Traps::new(chart, graph, stopped, &part, goal)));
            kept_out.push(KeptOut::new(graph, &chart.sections, p));
        }
        Answers { stopped, live, violations, traps, kept_out }
    }

    pub(super) fn graph<'a>(&'a self, chart: &'a Chart) -> &'a Graph {
        self.live.as_ref().unwrap_or(&chart.graph)
    }

    pub(super) fn kept_out(&self, p: Pid) -> &KeptOut {
        &self.kept_out[p]
    }

    /// Returns whether `p` is in its entry section in the state `id`, and a fair continuation keeps it out forever.
    pub fn can_be_kept_out(&self, id: Id, p: Pid) -> bool {
        self.kept_out[p].contains(id)
    }

    fn traps(&self, goal: Goal) -> Option<&Traps> {
        self.traps.iter().find(|(other, _)| *other == goal).map(|(_, traps)| traps)
    }

    /// Returns how near `goal` is from the state `id`; `None` if no run from it gets there.
    pub fn near(&self, id: Id, goal: Goal) -> Option<Near> {
        match goal {
            Goal::Safety(bit) => {
                let (_, distances) = self.violations.iter().find(|(other, _)| *other == bit)?;
                let steps = distances[id as usize];
                (steps != FAR).then_some(Near { steps, stopped: 0 })
            }
            goal => self.traps(goal)?.near(id),
        }
    }

    /// Returns a shortest way from the state `id` to `goal`, or `None` if there is none. If `goal` is a loop, the way
    /// is the shortest among the ways to loops with the fewest stopped processes.
    pub fn way(&self, chart: &Chart, id: Id, goal: Goal) -> Option<Way> {
        let (steps, end, near) = self.approach(chart, id, goal)?;
        let cycle = match goal {
            Goal::Safety(_) => Vec::new(),
            goal => self.traps(goal)?.cycle(chart, self, end, (goal, near.stopped), usize::MAX)?,
        };
        Some(Way { steps, cycle, shown_after: None })
    }

    /// Returns the number of steps of one round of the loop to which the way from `id` leads. Returns `None` if the
    /// goal has no loop, or if a short search does not find the loop.
    pub fn round(&self, chart: &Chart, id: Id, goal: Goal) -> Option<usize> {
        const SOON: usize = 2_000;
        let traps = self.traps(goal)?;
        let (_, end, near) = self.approach(chart, id, goal)?;
        let cycle = traps.cycle(chart, self, end, (goal, near.stopped), SOON)?;
        Some(cycle.len())
    }

    /// Returns the steps of a shortest way from `id` to `goal` or to its loop, and the state to which they lead.
    fn approach(&self, chart: &Chart, id: Id, goal: Goal) -> Option<(Vec<Agent>, Id, Near)> {
        let (mut steps, mut at) = (Vec::new(), id);
        let mut left = self.near(id, goal)?;
        while left.steps > 0 {
            let nearer = Near { steps: left.steps - 1, ..left };
            let mut edges =
                chart.graph.edges(at).filter(|(agent, _)| self.stopped >> agent & 1 == 0);
            let (agent, to) = edges.find(|&(_, to)| self.near(to, goal) == Some(nearer))?;
            steps.push(agent);
            (at, left) = (to, nearer);
        }
        Some((steps, at, left))
    }
}

/// Returns for each state the number of steps to the nearest of `goals`, without steps of stopped processes.
fn distances(chart: &Chart, stopped: u64, goals: impl Iterator<Item = Id>) -> Vec<u32> {
    let mut distances = vec![FAR; chart.violations.len()];
    let mut queue: VecDeque<Id> = goals.collect();
    queue.iter().for_each(|&id| distances[id as usize] = 0);
    while let Some(id) = queue.pop_front() {
        for (from, agent) in chart.backward.steps_to(id) {
            if distances[from as usize] == FAR && stopped >> agent & 1 == 0 {
                distances[from as usize] = distances[id as usize] + 1;
                queue.push_back(from);
            }
        }
    }
    distances
}

/// The loops of one kind: the components in which a victim keeps taking steps and does not enter its critical section.
struct Traps {
    components: Components,
    /// For each state, how near the cheapest loop is: the number of stopped processes, then the steps.
    near: Vec<(u8, u32)>,
}

const NOWHERE: (u8, u32) = (u8::MAX, FAR);

fn is_victim(sections: &Sections, goal: Goal, node: Id, agent: Agent) -> bool {
    use crate::standing::Standing as _;
    match goal {
        Goal::Starve(p) => agent == p,
        _ => agent < sections.n() && sections.section(node, agent).is_entry(),
    }
}

impl Traps {
    fn new(chart: &Chart, graph: &Graph, halted: u64, part: &impl Part, goal: Goal) -> Self {
        let components = components(graph, part);
        let mut loops: Vec<(u8, u32)> = Vec::new();
        for component in 0..components.count() {
            let members = components.members(component);
            let (mut movers, mut victim_moves) = (0u64, false);
            for &node in members {
                for (agent, to) in graph.edges(node) {
                    if components.of(to) == component && part.edge(node, agent, to) {
                        movers |= 1 << agent;
                        victim_moves |= is_victim(&chart.sections, goal, node, agent);
                    }
                }
            }
            if victim_moves && stores_settle(&chart.sections, members[0], movers) {
                let cost = stopped(&chart.sections, members[0], movers).len() as u8;
                loops.push((cost, component));
            }
        }
        loops.sort_unstable();
        let mut near = vec![NOWHERE; graph.len()];
        for cheapest in loops.chunk_by(|one, other| one.0 == other.0) {
            let members = cheapest.iter().flat_map(|&(_, component)| components.members(component));
            spread(chart, halted, &mut near, cheapest[0].0, members.copied());
        }
        Traps { components, near }
    }

    fn near(&self, id: Id) -> Option<Near> {
        let (cost, steps) = self.near[id as usize];
        (steps != FAR).then_some(Near { steps, stopped: cost.into() })
    }

    /// Returns a shortest loop through `start` with at most `cost` stopped processes, if a search of `most` states
    /// finds it.
    fn cycle(
        &self,
        chart: &Chart,
        answers: &Answers,
        start: Id,
        (goal, cost): (Goal, u32),
        most: usize,
    ) -> Option<Vec<Agent>> {
        let graph = answers.graph(chart);
        let component = self.components.of(start);
        if component == NONE {
            return None;
        }
        let (sections, components) = (&chart.sections, &self.components);
        let is_victim = |node: Id, agent: Agent| is_victim(sections, goal, node, agent);
        let search = CycleSearch { cost: cost as usize, most, stop: None };
        match goal {
            Goal::Starve(process) => {
                let part = InEntry { standing: sections, process };
                let inside = Inside { components, component, part: &part };
                fair_cycle_within(graph, sections, &inside, start, search, is_victim).ok()
            }
            _ => {
                let part = NoneEnters { standing: sections };
                let inside = Inside { components, component, part: &part };
                fair_cycle_within(graph, sections, &inside, start, search, is_victim).ok()
            }
        }
    }
}

/// Enters `cost` and the number of steps to the nearest of `goals` for every state that can reach `goals` and has no
/// entry in `near` yet.
fn spread(
    chart: &Chart,
    halted: u64,
    near: &mut [(u8, u32)],
    cost: u8,
    goals: impl Iterator<Item = Id>,
) {
    let mut queue = VecDeque::new();
    for id in goals {
        if near[id as usize] == NOWHERE {
            near[id as usize] = (cost, 0);
            queue.push_back(id);
        }
    }
    while let Some(id) = queue.pop_front() {
        let steps = near[id as usize].1 + 1;
        for (from, agent) in chart.backward.steps_to(id) {
            if near[from as usize] == NOWHERE && halted >> agent & 1 == 0 {
                near[from as usize] = (cost, steps);
                queue.push_back(from);
            }
        }
    }
}

/// Returns the name of the violated property.
pub(super) fn violation_name(bit: u32, invariants: &[&'static str]) -> &'static str {
    match bit {
        violation::EXCLUSION => "exclusion",
        violation::NAMES => "names",
        violation::RANGE => "range",
        bit => (bit.checked_sub(violation::FIRST_INVARIANT))
            .and_then(|index| invariants.get(index as usize).copied())
            .unwrap_or("invariant"),
    }
}
