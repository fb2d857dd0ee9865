//! The tree of all runs that were played: start, choices, step, undo.
//!
//! A node is a state with the run that leads to it. Nodes are only ever added, so a node's number stays valid, and
//! two pages may play in the same tree. Undo goes to the parent, and the node that it leaves stays in the tree as a
//! branch.

use hallpass_algorithms::{Pid, Word};

use super::{
    moment::{Moment, Node, ahead, hash},
    subject::Subject,
};
use crate::{
    space::Agent,
    trace::{Event, Interpreter, RunState, Snapshot, Stand, Step},
};

/// The number of a node.
pub type NodeId = u32;

/// The largest number of nodes.
pub const MOST_NODES: usize = 200_000;

/// The action that leads from the parent of a node to the node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// The agent makes a step.
    Step(Agent),
    /// The process stops forever.
    Stop(Pid),
}

/// An algorithm and the tree of its runs.
pub struct Session {
    subject: Subject,
    interpreter: Interpreter,
    pub(super) nodes: Vec<Node>,
}

/// The step that an agent would take.
pub struct Choice {
    /// The agent that would take the step.
    pub agent: Agent,
    /// The step, or why it is impossible.
    pub step: Result<Step, String>,
}

impl Session {
    /// Starts a session with the first initial state as its node 0.
    pub fn new(subject: Subject) -> Self {
        let initial = subject.machine().layout().first_initial();
        let interpreter = subject.interpreter(initial.clone());
        let mut session = Session { subject, interpreter, nodes: Vec::new() };
        session.root(initial);
        session
    }

    /// Returns the algorithm that is played.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Returns the sets of stopped processes that occur in the tree.
    pub(super) fn stopped_sets(&self) -> Vec<u64> {
        let mut sets: Vec<u64> = self.nodes.iter().map(|node| node.moment.stopped).collect();
        sets.sort_unstable();
        sets.dedup();
        sets
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there are no nodes, which never happens.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(super) fn node(&self, node: NodeId) -> Result<&Node, String> {
        self.nodes.get(node as usize).ok_or_else(|| {
            format!("there is no node {node}: the program has been restarted; reload the page")
        })
    }

    pub(super) fn interpreter_mut(&mut self) -> &mut Interpreter {
        &mut self.interpreter
    }

    fn root(&mut self, initial: Vec<Word>) -> NodeId {
        let n = self.subject.machine().n();
        self.interpreter = self.subject.interpreter(initial);
        let moment = Moment {
            snapshot: self.interpreter.snapshot(),
            stopped: 0,
            counts: vec![[0; 2]; n],
            ahead: vec![0; n],
            stands: (0..n).map(|p| self.interpreter.stand(p)).collect(),
            normal: self.interpreter.state().clone(),
            hash: hash(self.interpreter.state()),
        };
        self.add(Node::new(None, None, moment, 0))
    }

    fn add(&mut self, node: Node) -> NodeId {
        let id = self.nodes.len() as NodeId;
        if let Some(parent) = node.parent {
            self.nodes[parent as usize].children.push(id);
        }
        self.nodes.push(node);
        id
    }

    /// Returns the root with these initial values. Adds it if it is new.
    ///
    /// # Errors
    /// Fails if a variable cannot start with its value.
    pub fn start(&mut self, initial: &[Word]) -> Result<NodeId, String> {
        let decls = self.subject.machine().layout().decls();
        if initial.len() != decls.len() {
            let (given, needed) = (initial.len(), decls.len());
            return Err(format!(
                "{given} initial values are given, and there are {needed} variables"
            ));
        }
        for (decl, value) in decls.iter().zip(initial) {
            if !decl.initial().contains(value) {
                return Err(format!("{} cannot start with {value}", decl.name));
            }
        }
        let is_it =
            |node: &Node| node.parent.is_none() && node.moment.snapshot.state().memory == initial;
        match self.nodes.iter().position(is_it) {
            Some(found) => Ok(found as NodeId),
            None if self.nodes.len() >= MOST_NODES => Err(full()),
            None => Ok(self.root(initial.to_vec())),
        }
    }

    /// Returns what every agent would do from `node`.
    ///
    /// # Errors
    /// Fails if there is no such node.
    pub fn choices(&mut self, node: NodeId) -> Result<Vec<Choice>, String> {
        let agents = self.subject.agents();
        (0..agents).map(|agent| Ok(Choice { agent, step: self.attempt(node, agent)? })).collect()
    }

    /// Executes a step from `node`. Leaves the interpreter in the state after the step. The outer error means that
    /// there is no such node, and the inner error that the step is impossible.
    fn attempt(&mut self, node: NodeId, agent: Agent) -> Result<Result<Step, String>, String> {
        let (snapshot, stopped) = {
            let moment = &self.node(node)?.moment;
            (moment.snapshot.clone(), moment.stopped)
        };
        if agent < self.subject.machine().n() && stopped >> agent & 1 == 1 {
            return Ok(Err(format!("process {agent} has stopped forever")));
        }
        self.interpreter.restore(&snapshot);
        Ok(self.interpreter.step(agent))
    }

    /// Does `action` at `node` and returns the node that it leads to.
    ///
    /// # Errors
    /// Fails if the action is impossible, or the tree is full; then nothing changes.
    pub fn act(&mut self, node: NodeId, action: Action) -> Result<NodeId, String> {
        let children = &self.node(node)?.children;
        let same = |&&child: &&NodeId| self.nodes[child as usize].action == Some(action);
        if let Some(&child) = children.iter().find(same) {
            return Ok(child);
        }
        if self.nodes.len() >= MOST_NODES {
            return Err(full());
        }
        match action {
            Action::Step(agent) => self.step(node, agent),
            Action::Stop(p) => self.stop(node, p),
        }
    }

    fn step(&mut self, node: NodeId, agent: Agent) -> Result<NodeId, String> {
        if agent >= self.subject.agents() {
            return Err(format!("there is no agent {agent}"));
        }
        let step = self.attempt(node, agent)??;
        let stands: Vec<Stand> =
            (0..self.subject.machine().n()).map(|p| self.interpreter.stand(p)).collect();
        let before = &self.node(node)?.moment;
        let mut counts = before.counts.clone();
        let count = &mut counts[step.process];
        if step.events.contains(&Event::LeavesRemainder) {
            *count = [0; 2];
        }
        *count = [count[0] + u32::from(step.miss), count[1] + u32::from(step.remote)];
        let (ahead, stopped) = (ahead(before, &stands), before.stopped);
        let from = before.snapshot.with_state(before.normal.clone());
        let snapshot = self.interpreter.snapshot();
        let normal = self.normal_after(&from, agent, &snapshot);
        let hash = hash(&normal);
        let moment = Moment { snapshot, stopped, counts, ahead, stands, normal, hash };
        let steps = self.node(node)?.steps + 1;
        let from = Some((node, Action::Step(agent)));
        Ok(self.add(Node::new(from, Some(step), moment, steps)))
    }

    /// Returns the state after a step of `agent` from the normal form `from`, in its normal form. `actual` is the state
    /// after the same step without normal forms.
    fn normal_after(&mut self, from: &Snapshot, agent: Agent, actual: &Snapshot) -> RunState {
        if !self.subject.machine().is_unbounded() {
            return actual.state().clone();
        }
        self.interpreter.restore(from);
        let Ok(step) = self.interpreter.step(agent) else {
            return self.interpreter.normal(actual.state());
        };
        let (to, machine) = (self.interpreter.state(), self.subject.machine());
        // As in the checker, a new normal form is computed only if the step may have left the normal form (see
        // `Machine::counts`). The initial state is not brought into normal form.
        let counts = |state: &RunState| machine.counts(state.processes[step.process]);
        if counts(from.state()) || counts(to) { self.interpreter.normal(to) } else { to.clone() }
    }

    fn stop(&mut self, node: NodeId, p: Pid) -> Result<NodeId, String> {
        let from = self.node(node)?;
        if p >= self.subject.machine().n() {
            return Err(format!("there is no process {p}"));
        }
        if from.moment.stopped >> p & 1 == 1 {
            return Err(format!("process {p} has stopped already"));
        }
        let moment = Moment { stopped: from.moment.stopped | 1 << p, ..from.moment.clone() };
        let steps = from.steps;
        Ok(self.add(Node::new(Some((node, Action::Stop(p))), None, moment, steps)))
    }

    /// Returns the node before `node`; `None` at a root.
    ///
    /// # Errors
    /// Fails if there is no such node.
    pub fn undo(&self, node: NodeId) -> Result<Option<NodeId>, String> {
        Ok(self.node(node)?.parent)
    }

    /// Returns the nodes from the root to `node`.
    ///
    /// # Errors
    /// Fails if there is no such node.
    pub fn path(&self, node: NodeId) -> Result<Vec<NodeId>, String> {
        self.node(node)?;
        let mut path = vec![node];
        while let Some(parent) = self.nodes[path[path.len() - 1] as usize].parent {
            path.push(parent);
        }
        path.reverse();
        Ok(path)
    }

    /// Returns the state at `node`.
    ///
    /// # Errors
    /// Fails if there is no such node.
    pub fn state(&self, node: NodeId) -> Result<&RunState, String> {
        Ok(self.node(node)?.moment.snapshot.state())
    }

    /// Returns the state that the checker has in place of the state at `node`: a
    /// [normal form](hallpass_algorithms::Algorithm::normalize), except at the start and after the first lines of an
    /// algorithm that does not count them.
    ///
    /// # Errors
    /// Fails if there is no such node.
    pub fn normal_state(&self, node: NodeId) -> Result<RunState, String> {
        Ok(self.node(node)?.moment.normal.clone())
    }
}

fn full() -> String {
    format!(
        "the tree has {MOST_NODES} nodes, which is the maximum: copy the replay string of this run from \
         the address, and start `hallpass-lab explore` with it"
    )
}
