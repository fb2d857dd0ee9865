//! Remote memory references: the worst passage there is, and the run that has it.
//!
//! [`exact`] looks at every schedule. What is too large for that can only be searched, which gives
//! lower bounds.

mod adversary;
mod caches;
mod curve;
mod drive;
mod exact;
mod measure;
mod plot;
mod search;
pub mod simulate;
#[cfg(test)]
mod tests;

pub use curve::{Over, Point, Range, curve, plot_of, series};
pub use exact::exact;
pub use measure::measure;
pub use plot::{Plot, PlotError, Series, Shows, plot};
pub use search::{SearchBudget, search};

use hallpass_algorithms::registry::{self, CostModel};
use serde::Serialize;

use crate::{
    explore::Ended,
    graph::Bound,
    schedule::{Conventions, Schedule},
    space::Initial,
};

/// What to count.
#[derive(Clone, Debug)]
pub struct Question {
    /// The algorithm's identifier.
    pub algorithm: String,
    /// How many processes.
    pub n: usize,
    /// How many may be in.
    pub k: usize,
    /// At most this many outside their remainder at once.
    pub contention: usize,
    /// By which rules.
    pub conventions: Conventions,
    /// Which initial states.
    pub initial: Initial,
}

/// What the paper promises at this size.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Promise {
    /// Where.
    pub source: String,
    /// In general.
    pub formula: String,
    /// Here.
    pub bound: u64,
}

/// How a worst case compares with a promise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// Some run needs just as many.
    Tight,
    /// No run needs as many; by so many.
    Loose(u64),
    /// No run that was looked at needs as many; by so many.
    NotReached(u64),
    /// Some run needs just as many, and not all were looked at.
    Reached,
    /// Some run needs more; by so many.
    Exceeded(u64),
    /// A run needs more than any number.
    Unbounded,
}

/// The worst passage on one kind of machine.
#[derive(Clone, Debug)]
pub struct Figure {
    /// How many remote references it makes.
    pub worst: Bound,
    /// Whether that is the worst of all schedules; otherwise it is a lower bound.
    pub exact: bool,
    /// What the paper promises.
    pub claim: Option<Promise>,
    /// The run that has it.
    pub run: Option<Schedule>,
}

impl Figure {
    /// How it compares with the paper's promise.
    pub fn comparison(&self) -> Option<Comparison> {
        let bound = self.claim.as_ref()?.bound;
        Some(match self.worst {
            Bound::Unbounded => Comparison::Unbounded,
            Bound::Most(count) => match u64::from(count).cmp(&bound) {
                std::cmp::Ordering::Equal if self.exact => Comparison::Tight,
                std::cmp::Ordering::Equal => Comparison::Reached,
                std::cmp::Ordering::Less if self.exact => {
                    Comparison::Loose(bound - u64::from(count))
                }
                std::cmp::Ordering::Less => Comparison::NotReached(bound - u64::from(count)),
                std::cmp::Ordering::Greater => Comparison::Exceeded(u64::from(count) - bound),
            },
        })
    }

    fn to_json(&self) -> serde_json::Value {
        let comparison = self.comparison().map(|comparison| match comparison {
            Comparison::Tight => "tight".to_string(),
            Comparison::Loose(by) => format!("loose by {by}"),
            Comparison::NotReached(by) => format!("not reached by {by}"),
            Comparison::Reached => "reached".to_string(),
            Comparison::Exceeded(by) => format!("exceeded by {by}"),
            Comparison::Unbounded => "unbounded".to_string(),
        });
        serde_json::json!({
            "worst": self.worst,
            "exact": self.exact,
            "claim": self.claim.as_ref().map(|claim| claim.bound),
            "source": self.claim.as_ref().map(|claim| claim.source.clone()),
            "formula": self.claim.as_ref().map(|claim| claim.formula.clone()),
            "comparison": comparison,
            "replay": self.run.as_ref().and_then(|run| crate::trace::encode(run).ok()),
        })
    }
}

/// The worst passage on both kinds of machine.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was asked.
    pub question: Question,
    /// How many states were looked at.
    pub states: u64,
    /// Why the exploration ended.
    pub ended: Ended,
    /// How long it took.
    pub seconds: f64,
    /// On a cache-coherent machine.
    pub cc: Figure,
    /// With distributed shared memory.
    pub dsm: Figure,
}

impl Report {
    /// Whether both figures are over all schedules.
    pub fn is_exact(&self) -> bool {
        self.cc.exact && self.dsm.exact
    }

    /// The report as one JSON object.
    pub fn to_json(&self) -> serde_json::Value {
        let question = &self.question;
        serde_json::json!({
            "algorithm": question.algorithm,
            "n": question.n,
            "k": question.k,
            "contention": question.contention,
            "conventions": question.conventions.to_json(),
            "complete": self.is_exact(),
            "states": self.states,
            "seconds": self.seconds,
            "cc": self.cc.to_json(),
            "dsm": self.dsm.to_json(),
        })
    }
}

/// What the paper promises for the question on that kind of machine.
///
/// With names on top, Lemma 1 adds k + 1, or c + 1 if contention is at most c.
pub fn promise(question: &Question, model: CostModel) -> Option<Promise> {
    let (entry, names) = registry::entry(&question.algorithm).ok()?;
    let claim = entry.bound(model)?;
    let (n, k, c) = (question.n as u64, question.k as u64, question.contention as u64);
    let mut promise = Promise {
        source: claim.source.to_string(),
        formula: claim.formula.to_string(),
        bound: (claim.bound)(n, k, c),
    };
    if names {
        promise.source.push_str(" and Lemma 1");
        promise.formula = format!("({}) + min(k, c) + 1", promise.formula);
        promise.bound += k.min(c) + 1;
    }
    Some(promise)
}
