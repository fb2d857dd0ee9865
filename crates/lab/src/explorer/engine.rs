//! The engine behind the page: JSON in, JSON out. It has no threads and no clock.
//!
//! A request is an object with the key `do`:
//!
//! | `do` | further keys | answer |
//! |---|---|---|
//! | `describe` | | the subject: figures, variables, promises |
//! | `start` | `initial`: for each variable, the index of its initial value | `node` |
//! | `open` | `replay` | `path`: the nodes of the run |
//! | `view`, `path` | `node` | the node, or all nodes from the root |
//! | `step` | `node`, `agent` | the node after the step |
//! | `stop` | `node`, `process` | the node after the process has stopped forever |
//! | `undo` | `node` | the parent |
//! | `ask` | `node`, `goal` | `text`, and `path`: the nodes of the way, which are added to the tree |
//! | `graph`, `go` | `node`, `state` | the drawing of states; the nodes of a way to one of them |
//! | `tree` | | all nodes, for an export |
//!
//! Goals are `exclusion`, `names`, `range`, the name of an invariant, `deadlock`, `starve-P`, `fife`, `rmr-cc-P` and
//! `rmr-dsm-P`.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::AtomicBool},
};

use hallpass_algorithms::Word;
use serde_json::{Value, json};

use super::{
    answers::{Answers, Goal, Way, flaw_name},
    ask,
    challenge::Challenge,
    chart::Chart,
    neighbours,
    session::{Action, NodeId, Session},
    subject::Subject,
};
use crate::{
    check::Resources,
    explore::Limits,
    graph::{Bound, shortest},
    schedule::{CostModel, MemoryModel},
    space::flaw,
    store::Id,
};

/// A subject that is played, with what the checker knows about it.
pub struct Engine {
    session: Session,
    chart: Option<Arc<Chart>>,
    answers: HashMap<u64, Arc<Answers>>,
    /// The sets of stopped processes for which a view needed answers that are not computed yet.
    wanted: Vec<u64>,
    /// Those of which the caller knows, and which it computes.
    taken: Vec<u64>,
    challenge: Option<Challenge>,
    best: Option<usize>,
}

/// The explored states, the answers for them, and the number of one state.
type Known = (Arc<Chart>, Arc<Answers>, Id);

/// The most states that an answer may explore besides those of the chart.
const MOST_ASKED: u64 = 3_000_000;

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

    /// Returns the session.
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

    /// Takes over a chart that was computed elsewhere, with its answers.
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

    /// Returns the chart and a set of stopped processes for which the caller is to compute answers. Returns each set
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
    fn known(&mut self, node: NodeId) -> Result<Option<Known>, String> {
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
    /// Fails if the request is not understood or not possible; the text says why. Nothing changes then.
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
            "tree" => self.tree(),
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
        let Some((chart, answers, id)) = self.known(node)? else {
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

    fn judge_challenge(&self, view: &mut Value) {
        if let Some(challenge) = &self.challenge {
            let solved = challenge.is_solved_by(view);
            view["challenge"] = json!({ "best": self.best, "solved": solved });
        }
    }

    /// Returns how far each violation is from the state `id`.
    fn goals(&self, chart: &Chart, answers: &Answers, id: Id) -> Vec<Value> {
        let subject = self.session.subject();
        let invariants = subject.machine().invariants();
        let crashes = subject.question().crashes as u32;
        let near = |name: String, title: String, goal: Goal, allowed: u32| {
            let near = answers.near(id, goal);
            json!({
                "goal": name,
                "title": title,
                "steps": near.map(|near| near.steps),
                "stopped": near.map(|near| near.stopped),
                "violates": near.is_some_and(|near| near.stopped <= allowed),
                "sure": chart.covers_all_runs || near.is_some(),
            })
        };
        let flaws = [flaw::EXCLUSION, flaw::NAMES, flaw::RANGE]
            .into_iter()
            .chain((0..invariants.len() as u32).map(|index| flaw::FIRST_INVARIANT + index));
        let mut goals: Vec<Value> = flaws
            .map(|bit| {
                let name = flaw_name(bit, invariants);
                let title = match name {
                    "exclusion" => format!("more than k = {} inside", subject.machine().k()),
                    "names" => "two holders of one slot".into(),
                    "range" => "a variable out of its range".into(),
                    name => format!("invariant {name} broken"),
                };
                near(name.into(), title, Goal::Flaw(bit), 0)
            })
            .collect();
        goals.push(near("deadlock".into(), "no process ever enters".into(), Goal::Deadlock, 0));
        for p in 0..chart.n {
            let title = format!("process {p} starves");
            goals.push(near(format!("starve-{p}"), title, Goal::Starve(p), crashes));
        }
        goals
    }

    fn path(&mut self, after: usize, node: NodeId) -> Result<Value, String> {
        let path = self.session.path(node)?;
        let views = path[after..].iter().map(|&id| self.view(id)).collect::<Result<Vec<_>, _>>()?;
        Ok(json!({ "path": views }))
    }

    /// Finds the goal of a name.
    fn goal(&self, name: &str) -> Option<Goal> {
        let invariants = self.session.subject().machine().invariants();
        if name == "deadlock" {
            return Some(Goal::Deadlock);
        }
        if let Some(p) = name.strip_prefix("starve-") {
            let p = p.parse().ok().filter(|&p| p < self.session.subject().machine().n())?;
            return Some(Goal::Starve(p));
        }
        let bits = (0..flaw::FIRST_INVARIANT + invariants.len() as u32)
            .filter(|bit| *bit <= flaw::RANGE || *bit >= flaw::FIRST_INVARIANT);
        bits.into_iter().find(|&bit| flaw_name(bit, invariants) == name).map(Goal::Flaw)
    }

    /// Returns the way from `node` to a goal, and one sentence about it; `None` if the goal cannot be reached.
    fn way(&mut self, node: NodeId, name: &str) -> Result<Option<(Way, String)>, String> {
        let Some((chart, answers, id)) = self.known(node)? else {
            return Err(match &self.chart {
                None => "the checker is still exploring this model; ask again in a moment".into(),
                Some(_) => "this state is not among those that the checker has explored, or its answers are not \
                            ready yet: ask again in a moment"
                    .to_string(),
            });
        };
        let moment = &self.session.node(node)?.moment;
        let stop = AtomicBool::new(false);
        let limits = Limits {
            states: MOST_ASKED,
            bytes: 2 << 30,
            threads: 1,
            stop: &stop,
            progress: &|_| (),
        };
        if name == "fife" {
            let way = ask::way_to_overtaking(&chart, &answers, moment, id, &limits);
            let text = "a process enters before one that came earlier, which then waits forever";
            return Ok(way.map(|way| (way, text.to_string())));
        }
        if let Some(rest) = name.strip_prefix("rmr-") {
            return self.expensive(&chart, &answers, (node, id), rest, &limits).map(Some);
        }
        let goal = self.goal(name).ok_or_else(|| format!("there is no goal `{name}`"))?;
        let text = match goal {
            Goal::Flaw(_) => format!("{name} is broken"),
            Goal::Deadlock => "this loop can repeat forever, and no process enters in it".into(),
            Goal::Starve(p) => {
                format!("this loop can repeat forever; process {p} moves in it and never enters")
            }
        };
        Ok(answers.way(&chart, id, goal).map(|way| (way, text)))
    }

    fn expensive(
        &self,
        chart: &Chart,
        answers: &Answers,
        (node, id): (NodeId, Id),
        rest: &str,
        limits: &Limits<'_>,
    ) -> Result<(Way, String), String> {
        let subject = self.session.subject();
        let unknown = || format!("there is no goal `rmr-{rest}`: use rmr-cc-P or rmr-dsm-P");
        let (model, p) = rest.split_once('-').ok_or_else(unknown)?;
        let model = match model {
            "cc" => CostModel::Cc,
            "dsm" => CostModel::Dsm,
            _ => return Err(unknown()),
        };
        let p = p.parse().ok().filter(|&p| p < chart.n).ok_or_else(unknown)?;
        if subject.memory() != MemoryModel::Sequential {
            return Err("remote references are counted only without store buffers".into());
        }
        let moment = &self.session.node(node)?.moment;
        let found = ask::most_expensive(subject, chart, answers, moment, (id, p, model), limits)?;
        let least = if found.exact { "" } else { "at least " };
        let text = match found.count {
            Bound::Most(count) => {
                format!(
                    "process {p} makes {least}{count} more remote references until its passage ends"
                )
            }
            Bound::Unbounded => {
                format!(
                    "process {p} makes remote references in every round of this loop: there is no bound"
                )
            }
        };
        Ok((found.way, text))
    }

    /// Plays the way to a goal into the tree.
    fn ask(&mut self, node: NodeId, name: &str) -> Result<Value, String> {
        let Some((way, text)) = self.way(node, name)? else {
            let sure = self.chart.as_ref().is_some_and(|chart| chart.covers_all_runs);
            let text = if sure {
                "No run from here gets there."
            } else {
                "No run from here gets there within the explored states, which are not all."
            };
            return Ok(json!({ "text": text, "path": [] }));
        };
        let before = self.session.path(node)?.len();
        let mut at = node;
        for &agent in way.steps.iter().chain(&way.cycle) {
            at = self.session.act(at, Action::Step(agent))?;
        }
        let mut answer = self.path(before, at)?;
        let steps = way.steps.len() + way.cycle.len();
        let plural = if steps == 1 { "" } else { "s" };
        answer["text"] = json!(format!("{steps} step{plural}: {text}."));
        answer["cycle"] = json!(way.cycle.len());
        Ok(answer)
    }

    fn graph(&mut self, node: NodeId) -> Result<Value, String> {
        let k = self.session.subject().machine().k();
        let drawing = match self.known(node)? {
            Some((chart, answers, id)) => neighbours::explored(&chart, &answers, Some(id), k),
            None => neighbours::played(&self.session, node)?,
        };
        serde_json::to_value(drawing).map_err(|error| error.to_string())
    }

    /// Plays a shortest way to an explored state into the tree.
    fn go(&mut self, node: NodeId, state: Id) -> Result<Value, String> {
        let Some((chart, answers, id)) = self.known(node)? else {
            return Err("the checker has not explored this model".into());
        };
        if u64::from(state) >= chart.states() {
            return Err(format!("there is no state {state}"));
        }
        let graph = chart.without(answers.stopped);
        let (steps, _) = shortest(&graph, id, |_| true, |other| other == state)
            .ok_or("no run from here leads to that state; go back to the start and try again")?;
        let before = self.session.path(node)?.len();
        let mut at = node;
        for agent in steps {
            at = self.session.act(at, Action::Step(agent))?;
        }
        self.path(before, at)
    }

    /// Returns all nodes of the tree.
    fn tree(&mut self) -> Result<Value, String> {
        const MOST: usize = 5_000;
        if self.session.len() > MOST {
            return Err(format!(
                "the tree has {} nodes, and an export has at most {MOST}: reload the page, open a link to the run \
                 and export that",
                self.session.len()
            ));
        }
        let nodes: Vec<NodeId> = (0..self.session.len() as NodeId).collect();
        let views = nodes.into_iter().map(|id| self.view(id)).collect::<Result<Vec<_>, _>>()?;
        Ok(Value::Array(views))
    }
}

fn number(request: &Value, key: &str) -> Result<u64, String> {
    let number = request[key].as_u64().filter(|&number| number <= u64::from(u32::MAX));
    number.ok_or_else(|| format!("`{key}` must be a number"))
}
