//! Judges one state of a run: which properties hold in it, and why.

use hallpass_algorithms::{Pid, Section};
use serde::Serialize;

use super::{
    loops::Loop,
    moment::Moment,
    session::{NodeId, Session},
};
use crate::{
    schedule::{Finding, Schedule},
    trace::{self, words},
};

/// Whether a property holds in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The property holds.
    Holds,
    /// The property is broken.
    Broken,
    /// The property was not evaluated.
    Unknown,
}

/// A property in a state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Fact {
    /// The name of the property or invariant.
    pub name: String,
    /// Whether it holds.
    pub status: Status,
    /// Whether the algorithm promises it.
    pub promised: bool,
    /// The reason, with the values that decide it; for an invariant, its meaning.
    pub why: String,
}

/// The judgement on a state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Judgement {
    /// The safety properties and invariants.
    pub facts: Vec<Fact>,
    /// Among the loops that end in this state and starve a process, the one with the fewest stopped
    /// processes.
    pub repeats: Option<Loop>,
}

impl Judgement {
    /// Returns the first broken property.
    pub fn broken(&self) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.status == Status::Broken)
    }
}

fn fact(name: &str, broken: bool, why: String) -> Fact {
    let status = if broken { Status::Broken } else { Status::Holds };
    Fact { name: name.into(), status, promised: true, why }
}

impl Session {
    /// Judges the state at `node`.
    ///
    /// # Errors
    /// Fails if there is no such node.
    pub fn judge(&self, node: NodeId) -> Result<Judgement, String> {
        let moment = &self.node(node)?.moment;
        let mut facts = vec![self.exclusion(moment)];
        facts.extend(self.names(moment));
        facts.push(match moment.snapshot.out_of_range() {
            Some(why) => fact("range", true, format!("{why}; from here on, nothing is defined")),
            None => fact("range", false, "every variable is within its declared range".into()),
        });
        let question = self.subject().question();
        for fact in &mut facts {
            fact.promised = question.promises(&fact.name);
        }
        // Invariants are always promised.
        facts.extend(self.invariants(moment));
        Ok(Judgement { facts, repeats: self.repeats(node)?.cloned() })
    }

    fn exclusion(&self, moment: &Moment) -> Fact {
        let k = self.subject().machine().k();
        let inside: Vec<Pid> = (0..moment.stands.len())
            .filter(|&p| moment.stands[p].section == Section::Critical)
            .collect();
        let why = match inside.len() {
            0 => format!("no process is in its critical section; k = {k} allows {k}"),
            1 => format!("process {} is in its critical section; k = {k} allows {k}", inside[0]),
            _ => format!(
                "processes {} are in their critical sections; k = {k} allows {k}",
                words::list(inside.iter().copied())
            ),
        };
        fact("exclusion", inside.len() > k, why)
    }

    fn names(&self, moment: &Moment) -> Option<Fact> {
        let held: Vec<(Pid, usize)> =
            (0..moment.stands.len()).filter_map(|p| Some((p, moment.stands[p].name?))).collect();
        let k = self.subject().machine().k();
        let clash = held.iter().enumerate().find_map(|(i, &(p, name))| {
            let other = held[..i].iter().find(|other| other.1 == name);
            match other {
                _ if name >= k => {
                    Some(format!("process {p} holds slot {name}, and slots are below k = {k}"))
                }
                Some((other, _)) => {
                    Some(format!("processes {other} and {p} both hold slot {name}"))
                }
                None => None,
            }
        });
        if held.is_empty() {
            return None;
        }
        let list: Vec<String> = held.iter().map(|(p, name)| format!("{p} holds {name}")).collect();
        Some(match clash {
            Some(why) => fact("names", true, why),
            None => fact("names", false, format!("the slots are different: {}", list.join(", "))),
        })
    }

    fn invariants(&self, moment: &Moment) -> Vec<Fact> {
        let machine = self.subject().machine();
        // After a variable has left its range, nothing is defined.
        let defined = moment.snapshot.out_of_range().is_none();
        let state = moment.snapshot.state();
        let broken =
            defined.then(|| machine.broken_invariant(&state.processes, &state.memory)).flatten();
        let mut after_broken = !defined;
        let says = |name: &str| {
            let all = self.subject().figures().iter().flat_map(|figure| &figure.invariants);
            all.into_iter().find(|text| text[0] == name).map_or("", |text| &text[1]).to_string()
        };
        let judged = machine.invariants().iter().map(|&name| {
            let status = match broken {
                _ if after_broken => Status::Unknown,
                Some(other) if other == name => Status::Broken,
                _ => Status::Holds,
            };
            after_broken |= status == Status::Broken;
            Fact { name: name.into(), status, promised: true, why: says(name) }
        });
        judged.collect()
    }

    /// Returns the replay string of the run to `node`. The finding in the string is the property that the run violates.
    ///
    /// # Errors
    /// Fails if there is no such node.
    pub fn replay(&self, node: NodeId) -> Result<String, String> {
        self.replay_of(node, &self.judge(node)?)
    }

    /// Returns the replay string of the run to `node`. `judgement` is the judgement on the state at
    /// `node`.
    pub(super) fn replay_of(&self, node: NodeId, judgement: &Judgement) -> Result<String, String> {
        let machine = self.subject().machine();
        let encode = |schedule: &Schedule| {
            trace::encode_on(&**machine, schedule).map_err(|error| error.to_string())
        };
        // If more than `crashes` processes have stopped, the algorithm may starve others, so the
        // loop shows no mistake.
        let crashes = self.subject().question().crashes;
        let starves = judgement.repeats.as_ref().filter(|loops| loops.stopped.len() <= crashes);
        if let Some(repeats) = starves {
            return encode(&self.schedule_of_loop(node, repeats)?);
        }
        let moment = &self.node(node)?.moment;
        let stopped: Vec<Pid> = (0..machine.n()).filter(|p| moment.stopped >> p & 1 == 1).collect();
        let finding = match judgement.broken() {
            Some(broken) if stopped.is_empty() => match broken.name.as_str() {
                "exclusion" => Finding::Exclusion,
                "names" => Finding::Names,
                "range" => Finding::Range,
                name => Finding::Invariant(name.to_string()),
            },
            _ => Finding::Played { stopped },
        };
        encode(&self.schedule(node, finding)?)
    }
}
