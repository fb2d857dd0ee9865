//! The reports of the checker.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::{
    catalogue::author, counted::counted, explore::Ended, graph::Bound, schedule::Schedule,
};

use super::{Property, Question};

/// The answer about one property.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The property holds in every run of this size.
    Holds,
    /// The property is violated. A run shows it, unless a limit prevents finding one.
    Violated,
    /// The property is undecided, because the exploration or its analysis was incomplete.
    Partial,
    /// The property was not checked.
    NotChecked,
}

/// The result for one property.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// The smallest number of stopped processes that can starve another process or, for deadlock, block all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resilience: Option<usize>,
    /// The bound that was found, in steps or overtakings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// A remark on the verdict, such as the broken invariant or the reason for a partial result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The run that shows the result. In JSON, it is a replay string.
    #[serde(rename = "replay", skip_serializing_if = "Option::is_none", serialize_with = "replay")]
    pub run: Option<Schedule>,
}

fn replay<S: Serializer>(run: &Option<Schedule>, serializer: S) -> Result<S::Ok, S::Error> {
    run.as_ref().and_then(|run| crate::trace::encode(run).ok()).serialize(serializer)
}

impl Outcome {
    pub(super) fn new(verdict: Verdict) -> Self {
        Outcome { verdict, resilience: None, bound: None, note: None, run: None }
    }

    pub(super) fn violated(run: Schedule) -> Self {
        Outcome { run: Some(run), ..Outcome::new(Verdict::Violated) }
    }

    pub(super) fn noting(self, note: impl Into<String>) -> Self {
        Outcome { note: Some(note.into()), ..self }
    }
}

/// The results for an algorithm at one size.
#[derive(Clone, Debug)]
pub struct Report {
    /// The question that this report answers.
    pub question: Question,
    /// The reason why the exploration ended.
    pub ended: Ended,
    /// The number of states found.
    pub states: u64,
    /// The number of steps between the states.
    pub transitions: u64,
    /// The number of levels of the breadth-first search.
    pub depth: u32,
    /// The duration of the check in seconds.
    pub seconds: f64,
    /// The duration of the exploration in seconds.
    pub explore_seconds: f64,
    /// The maximum number of bytes per state during the exploration.
    pub bytes_per_state: f64,
    /// The number of bits of a packed state.
    pub state_bits: u32,
    /// The number of initial states.
    pub initial_states: u64,
    /// The limit that the check sets on the stores in a buffer. `None` if the algorithm itself bounds them.
    pub buffer_capacity: Option<usize>,
    /// The answers.
    pub properties: BTreeMap<&'static str, Outcome>,
}

impl Report {
    /// Returns the result for a property.
    pub fn outcome(&self, property: Property) -> &Outcome {
        &self.properties[property.name()]
    }

    /// Returns whether no limit of the search was reached and no store buffer was ever full. Numbers can still have
    /// outgrown their range: see [`Report::covers_all_runs`].
    pub fn is_complete(&self) -> bool {
        self.ended == Ended::Complete && self.buffer_capacity.is_none()
    }

    /// Returns whether every run was explored: the search [is complete](Report::is_complete), and no outcome is
    /// partial. An outcome is partial, for example, if numbers grow without bound.
    pub fn covers_all_runs(&self) -> bool {
        let is_partial = |outcome: &Outcome| outcome.verdict == Verdict::Partial;
        self.is_complete() && !self.properties.values().any(is_partial)
    }

    /// Returns the verdict on all promised properties: *violated* if one of them is violated; otherwise *partial*
    /// if one of them is partial or was left out, or if the exploration was incomplete; otherwise *holds*.
    pub fn verdict(&self) -> Verdict {
        let has = |verdict| {
            self.properties
                .iter()
                .any(|(name, outcome)| outcome.verdict == verdict && self.is_promised(name))
        };
        if has(Verdict::Violated) {
            Verdict::Violated
        } else if has(Verdict::Partial) || !self.is_complete() || !self.question.left_out.is_empty()
        {
            Verdict::Partial
        } else {
            Verdict::Holds
        }
    }

    /// Returns whether the algorithm promises the property with this name. Every algorithm promises
    /// `range`, which a question cannot ask for.
    pub fn is_promised(&self, name: &str) -> bool {
        self.question.promises(name)
    }

    /// Returns the promised properties that were not checked and the options to leave out, such as "deadlock, exit:
    /// leave out --symmetry". Returns `None` if every promised property was checked.
    pub fn not_checked(&self) -> Option<String> {
        let left_out = &self.question.left_out;
        if left_out.is_empty() {
            return None;
        }
        let names: Vec<_> = left_out.iter().map(|property| property.name()).collect();
        let mut options: Vec<_> =
            left_out.iter().flat_map(|&property| self.question.options_against(property)).collect();
        options.sort_unstable();
        options.dedup();
        Some(format!("{}: leave out {}", names.join(", "), options.join(" and ")))
    }

    /// Returns the memory used per state, unless the model is so small that memory reserved in advance dominates it.
    pub fn typical_bytes_per_state(&self) -> Option<f64> {
        const SMALL: u64 = 100_000;
        (self.states >= SMALL).then_some(self.bytes_per_state)
    }

    /// Returns the assumptions of the checked properties about fairness and stopped processes.
    fn liveness_limits(&self) -> Vec<String> {
        let asked = |property| self.question.properties.contains(&property);
        let mut limits = Vec::new();
        let fair = [
            Property::Deadlock,
            Property::Starvation,
            Property::Fife,
            Property::FifeStrong,
            Property::Bypass,
        ];
        if fair.into_iter().any(asked) {
            limits.push(
                "liveness: weak fairness per process; a process may stay in its remainder forever; a \
                 process that has not stopped leaves its critical section"
                    .into(),
            );
        }
        let starvation = asked(Property::Starvation).then(|| {
            let stopped = counted(self.question.crashes, "process");
            format!("starvation: with at most {stopped} stopped outside the remainder")
        });
        let deadlock = asked(Property::Deadlock).then(|| match starvation {
            Some(_) => "deadlock: with none".to_string(),
            None => "deadlock: with no process stopped outside the remainder".to_string(),
        });
        let parts: Vec<String> = starvation.into_iter().chain(deadlock).collect();
        if !parts.is_empty() {
            limits.push(parts.join("; "));
        }
        limits
    }

    /// Returns sentences that state the scope of the verdicts.
    pub fn limits(&self) -> Vec<String> {
        use crate::{schedule::MemoryModel, space::Initial};
        let question = &self.question;
        let mut limits = vec![format!(
            "n = {}, k = {}, at most {} outside the remainder at once; other sizes are not covered",
            question.n, question.k, question.contention
        )];
        limits.push(match question.memory {
            MemoryModel::Sequential => {
                "memory is sequentially consistent, one shared access per step".into()
            }
            MemoryModel::StoreBuffers => {
                "stores go through a first-in-first-out buffer per process (TSO); a read-modify-write \
                 waits until its process's buffer is empty; every store reaches memory eventually"
                    .into()
            }
        });
        limits.extend(self.liveness_limits());
        if let Some(capacity) = self.buffer_capacity {
            limits.push(format!(
                "PARTIAL: runs in which a process has more than {capacity} stores in its buffer are \
                 left out"
            ));
        }
        if question.initial == Initial::Smallest {
            limits.push(format!(
                "variables that {} leaves open start at their smallest value only",
                author(&question.algorithm)
            ));
        }
        if question.symmetry {
            limits.push("states that differ only by a renaming of processes count as one".into());
        }
        if question.forget {
            limits.push(
                "states that differ only in values that are overwritten before they are read count as one"
                    .into(),
            );
        }
        if let Some(properties) = self.not_checked() {
            limits.push(format!("PARTIAL: not checked: {properties}"));
        }
        match self.ended {
            Ended::Complete => {}
            Ended::States => limits.push("PARTIAL: the limit on states was reached".into()),
            Ended::Memory => limits.push("PARTIAL: the limit on memory was reached".into()),
            Ended::Stopped => limits.push("PARTIAL: the check was stopped".into()),
        }
        if self.properties.get("range").is_some_and(|it| it.verdict == Verdict::Partial) {
            limits
                .push("PARTIAL: numbers grow without bound; larger ones were not explored".into());
        }
        limits
    }

    /// Returns the report as one JSON object.
    pub fn to_json(&self) -> serde_json::Value {
        let question = &self.question;
        serde_json::json!({
            "algorithm": question.algorithm,
            "n": question.n,
            "k": question.k,
            "contention": question.contention,
            "complete": self.covers_all_runs() && question.left_out.is_empty(),
            "states": self.states,
            "transitions": self.transitions,
            "depth": self.depth,
            "seconds": self.seconds,
            "bytes_per_state": self.typical_bytes_per_state(),
            "state_bits": self.state_bits,
            "initial_states": self.initial_states,
            "crashes": question.crashes,
            "memory": question.memory.name(),
            "symmetry": question.symmetry,
            "forget": question.forget,
            "compact": question.compact,
            "every_step": question.every_step,
            "verdict": self.verdict(),
            "not_checked": question.left_out.iter().map(|it| it.name()).collect::<Vec<_>>(),
            "limits": self.limits(),
            "properties": self.properties,
        })
    }
}
