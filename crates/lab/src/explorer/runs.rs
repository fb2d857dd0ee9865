//! Converts a run that was played in the explorer to a schedule, and plays replay strings.
//!
//! A [`Session`] keeps all played runs in one tree. A node of this tree is a state with the run that leads to it.

use hallpass_algorithms::{Pid, Word};

use super::{
    loops::Loop,
    session::{Action, NodeId, Session},
};
use crate::{
    schedule::{Finding, Schedule},
    space::Agent,
    trace,
};

impl Session {
    /// Returns the agents of the run that leads to `node`, and its initial memory.
    pub(super) fn run(&self, node: NodeId) -> Result<(Vec<Word>, Vec<Agent>), String> {
        let path = self.path(node)?;
        let agents = path.iter().filter_map(|&id| match self.nodes[id as usize].action {
            Some(Action::Step(agent)) => Some(agent),
            _ => None,
        });
        let initial = self.nodes[path[0] as usize].moment.snapshot.state().memory.clone();
        Ok((initial, agents.collect()))
    }

    /// Returns the run that leads to `node` as a schedule with this finding.
    ///
    /// # Errors
    /// Fails if there is no such node.
    pub fn schedule(&self, node: NodeId, finding: Finding) -> Result<Schedule, String> {
        let (initial, stem) = self.run(node)?;
        let machine = self.subject().machine();
        Ok(Schedule {
            algorithm: self.subject().name().to_string(),
            n: machine.n(),
            k: machine.k(),
            memory: self.subject().memory(),
            initial,
            stem,
            cycle: Vec::new(),
            finding,
        })
    }

    /// Returns the run that leads to `node` as a schedule whose cycle is the loop that ends there.
    ///
    /// # Errors
    /// Fails if there is no such node.
    pub fn schedule_of_loop(&self, node: NodeId, repeats: &Loop) -> Result<Schedule, String> {
        let (victim, stopped) = (repeats.victims[0], repeats.stopped.clone());
        let mut whole = self.schedule(node, Finding::Starvation { victim, stopped })?;
        whole.cycle = whole.stem.split_off(whole.stem.len() - repeats.steps);
        Ok(whole)
    }

    /// Plays the run of a replay string: adds its nodes to the tree, and returns the last one.
    ///
    /// # Errors
    /// Fails if the string is damaged, is about another subject, or a step is impossible.
    pub fn open(&mut self, replay: &str) -> Result<NodeId, String> {
        let machine = self.subject().machine().clone();
        let schedule = trace::decode_on(&*machine, self.subject().name(), replay)
            .map_err(|error| error.to_string())?;
        if schedule.memory != self.subject().memory() {
            return Err("the replay string is for a different memory model".into());
        }
        let mut at = self.start(&schedule.initial)?;
        let agents: Vec<Agent> = schedule.stem.iter().chain(&schedule.cycle).copied().collect();
        let stops = stops(&schedule, &agents);
        for (index, &agent) in agents.iter().enumerate() {
            for &(p, _) in stops.iter().filter(|stop| stop.1 == index) {
                at = self.act(at, Action::Stop(p))?;
            }
            at = self
                .act(at, Action::Step(agent))
                .map_err(|why| format!("step {} is impossible: {why}", index + 1))?;
        }
        for &(p, _) in stops.iter().filter(|stop| stop.1 == agents.len()) {
            at = self.act(at, Action::Stop(p))?;
        }
        Ok(at)
    }
}

/// Returns the processes that stop forever according to the finding of `schedule`. `agents` are the agents of all steps
/// of its run. The number beside a process counts the steps up to and including the last step of this process, or is 0
/// if it makes no step.
fn stops(schedule: &Schedule, agents: &[Agent]) -> Vec<(Pid, usize)> {
    let stopped: &[Pid] = match &schedule.finding {
        Finding::Played { stopped }
        | Finding::Deadlock { stopped }
        | Finding::Starvation { stopped, .. } => stopped,
        _ => &[],
    };
    let last = |p: Pid| agents.iter().rposition(|&agent| agent == p).map_or(0, |index| index + 1);
    stopped.iter().map(|&p| (p, last(p))).collect()
}
