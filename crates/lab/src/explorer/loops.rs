//! Finds loops in a run. If a run comes back to a state that it has been in before, it has closed a loop: the steps
//! since then can repeat forever. If an algorithm counts without bound, its states may never recur. Then it is
//! enough that the two states have the same [normal form](hallpass_algorithms::Algorithm::normalize).

use std::collections::{BTreeMap, BTreeSet};

use hallpass_algorithms::{Pid, Section};
use serde::Serialize;

use super::{
    moment::{Moment, Node},
    session::{Action, NodeId, Session},
};
use crate::{
    schedule::{Finding, Schedule},
    space::Agent,
    trace::{self, Via, words},
};

/// A loop that the run has closed: its last state has the same normal form as an earlier one, so the steps since then
/// can repeat forever.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Loop {
    /// The node where the loop begins.
    pub from: NodeId,
    /// The number of steps of the loop.
    pub steps: usize,
    /// The processes that keep making steps in the loop and never enter their critical sections.
    pub victims: Vec<Pid>,
    /// The processes outside their remainders that make no step in the loop.
    pub stopped: Vec<Pid>,
    /// Whether no process enters its critical section in the loop.
    pub deadlock: bool,
    /// Whether the algorithm promises that there is no such loop with this number of stopped processes.
    pub violates: bool,
    /// Whether some variable has another value at the end of the loop than at its start, because the algorithm counts
    /// without bound. Even then, both states behave the same.
    pub grows: bool,
    /// One sentence that describes the loop.
    pub why: String,
    /// For each victim, a sentence about the values that it reads in the loop.
    pub seen: Vec<String>,
}

/// A place where the run may have begun to repeat itself.
struct Candidate {
    from: NodeId,
    steps: usize,
    victims: Vec<Pid>,
    stopped: Vec<Pid>,
    deadlock: bool,
}

/// The maximum number of variables that a sentence names.
const MOST_NAMED: usize = 4;

fn set(pids: impl Iterator<Item = Pid>) -> u64 {
    pids.fold(0, |set, p| set | 1 << p)
}

fn pids(set: u64, n: usize) -> Vec<Pid> {
    (0..n).filter(|p| set >> p & 1 == 1).collect()
}

fn in_entry(moment: &Moment) -> u64 {
    set((0..moment.stands.len()).filter(|&p| moment.stands[p].section.is_entry()))
}

fn inside(moment: &Moment) -> u64 {
    set((0..moment.stands.len()).filter(|&p| moment.stands[p].section == Section::Critical))
}

impl Session {
    /// Returns the loop with the fewest stopped processes that ends at `node` and starves a process.
    pub(super) fn repeats(&self, node: NodeId) -> Result<Option<&Loop>, String> {
        // A run never changes, so each node is examined once.
        let found = self.node(node)?.repeats.get_or_init(|| self.closed_loop(node).map(Box::new));
        Ok(found.as_deref())
    }

    fn closed_loop(&self, end: NodeId) -> Option<Loop> {
        let mut candidates = self.candidates(end);
        candidates.sort_by_key(|candidate| (candidate.stopped.len(), candidate.steps));
        let (found, nodes) = candidates.into_iter().find_map(|candidate| {
            let nodes = self.last_nodes(end, candidate.steps);
            self.recurs(&candidate, &nodes).then_some((candidate, nodes))
        })?;
        let Candidate { from, steps, victims, stopped, deadlock } = found;
        let machine = self.subject().machine();
        let schedule = Schedule {
            algorithm: self.subject().name().to_string(),
            n: machine.n(),
            k: machine.k(),
            memory: self.subject().memory(),
            initial: Vec::new(),
            stem: Vec::new(),
            cycle: Vec::new(),
            finding: Finding::Starvation { victim: victims[0], stopped: stopped.clone() },
        };
        let question = self.subject().question();
        let violates = question.promises("starvation") && stopped.len() <= question.crashes
            || question.promises("deadlock") && deadlock && stopped.is_empty();
        let seen = victims.iter().filter_map(|&p| self.seen_by(p, from, &nodes)).collect();
        let memory = |id: NodeId| &self.nodes[id as usize].moment.snapshot.state().memory;
        let grows = memory(from) != memory(end);
        let why = words::describe(&schedule);
        Some(Loop { from, steps, victims, stopped, deadlock, violates, grows, why, seen })
    }

    /// Returns the nodes before `end` that have the same [normal form](Moment::normal) as `end`, the nearest first.
    /// Between such a node and `end`, some process must make steps and stay in its entry section.
    fn candidates(&self, end: NodeId) -> Vec<Candidate> {
        // While a process waits for a long time, the run may return to the same state many times. The nearest
        // occurrences are enough.
        const NEAREST: usize = 64;
        let node = |id: NodeId| &self.nodes[id as usize];
        let n = self.subject().machine().n();
        let last = &node(end).moment;
        let outside = set((0..n).filter(|&p| last.stands[p].section != Section::Remainder));
        let (mut at, mut steps) = (node(end), 0);
        let (mut waiting, mut moved, mut enters) = (in_entry(last), 0u64, false);
        let mut found = Vec::new();
        // A process stops forever only once, so no loop contains the moment at which a process stops.
        while let &Node { parent: Some(from), action: Some(Action::Step(agent)), .. } = at {
            let before = node(from);
            steps += 1;
            moved |= 1 << agent;
            enters |= inside(&at.moment) & !inside(&before.moment) != 0;
            waiting &= in_entry(&before.moment);
            if waiting == 0 || found.len() == NEAREST {
                break;
            }
            let victims = waiting & moved;
            let same = before.moment.hash == last.hash && before.moment.normal == last.normal;
            if same && victims != 0 {
                found.push(Candidate {
                    from,
                    steps,
                    victims: pids(victims, n),
                    stopped: pids(outside & !moved, n),
                    deadlock: !enters,
                });
            }
            at = before;
        }
        found
    }

    /// Returns the last `steps` nodes of the run to `end`.
    fn last_nodes(&self, end: NodeId, steps: usize) -> Vec<NodeId> {
        let parents = std::iter::successors(Some(end), |&id| self.nodes[id as usize].parent);
        let mut nodes: Vec<NodeId> = parents.take(steps).collect();
        nodes.reverse();
        nodes
    }

    /// Returns whether the loop repeats on the step machine itself, and no store stays in a buffer forever.
    fn recurs(&self, candidate: &Candidate, nodes: &[NodeId]) -> bool {
        let node = |id: NodeId| &self.nodes[id as usize];
        let agents = nodes.iter().filter_map(|&id| match node(id).action {
            Some(Action::Step(agent)) => Some(agent),
            _ => None,
        });
        let cycle: Vec<Agent> = agents.collect();
        let snapshot = &node(candidate.from).moment.snapshot;
        let n = self.subject().machine().n();
        let buffers = &snapshot.state().buffers;
        let settles = (0..n).all(|p| buffers[p].is_empty() || cycle.contains(&(n + p)));
        let mut interpreter = self.subject().interpreter(snapshot.state().memory.clone());
        interpreter.restore(snapshot);
        settles && trace::recurs(&mut interpreter, &cycle).is_ok()
    }

    /// Returns a sentence about the variables that `p` reads in a loop, and the values that it finds there.
    fn seen_by(&self, p: Pid, from: NodeId, nodes: &[NodeId]) -> Option<String> {
        let node = |id: NodeId| &self.nodes[id as usize];
        let decls = self.subject().machine().layout().decls();
        let mut found: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        for &id in nodes {
            let Some(step) = node(id).step.as_ref().filter(|step| step.agent == p) else {
                continue;
            };
            let Some(access) = &step.access else { continue };
            if !access.changes_memory() && access.via != Via::IntoBuffer {
                found.entry(access.var).or_default().insert(access.found_shown.clone());
            }
        }
        let values_of = |var: usize| -> BTreeSet<String> {
            let states = std::iter::once(&from).chain(nodes);
            states
                .map(|&id| decls[var].show(node(id).moment.snapshot.state().memory[var]))
                .collect()
        };
        let mut parts: Vec<String> = Vec::new();
        for (&var, seen) in found.iter().take(MOST_NAMED) {
            let (name, all) = (&decls[var].name, values_of(var));
            let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
            parts.push(match (&seen[..], all.len()) {
                (_, 2..) if decls[var].unbounded => format!("{name}, which grows"),
                ([value], 1) => format!("{name}, which is {value} all the time"),
                ([value], _) => {
                    format!("{name}, which changes, but is {value} whenever process {p} reads it")
                }
                (values, _) => format!("{name}, and finds {}", values.join(" and ")),
            });
        }
        if found.len() > MOST_NAMED {
            parts.push(format!("{} more variables", found.len() - MOST_NAMED));
        }
        (!parts.is_empty()).then(|| format!("In the loop, process {p} reads {}", parts.join("; ")))
    }
}
