//! Decides two kinds of statements about progress: that one condition leads to another, and that a condition
//! holds if and only if a process is enabled.
//!
//! A run violates the statement that `If` leads to `Then` for process p if it contains these three parts, and
//! `Then` holds in none of their states:
//!
//! 1. a state in which `If` holds;
//! 2. a path from this state to a cycle;
//! 3. the cycle, repeated forever. Process p takes steps in the cycle.
//!
//! Every process outside its remainder that takes no step in the cycle has stopped. The run is a violation only
//! if at most [`survives`](crate::Machine::survives) processes have stopped.

use hallpass_algorithms::{Pid, Side};

use super::{Answer, Answered, Subject};
use crate::{
    graph::Graph,
    liveness::{self, KeptOut, Trap},
    machine::Numeric,
    schedule::{Finding, Schedule},
    space::Agent,
    store::{Id, NONE},
};

/// The states that are reachable from a state with `If`, without `Then` on the way.
struct Pending {
    /// For each state: the state before it on a shortest path, and the agent of the step. For a state in which `If`
    /// holds, this is the state itself. States that are not pending have [`NONE`].
    before: Vec<(Id, Agent)>,
}

impl Pending {
    fn new(graph: &Graph, is: impl Fn(Id, Side) -> bool) -> Self {
        let mut before = vec![(NONE, 0); graph.len()];
        let mut queue = Vec::new();
        for id in 0..graph.len() as Id {
            if is(id, Side::If) && !is(id, Side::Then) {
                before[id as usize] = (id, 0);
                queue.push(id);
            }
        }
        let mut next = 0;
        while let Some(&from) = queue.get(next) {
            next += 1;
            for (agent, to) in graph.edges(from) {
                if before[to as usize].0 == NONE && !is(to, Side::Then) {
                    before[to as usize] = (from, agent);
                    queue.push(to);
                }
            }
        }
        Pending { before }
    }

    fn contains(&self, id: Id) -> bool {
        self.before[id as usize].0 != NONE
    }

    fn is_empty(&self) -> bool {
        self.before.iter().all(|&(id, _)| id == NONE)
    }

    /// Returns the state with `If` from which `id` is reached, and the steps from there.
    fn path(&self, mut id: Id) -> (Id, Vec<Agent>) {
        let mut steps = Vec::new();
        loop {
            let (before, agent) = self.before[id as usize];
            if before == id {
                steps.reverse();
                return (id, steps);
            }
            steps.push(agent);
            id = before;
        }
    }
}

impl<const W: usize> Subject<'_, W> {
    fn condition(&self, name: &str, instance: usize, p: Pid, id: Id, side: Side) -> bool {
        let state = self.explored().store.get(id);
        let (processes, memory) = (self.tables().private(&state), self.tables().memory(&state));
        let state = Numeric { processes: &processes, memory: &memory };
        self.machine.condition(name, instance, side, p, state)
    }

    pub(super) fn leads_to(&self, name: &'static str) -> Answered {
        let mut is_vacuous = true;
        let mut worst: Option<(Trap, Schedule)> = None;
        for instance in 0..self.machine.instances(name) {
            let most = self.machine.survives(name, instance);
            for p in self.observed() {
                let is = |id: Id, side: Side| self.condition(name, instance, p, id, side);
                let pending = Pending::new(self.steps, is);
                is_vacuous &= pending.is_empty();
                let part = |id: Id| pending.contains(id);
                let moves = |_: Id, agent: Agent| agent == p;
                let trap = liveness::cheapest_trap(self.steps, self.states, &part, moves);
                let Some(trap) = trap.filter(|trap| trap.stopped.len() <= most) else { continue };
                if worst.as_ref().is_some_and(|(old, _)| old.stopped.len() <= trap.stopped.len()) {
                    continue;
                }
                let (start, path) = pending.path(trap.start);
                let finding = Finding::LeadsTo {
                    name: name.to_string(),
                    instance,
                    process: p,
                    stopped: trap.stopped.clone(),
                };
                let run = self.schedule(start, &path, trap.cycle.clone(), finding);
                worst = Some((trap, run));
            }
        }
        match worst {
            Some((_, run)) => Answered { run: Some(run), ..Answered::new(Answer::Violated) },
            None if is_vacuous => Answered::new(Answer::Vacuous),
            None => Answered::new(Answer::Holds),
        }
    }

    /// Checks, in every state and for every process for which `If` holds, that `Then` holds if and only if the
    /// process is enabled.
    pub(super) fn is_enabled_if_and_only_if(&self, name: &'static str) -> Answered {
        let mut is_vacuous = true;
        for p in self.observed() {
            let kept_out = KeptOut::new(self.steps, self.states, p);
            for id in self.explored().ids() {
                if !self.condition(name, 0, p, id, Side::If) {
                    continue;
                }
                is_vacuous = false;
                let is_enabled = !kept_out.contains(id);
                if self.condition(name, 0, p, id, Side::Then) == is_enabled {
                    continue;
                }
                // A run that ends in this state shows the state. No single run shows that a process is enabled.
                let finding = Finding::Played { stopped: Vec::new() };
                let run = self.schedule(id, &[], Vec::new(), finding);
                let note = match is_enabled {
                    true => format!("process {p} is enabled and the condition does not hold"),
                    false => format!("process {p} is not enabled and the condition holds"),
                };
                return Answered { run: Some(run), ..Answered::new(Answer::Violated) }.noting(note);
            }
        }
        Answered::new(if is_vacuous { Answer::Vacuous } else { Answer::Holds })
    }
}
