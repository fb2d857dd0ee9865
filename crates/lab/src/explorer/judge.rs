//! Judges one state of a run: which properties hold in it, and why the others do not.

use hallpass_algorithms::{Pid, Section};
use serde::Serialize;

use super::session::{Action, Moment, NodeId, Session};
use crate::{
    schedule::{Finding, Schedule},
    space::Agent,
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
    /// The reason, with the values that decide it.
    pub why: String,
}

/// A loop that the run has closed: the state is the same as earlier, so the steps since then can repeat forever.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Loop {
    /// The node where it begins.
    pub from: NodeId,
    /// The number of its steps.
    pub steps: usize,
    /// The processes that keep moving in it and never enter.
    pub victims: Vec<Pid>,
    /// The processes outside their remainders that make no step in it.
    pub stopped: Vec<Pid>,
    /// Whether no process enters in it.
    pub deadlock: bool,
    /// Whether the algorithm promises that this does not happen.
    pub violates: bool,
    /// One sentence about it.
    pub why: String,
}

/// The judgement on a state.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Judgement {
    /// The safety properties and invariants.
    pub facts: Vec<Fact>,
    /// The loop with the fewest stopped processes that ends here and starves a process.
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
    Fact { name: name.into(), status, why }
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
            Some(name) => fact(
                "range",
                true,
                format!("{name} is outside its declared range; nothing is defined now"),
            ),
            None => fact("range", false, "every variable is within its declared range".into()),
        });
        facts.extend(self.invariants(moment));
        Ok(Judgement { facts, repeats: self.repeats(node)? })
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
        // Out of range, nothing is defined.
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
            Fact { name: name.into(), status, why: says(name) }
        });
        judged.collect()
    }

    /// Returns the loop with the fewest stopped processes that ends at `node` and starves a process.
    fn repeats(&self, node: NodeId) -> Result<Option<Loop>, String> {
        // A process that waits for long passes the same state many times; the nearest ones are enough.
        const NEAREST: usize = 64;
        let before = self.same_before(node)?.into_iter().take(NEAREST);
        let loops =
            before.map(|from| self.closed_loop(from, node)).collect::<Result<Vec<_>, _>>()?;
        let mut loops: Vec<(Loop, Schedule)> = loops.into_iter().flatten().collect();
        loops.sort_by_key(|(found, _)| (found.stopped.len(), found.steps));
        let machine = self.subject().machine();
        // A loop that leaves a store in its buffer forever, for example, is not confirmed.
        let confirmed =
            loops.into_iter().find(|(_, run)| trace::confirm_on(machine.clone(), run).is_ok());
        Ok(confirmed.map(|(found, _)| found))
    }

    fn closed_loop(&self, from: NodeId, to: NodeId) -> Result<Option<(Loop, Schedule)>, String> {
        let path = self.path(to)?;
        let begin = path.iter().position(|&id| id == from).unwrap_or(0);
        let mut cycle: Vec<Agent> = Vec::new();
        let n = self.subject().machine().n();
        let mut in_entry = vec![true; n];
        let mut enters = false;
        let mut at = self.node(from)?;
        for &id in &path[begin..] {
            let node = self.node(id)?;
            for (p, in_entry) in in_entry.iter_mut().enumerate() {
                *in_entry &= node.moment.stands[p].section.is_entry();
                let inside = |stand: &trace::Stand| stand.section == Section::Critical;
                enters |= inside(&node.moment.stands[p]) && !inside(&at.moment.stands[p]);
            }
            if let (Some(Action::Step(agent)), true) = (node.action, id != from) {
                cycle.push(agent);
            }
            at = node;
        }
        let victims: Vec<Pid> = (0..n).filter(|&p| in_entry[p] && cycle.contains(&p)).collect();
        let outside = |p: Pid| at.moment.stands[p].section != Section::Remainder;
        let stopped: Vec<Pid> = (0..n).filter(|&p| outside(p) && !cycle.contains(&p)).collect();
        let Some(&victim) = victims.first() else { return Ok(None) };
        let stem = self.run(from)?.1;
        let schedule = Schedule {
            stem,
            cycle: cycle.clone(),
            ..self.schedule(to, Finding::Starvation { victim, stopped: stopped.clone() })?
        };
        let violates = stopped.len() <= self.subject().question().crashes;
        let why = words::describe(&schedule);
        let deadlock = !enters;
        let found = Loop { from, steps: cycle.len(), victims, stopped, deadlock, violates, why };
        Ok(Some((found, schedule)))
    }

    /// Returns the replay string of the run to `node`, with what it shows as its finding.
    ///
    /// # Errors
    /// Fails if there is no such node.
    pub fn replay(&self, node: NodeId) -> Result<String, String> {
        let judgement = self.judge(node)?;
        let machine = self.subject().machine();
        let encode = |schedule: &Schedule| {
            trace::encode_on(&**machine, schedule).map_err(|error| error.to_string())
        };
        if let Some(repeats) = judgement.repeats.as_ref().filter(|repeats| repeats.violates) {
            let Loop { from, ref victims, ref stopped, .. } = *repeats;
            let finding = Finding::Starvation { victim: victims[0], stopped: stopped.clone() };
            let whole = self.schedule(node, finding)?;
            let (stem, cycle) = whole.stem.split_at(self.run(from)?.1.len());
            return encode(&Schedule {
                stem: stem.to_vec(),
                cycle: cycle.to_vec(),
                ..whole.clone()
            });
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
