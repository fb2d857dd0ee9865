//! Questions about a state: how far each violation is, a way to it, the run that costs a process the most, the drawing
//! of the states. An answer that is a run becomes a branch in the [session](super::session)'s tree of played runs.

use std::sync::atomic::AtomicBool;

use hallpass_algorithms::Pid;
use serde_json::{Value, json};

use super::{
    answers::{Answers, Goal, Way, violation_name},
    ask,
    chart::Chart,
    engine::{Engine, Known},
    neighbours,
    session::{Action, NodeId},
};
use crate::{
    bypass,
    counted::counted,
    explore::Limits,
    graph::{Bound, shortest},
    schedule::{CostModel, MemoryModel},
    space::violation,
    store::Id,
};

/// The limit on the states that an answer explores in addition to those of the [chart](Chart), which the checker has
/// explored before.
const MOST_ASKED: u64 = 3_000_000;

impl Engine {
    /// Returns how far each violation is from the state `id`.
    pub(super) fn goals(&self, chart: &Chart, answers: &Answers, id: Id) -> Vec<Value> {
        let subject = self.session.subject();
        let invariants = subject.machine().invariants();
        let question = subject.question();
        let near = |name: String, title: String, goal: Goal| {
            let near = answers.near(id, goal);
            let (promised, allowed) = match goal {
                Goal::Safety(bit) if bit >= violation::FIRST_INVARIANT => (true, 0),
                Goal::Safety(_) => (question.promises(&name), 0),
                Goal::Deadlock => (question.promises("deadlock"), 0),
                Goal::Starve(_) => (question.promises("starvation"), question.crashes as u32),
            };
            let violates = promised && near.is_some_and(|near| near.stopped <= allowed);
            // The whole run counts: the way to the loop, and one round of it.
            let round = near.and_then(|_| answers.round(chart, id, goal));
            json!({
                "goal": name,
                "title": title,
                "steps": near.map(|near| near.steps as usize + round.unwrap_or(0)),
                "round": round,
                "stopped": near.map(|near| near.stopped),
                "violates": violates,
                "unpromised": near.is_some() && !violates,
                "sure": chart.covers_all_runs || near.is_some(),
            })
        };
        let violations = [violation::EXCLUSION, violation::NAMES, violation::RANGE]
            .into_iter()
            .chain((0..invariants.len() as u32).map(|index| violation::FIRST_INVARIANT + index));
        let mut goals: Vec<Value> = violations
            .map(|bit| {
                let name = violation_name(bit, invariants);
                let title = match name {
                    "exclusion" => {
                        format!("more than k = {} in the critical section", subject.machine().k())
                    }
                    "names" => "two holders of one slot".into(),
                    "range" => "a variable out of its range".into(),
                    name => format!("invariant {name} broken"),
                };
                near(name.into(), title, Goal::Safety(bit))
            })
            .collect();
        goals.push(near(
            "deadlock".into(),
            "no process ever enters its critical section".into(),
            Goal::Deadlock,
        ));
        for p in 0..chart.n {
            let title = format!("process {p} starves");
            goals.push(near(format!("starve-{p}"), title, Goal::Starve(p)));
        }
        goals
    }

    /// Returns the goal with this name, such as `deadlock` or the name of an invariant.
    fn goal(&self, name: &str) -> Option<Goal> {
        let invariants = self.session.subject().machine().invariants();
        if name == "deadlock" {
            return Some(Goal::Deadlock);
        }
        if let Some(p) = name.strip_prefix("starve-") {
            let p = p.parse().ok().filter(|&p| p < self.session.subject().machine().n())?;
            return Some(Goal::Starve(p));
        }
        let bits = (0..violation::FIRST_INVARIANT + invariants.len() as u32)
            .filter(|bit| *bit <= violation::RANGE || *bit >= violation::FIRST_INVARIANT);
        bits.into_iter().find(|&bit| violation_name(bit, invariants) == name).map(Goal::Safety)
    }

    /// Returns the way from `node` to a goal, and one sentence about it; `None` if the goal cannot be reached.
    pub(super) fn way(
        &mut self,
        node: NodeId,
        name: &str,
    ) -> Result<Option<(Way, String)>, String> {
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
            let way = ask::way_to_overtaking(&chart, &answers, moment, id, &limits)?;
            let text = "a process enters its critical section before one that came earlier, which then waits forever";
            return Ok(way.map(|way| (way, text.to_string())));
        }
        let known = (chart, answers, id);
        if let Some(rest) = name.strip_prefix("rmr-") {
            return self.expensive(&known, node, rest, &limits).map(Some);
        }
        if let Some(rest) = name.strip_prefix("bypass-") {
            return self.overtaken(&known, node, rest, &limits);
        }
        let (chart, answers, id) = known;
        let goal = self.goal(name).ok_or_else(|| format!("there is no goal `{name}`"))?;
        let text = match goal {
            Goal::Safety(_) => format!("{name} is broken"),
            Goal::Deadlock => {
                "this loop can repeat forever, and no process enters its critical section in it"
                    .into()
            }
            Goal::Starve(p) => {
                format!(
                    "this loop can repeat forever; process {p} takes steps in it and never enters its critical section"
                )
            }
        };
        Ok(answers.way(&chart, id, goal).map(|way| (way, text)))
    }

    /// Returns the run from `node` in which the process with the number `rest` is overtaken most often.
    fn overtaken(
        &self,
        (chart, answers, id): &Known,
        node: NodeId,
        rest: &str,
        limits: &Limits<'_>,
    ) -> Result<Option<(Way, String)>, String> {
        let unknown = || format!("there is no goal `bypass-{rest}`: use bypass-P");
        let p: Pid = rest.parse().ok().filter(|&p| p < chart.n).ok_or_else(unknown)?;
        if chart.n > bypass::MAX_PROCESSES {
            let most = bypass::MAX_PROCESSES;
            return Err(format!("overtaking is counted for at most {most} processes"));
        }
        let moment = &self.session.node(node)?.moment;
        let found = ask::most_overtaken(chart, answers, moment, (*id, p), limits);
        let least = if found.exact { "" } else { "at least " };
        let text = match found.count {
            Bound::Most(0) if !found.exact && chart.covers_all_runs => {
                return Err(ask::TOO_MANY.into());
            }
            Bound::Most(0) => return Ok(None),
            Bound::Most(count) => {
                let times = counted(count as usize, "time");
                format!("process {p} waits and is overtaken {least}{times}")
            }
            Bound::Unbounded => format!(
                "process {p} waits and is overtaken in every round of this loop: there is no bound"
            ),
        };
        Ok(Some((found.way, text)))
    }

    fn expensive(
        &self,
        (chart, answers, id): &Known,
        node: NodeId,
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
        let found = ask::most_expensive(subject, chart, answers, moment, (*id, p, model), limits)?;
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

    /// Plays the way to a goal. This adds its states to the tree of runs.
    pub(super) fn ask(&mut self, node: NodeId, name: &str) -> Result<Value, String> {
        let Some((way, text)) = self.way(node, name)? else {
            let sure = self.chart.as_ref().is_some_and(|chart| chart.covers_all_runs);
            let text = if sure {
                "No run from here gets there."
            } else {
                "No run from here gets there within the explored states, but not all states were explored."
            };
            return Ok(json!({ "text": text, "path": [] }));
        };
        let before = self.session.path(node)?.len();
        let mut at = node;
        for &agent in way.steps.iter().chain(&way.cycle) {
            at = self.session.act(at, Action::Step(agent))?;
        }
        let mut answer = self.path(before, at)?;
        let steps = counted(way.steps.len() + way.cycle.len(), "step");
        answer["text"] = json!(format!("{steps}: {text}."));
        answer["cycle"] = json!(way.cycle.len());
        Ok(answer)
    }

    pub(super) fn graph(&mut self, node: NodeId) -> Result<Value, String> {
        let k = self.session.subject().machine().k();
        let drawing = match self.known(node)? {
            Some((chart, answers, id)) => neighbours::explored(&chart, &answers, Some(id), k),
            None => neighbours::played(&self.session, node)?,
        };
        serde_json::to_value(drawing).map_err(|error| error.to_string())
    }

    /// Plays a shortest way to an explored state. This adds its states to the tree of runs.
    pub(super) fn go(&mut self, node: NodeId, state: Id) -> Result<Value, String> {
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
}
