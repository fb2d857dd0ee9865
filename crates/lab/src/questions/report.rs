//! The answers to questions about whole runs.

use std::{collections::BTreeMap, fmt};

use serde::{Serialize, Serializer};

use super::{Questions, Ratio};
use crate::{explore::Ended, graph::Bound, schedule::Schedule};

/// The answer to one question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The statement holds in every run.
    Holds,
    /// The statement holds, but it never says anything: its condition is never true.
    Vacuous,
    /// The statement does not hold.
    Violated,
    /// A number, or no bound.
    Number(Bound),
    /// A number that is a fraction.
    Ratio(Ratio),
    /// There is no answer, for example because the exploration was incomplete. The text says why.
    Partial(String),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Holds => f.write_str("holds"),
            Answer::Vacuous => f.write_str("vacuous"),
            Answer::Violated => f.write_str("violated"),
            Answer::Number(bound) => bound.fmt(f),
            Answer::Ratio(ratio) => ratio.fmt(f),
            Answer::Partial(_) => f.write_str("partial"),
        }
    }
}

/// An answer, and the run that shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Answered {
    /// The answer itself.
    #[serde(serialize_with = "shown")]
    pub answer: Answer,
    /// A remark on the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The run that shows the answer. Only two kinds of answers have a run: a violation that a single run can show, and
    /// a statement that something can happen, if it holds. In JSON, the run is a replay string.
    #[serde(rename = "replay", skip_serializing_if = "Option::is_none", serialize_with = "replay")]
    pub run: Option<Schedule>,
}

fn shown<S: Serializer>(answer: &Answer, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(answer)
}

fn replay<S: Serializer>(run: &Option<Schedule>, serializer: S) -> Result<S::Ok, S::Error> {
    run.as_ref().and_then(|run| crate::trace::encode(run).ok()).serialize(serializer)
}

impl Answered {
    pub(super) fn new(answer: Answer) -> Self {
        Answered { answer, note: None, run: None }
    }

    pub(super) fn partial(why: impl Into<String>) -> Self {
        Answered::new(Answer::Partial(why.into()))
    }

    pub(super) fn noting(self, note: impl Into<String>) -> Self {
        Answered { note: Some(note.into()), ..self }
    }
}

/// The answers about an algorithm at one size.
#[derive(Clone, Debug)]
pub struct Report {
    /// The questions that this report answers.
    pub questions: Questions,
    /// The number of states.
    pub states: u64,
    /// The reason why the exploration ended.
    pub ended: Ended,
    /// The duration in seconds.
    pub seconds: f64,
    /// The answers, by the names of the questions.
    pub answers: BTreeMap<String, Answered>,
}

impl Report {
    /// Returns whether all answers cover all runs.
    pub fn is_complete(&self) -> bool {
        self.ended == Ended::Complete
            && !self.answers.values().any(|answered| matches!(answered.answer, Answer::Partial(_)))
    }

    /// Returns the report as one JSON object.
    pub fn to_json(&self) -> serde_json::Value {
        let questions = &self.questions;
        serde_json::json!({
            "algorithm": questions.algorithm,
            "n": questions.n,
            "k": questions.k,
            "contention": questions.contention,
            "crashes": questions.crashes,
            "conventions": questions.conventions.to_json(),
            "complete": self.is_complete(),
            "states": self.states,
            "seconds": self.seconds,
            "answers": self.answers,
        })
    }
}
