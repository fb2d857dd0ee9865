//! The engine behind the page: JSON in, JSON out. It reads no clock, and no thread of it runs between two requests.
//!
//! The engine keeps the runs that were played in a tree. A *node* of the tree is a state with the run that leads to it,
//! and a *root* is an initial state.
//!
//! A request is an object with the key `do`:
//!
//! | `do` | further keys | answer |
//! |---|---|---|
//! | `describe` | | the subject: figures, variables, promises |
//! | `start` | `initial`: for each variable, the index of its initial value | the root with these values |
//! | `open` | `replay` | `path`: the nodes of the run |
//! | `view`, `path` | `node` | the node, or all nodes from the root |
//! | `step` | `node`, `agent` | the node after the step |
//! | `stop` | `node`, `process` | the node after the process has stopped forever |
//! | `undo` | `node` | the parent |
//! | `ask` | `node`, `goal` | `text`, and `path`: the nodes of a run to the goal, which are added to the tree |
//! | `graph` | `node` | a drawing of the states: all of a small model, or those near the node |
//! | `go` | `node`, `state`: the `id` of a state in the drawing | `path`: the nodes of a run to this state |
//! | `tree` | `node` | the nodes of an exported file that opens at `node` |
//!
//! Goals are `exclusion`, `names`, `range`, the name of an invariant, `deadlock`, `starve-P`, `fife`, `bypass-P`,
//! `rmr-cc-P` and `rmr-dsm-P`.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use hallpass_algorithms::Word;
use serde_json::{Value, json};

use super::{
    answers::Answers,
    ask,
    challenge::Challenge,
    chart::Chart,
    session::{Action, NodeId, Session},
    subject::Subject,
};
use crate::{check::Resources, store::Id};

/// A subject that is played, with what the checker knows about it.
pub struct Engine {
    pub(super) session: Session,
    pub(super) chart: Option<Arc<Chart>>,
    answers: HashMap<u64, Arc<Answers>>,
    /// The sets of stopped processes for which a view needed answers that are not computed yet.
    wanted: Vec<u64>,
    /// The sets that [`wants`](Engine::wants) has returned, and whose answers the caller computes.
    taken: Vec<u64>,
    challenge: Option<Challenge>,
    best: Option<usize>,
}

/// The explored states, the answers for them, and the number of one state.
pub(super) type Known = (Arc<Chart>, Arc<Answers>, Id);

impl Engine {
    /// Creates an engine whose tree has one initial state.
    pub fn new(subject: Subject) -> Self {
        let challenge = Challenge::of(&subject);
        Engine {
            session: Session::new(subject),
            chart: None,
            answers: HashMap::new(),
            wanted: Vec::new(),
            taken: Vec::new(),
            challenge,
            best: None,
        }
    }

    /// Returns the session: the subject and the tree of played states.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the session, to play in it.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Explores the subject and computes the answers for runs in which no process has stopped.
    ///
    /// # Errors
    /// Fails if the subject is too large.
    pub fn explore(&mut self, resources: &Resources<'_>) -> Result<(), String> {
        let chart = Arc::new(Chart::new(self.session.subject(), resources)?);
        let answers = Arc::new(Answers::new(&chart, 0, &|phase| (resources.phase)(phase)));
        self.learn(chart, answers);
        Ok(())
    }

    /// Takes over a chart that was computed elsewhere, with its answers for runs in which no process has stopped.
    pub fn learn(&mut self, chart: Arc<Chart>, answers: Arc<Answers>) {
        if let Some(challenge) = &self.challenge {
            let crashes = self.session.subject().question().crashes;
            self.best = challenge.best(&chart, &answers, crashes);
        }
        self.chart = Some(chart);
        self.learn_more(answers);
        if self.challenge.as_ref().is_some_and(|challenge| challenge.property == "fife") {
            let way = self.way(0, "fife").ok().flatten();
            self.best = way.and_then(|(way, _)| way.shown_after);
        }
    }

    /// Takes over the answers for another set of stopped processes.
    pub fn learn_more(&mut self, answers: Arc<Answers>) {
        for sets in [&mut self.wanted, &mut self.taken] {
            sets.retain(|&stopped| stopped != answers.stopped);
        }
        self.answers.insert(answers.stopped, answers);
    }

    /// Returns the chart and a set of stopped processes for which the caller should compute answers. Returns each set
    /// once.
    pub fn wants(&mut self) -> Option<(Arc<Chart>, u64)> {
        let chart = self.chart.clone()?;
        let stopped = self.wanted.pop()?;
        self.taken.push(stopped);
        Some((chart, stopped))
    }

    /// Returns whether answers are still to be computed.
    pub fn is_waiting(&self) -> bool {
        !self.wanted.is_empty() || !self.taken.is_empty()
    }

    /// Computes the answers for every set of stopped processes in the tree.
    pub fn settle(&mut self) {
        let Some(chart) = self.chart.clone() else { return };
        for stopped in self.session.stopped_sets() {
            if !self.answers.contains_key(&stopped) {
                self.learn_more(Arc::new(Answers::new(&chart, stopped, &|_| ())));
            }
        }
    }

    /// Returns the checker's answers for the state of a node, if it has them.
    pub(super) fn known(&mut self, node: NodeId) -> Result<Option<Known>, String> {
        let Some(chart) = self.chart.clone() else { return Ok(None) };
        let stopped = self.session.node(node)?.moment.stopped;
        let Some(answers) = self.answers.get(&stopped).cloned() else {
            if !self.wanted.contains(&stopped) && !self.taken.contains(&stopped) {
                self.wanted.push(stopped);
            }
            return Ok(None);
        };
        let id = chart.find(&self.session.normal_state(node)?);
        Ok(id.map(|id| (chart, answers, id)))
    }

    /// Answers a request.
    ///
    /// # Errors
    /// Fails if the request is not understood or not possible; the text says why. Nodes that the request has added
    /// before the error stay in the tree.
    pub fn handle(&mut self, request: &Value) -> Result<Value, String> {
        let node = || number(request, "node").map(|node| node as NodeId);
        match request["do"].as_str().unwrap_or_default() {
            "describe" => {
                let mut about = self.session.subject().to_json();
                about["challenge"] = json!(self.challenge.as_ref().map(Challenge::to_json));
                Ok(about)
            }
            "start" => {
                let initial = self.initial(&request["initial"])?;
                let node = self.session.start(&initial)?;
                self.view(node)
            }
            "open" => {
                let replay =
                    request["replay"].as_str().ok_or("`replay` must be a replay string")?;
                let node = self.session.open(replay)?;
                self.path(0, node)
            }
            "view" => self.view(node()?),
            "path" => self.path(0, node()?),
            "step" => {
                let action = Action::Step(number(request, "agent")? as usize);
                let next = self.session.act(node()?, action)?;
                self.view(next)
            }
            "stop" => {
                let action = Action::Stop(number(request, "process")? as usize);
                let next = self.session.act(node()?, action)?;
                self.view(next)
            }
            "undo" => {
                let parent = self.session.undo(node()?)?;
                self.view(parent.ok_or("this is the initial state: there is nothing to undo")?)
            }
            "ask" => {
                let goal = request["goal"].as_str().ok_or("`goal` must be the name of a goal")?;
                self.ask(node()?, goal)
            }
            "graph" => self.graph(node()?),
            "go" => self.go(node()?, number(request, "state")? as Id),
            "tree" => self.tree(node()?),
            other => Err(format!("there is no request `{other}`")),
        }
    }

    fn initial(&self, indices: &Value) -> Result<Vec<Word>, String> {
        let decls = self.session.subject().machine().layout().decls();
        let indices = indices.as_array().ok_or("`initial` must be an array of indices")?;
        if indices.len() != decls.len() {
            return Err(format!("`initial` must have {} indices", decls.len()));
        }
        let value = |(decl, index): (&hallpass_algorithms::Decl, &Value)| {
            let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
            let value = index.and_then(|index| decl.initial().get(index));
            value.copied().ok_or_else(|| format!("{} has no such initial value", decl.name))
        };
        decls.iter().zip(indices).map(value).collect()
    }

    /// Returns the view of a node, with the checker's answers.
    fn view(&mut self, node: NodeId) -> Result<Value, String> {
        let mut view = self.session.view(node)?;
        let known = self.known(node)?;
        self.add_waits(&mut view, node, known.as_ref())?;
        let Some((chart, answers, id)) = known else {
            self.judge_challenge(&mut view);
            return Ok(view);
        };
        let sure = chart.covers_all_runs;
        for (p, process) in view["processes"].as_array_mut().into_iter().flatten().enumerate() {
            let trying = matches!(process["section"].as_str(), Some("doorway" | "waiting"));
            let kept_out = answers.can_be_kept_out(id, p);
            process["enabled"] = match (trying, kept_out) {
                (true, true) => json!(false),
                (true, false) if sure => json!(true),
                _ => Value::Null,
            };
        }
        view["state"] = json!(id);
        view["goals"] = Value::Array(self.goals(&chart, &answers, id));
        let moment = &self.session.node(node)?.moment;
        view["overtaken"] = json!(ask::overtaken(moment, &answers, id));
        self.judge_challenge(&mut view);
        Ok(view)
    }

    /// Adds what each process waits for, and which processes can still end its wait.
    fn add_waits(
        &mut self,
        view: &mut Value,
        node: NodeId,
        known: Option<&Known>,
    ) -> Result<(), String> {
        let n = self.session.subject().machine().n();
        let waits = (0..n).map(|p| self.session.wait(node, p)).collect::<Result<Vec<_>, _>>()?;
        let moment = &self.session.node(node)?.moment;
        for (p, wait) in waits.iter().enumerate() {
            let Some(wait) = wait else { continue };
            let ends = known.and_then(|(chart, answers, id)| {
                wait.who_ends(chart, answers, *id, moment, &waits)
            });
            let sentences: Vec<String> = std::iter::once(wait.sentence()).chain(ends).collect();
            view["processes"][p]["waits"] = wait.to_json(sentences.join(" "));
        }
        Ok(())
    }

    fn judge_challenge(&self, view: &mut Value) {
        if let Some(challenge) = &self.challenge {
            let solved = challenge.is_solved_by(view);
            view["challenge"] = json!({ "best": self.best, "solved": solved });
        }
    }

    pub(super) fn path(&mut self, after: usize, node: NodeId) -> Result<Value, String> {
        let path = self.session.path(node)?;
        let views = path[after..].iter().map(|&id| self.view(id)).collect::<Result<Vec<_>, _>>()?;
        Ok(json!({ "path": views }))
    }

    /// Returns the nodes of the tree for a file that opens at `node`. If there are too many, returns only the nodes of
    /// the run to `node`.
    pub(super) fn tree(&mut self, node: NodeId) -> Result<Value, String> {
        const MOST: usize = 5_000;
        self.session.node(node)?;
        let nodes: Vec<NodeId> = if self.session.len() <= MOST {
            (0..self.session.len() as NodeId).collect()
        } else {
            self.session.path(node)?
        };
        if nodes.len() > MOST {
            return Err(format!(
                "the run has {} steps, and a file has at most {MOST} states, including the initial one: go back and \
                 export a shorter run",
                nodes.len() - 1
            ));
        }
        let exported: HashSet<NodeId> = nodes.iter().copied().collect();
        let views = nodes.iter().map(|&id| {
            let mut view = self.view(id)?;
            let children = &self.session.node(id)?.children;
            let kept: Vec<NodeId> =
                children.iter().copied().filter(|child| exported.contains(child)).collect();
            // The replay string of the last node of a branch contains the run to every earlier node.
            if !kept.is_empty() && id != node {
                view["replay"] = Value::Null;
            }
            view["children"] = json!(kept);
            Ok(view)
        });
        views.collect::<Result<Vec<_>, String>>().map(Value::Array)
    }
}

fn number(request: &Value, key: &str) -> Result<u64, String> {
    let number = request[key].as_u64().filter(|&number| number <= u64::from(u32::MAX));
    number.ok_or_else(|| format!("`{key}` must be a number"))
}
