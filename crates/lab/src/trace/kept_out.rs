//! Looks for an endless run that keeps a process out of its critical section, from the current state of an interpreter.

use std::collections::{HashMap, HashSet};

use hallpass_algorithms::Pid;

use super::{interpreter::Interpreter, state::Snapshot};
use crate::{schedule::MemoryModel, space::Agent};

/// The maximum number of steps of a process that runs alone.
const ALONE: usize = 10_000;

/// The number of found states at which [`by_others`] ends its search.
const STATES: usize = 5_000;

/// Tries two runs in which only `p` and the store buffers take steps. Returns whether `p` never enters in one of them.
pub(super) fn alone(interpreter: &mut Interpreter, p: Pid) -> bool {
    let start = interpreter.snapshot();
    [false, true].into_iter().any(|own_last| {
        let kept_out = repeats(interpreter, p, own_last);
        interpreter.restore(&start);
        kept_out
    })
}

/// Runs `p` alone until it enters, until a state occurs again, or for [`ALONE`] steps. Returns whether a state occurs
/// again. Every store reaches memory eventually, so the buffers go first. `own_last` puts the buffer of `p` after the
/// others.
fn repeats(interpreter: &mut Interpreter, p: Pid, own_last: bool) -> bool {
    let n = interpreter.machine().n();
    let mut seen = HashSet::new();
    while seen.len() < ALONE && interpreter.stand(p).section.is_entry() {
        if !seen.insert(interpreter.normal(interpreter.state())) {
            return true;
        }
        let buffers = &interpreter.state().buffers;
        let full = (0..n).filter(|&q| !buffers[q].is_empty());
        let flushed = full.min_by_key(|&q| (q == p) == own_last);
        if interpreter.step(flushed.map_or(p, |q| n + q)).is_err() {
            return false;
        }
    }
    false
}

/// The states that are reachable while a process has not entered.
#[derive(Default)]
struct Reached {
    states: Vec<Snapshot>,
    edges: Vec<Vec<(Agent, usize)>>,
}

/// Returns whether some run, in which `p` takes steps forever, keeps `p` out. Other processes may take steps too. The
/// search visits the states near the current one, so `false` means that it found no such run.
pub(super) fn by_others(interpreter: &mut Interpreter, memory: MemoryModel, p: Pid) -> bool {
    let start = interpreter.snapshot();
    let reached = explore(interpreter, memory, p);
    interpreter.restore(&start);
    let backwards = reached.backwards();
    let mut done = HashSet::new();
    for (from, edges) in reached.edges.iter().enumerate() {
        for &(agent, to) in edges {
            if agent != p || done.contains(&to) {
                continue;
            }
            let forth =
                closure(to, |state| reached.edges[state].iter().map(|edge| edge.1).collect());
            let back = closure(to, |state| backwards[state].clone());
            let component: HashSet<usize> = forth.intersection(&back).copied().collect();
            if component.contains(&from) && reached.stores_settle(&component) {
                return true;
            }
            // If `from` is in another component, the step is not on a cycle. Otherwise, a store never settles in this
            // component, whichever step of `p` is on the cycle.
            if component.contains(&from) {
                done.extend(component);
            }
        }
    }
    false
}

fn explore(interpreter: &mut Interpreter, memory: MemoryModel, p: Pid) -> Reached {
    let machine = interpreter.shared_machine();
    let n = machine.n();
    // Mishaps, such as the death of a process, end before a process starves, unless they may recur.
    let applies = |agent: Agent| {
        let recurs = |q: Pid| machine.mishap(q).is_some_and(|mishap| mishap.recurs);
        agent < n || memory == MemoryModel::StoreBuffers || recurs(agent - n)
    };
    let agents: Vec<Agent> = (0..2 * n).filter(|&agent| applies(agent)).collect();
    let mut reached = Reached::default();
    let mut ids = HashMap::from([(interpreter.normal(interpreter.state()), 0)]);
    reached.states.push(interpreter.snapshot());
    let mut at = 0;
    while at < reached.states.len() && reached.states.len() < STATES {
        let mut edges = Vec::new();
        for &agent in &agents {
            interpreter.restore(&reached.states[at]);
            if interpreter.step(agent).is_err() || !interpreter.stand(p).section.is_entry() {
                continue;
            }
            let id =
                *ids.entry(interpreter.normal(interpreter.state())).or_insert(reached.states.len());
            if id == reached.states.len() {
                reached.states.push(interpreter.snapshot());
            }
            edges.push((agent, id));
        }
        reached.edges.push(edges);
        at += 1;
    }
    reached.edges.resize(reached.states.len(), Vec::new());
    reached
}

impl Reached {
    fn backwards(&self) -> Vec<Vec<usize>> {
        let mut backwards = vec![Vec::new(); self.states.len()];
        for (from, edges) in self.edges.iter().enumerate() {
            edges.iter().for_each(|&(_, to)| backwards[to].push(from));
        }
        backwards
    }

    /// Returns whether every store reaches memory in an endless run through the whole component.
    fn stores_settle(&self, component: &HashSet<usize>) -> bool {
        let n = self.states[0].state.buffers.len();
        (0..n).all(|q| {
            component.iter().any(|&state| {
                let flushed =
                    |&(agent, to): &(Agent, usize)| agent == n + q && component.contains(&to);
                self.states[state].state.buffers[q].is_empty()
                    || self.edges[state].iter().any(flushed)
            })
        })
    }
}

/// Returns the states that are reachable from `start`.
fn closure(start: usize, next: impl Fn(usize) -> Vec<usize>) -> HashSet<usize> {
    let mut seen = HashSet::from([start]);
    let mut todo = vec![start];
    while let Some(state) = todo.pop() {
        todo.extend(next(state).into_iter().filter(|&to| seen.insert(to)));
    }
    seen
}
