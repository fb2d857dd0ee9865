//! Remote memory references (RMRs): the worst passage of an algorithm, and a run that shows it.
//!
//! [`exact`] explores every schedule. If a size has too many schedules, [`search`] finds lower bounds.

mod adversary;
mod caches;
mod curve;
mod drive;
mod exact;
mod measure;
mod plot;
mod search;
pub mod simulate;

pub(crate) use caches::Caches;
pub use curve::{Over, Point, Range, curve, plot_of, series};
pub use exact::exact;
pub use measure::measure;
pub use plot::{Plot, PlotError, Series, Shows, plot};
pub use search::{SearchBudget, search};

use hallpass_algorithms::registry::{self, CostModel};
use serde::Serialize;

use crate::{
    catalogue,
    explore::Ended,
    graph::Bound,
    schedule::{Conventions, Schedule},
    space::Initial,
};

/// A question: the algorithm, the size and the rules for which remote references are counted.
#[derive(Clone, Debug)]
pub struct Question {
    /// The algorithm's identifier.
    pub algorithm: String,
    /// The number of processes.
    pub n: usize,
    /// The number of processes that may be in their critical sections at once.
    pub k: usize,
    /// The number of processes that may be outside their remainder at once.
    pub contention: usize,
    /// The rules of counting.
    pub conventions: Conventions,
    /// The initial states.
    pub initial: Initial,
}

/// The bound that a paper or file states, at one size.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Promise {
    /// The place that states the bound, such as a theorem or a lemma.
    pub source: String,
    /// The bound as a formula.
    pub formula: String,
    /// The bound at this size.
    pub bound: u64,
}

/// A worst case compared with a paper's bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// Some run reaches the bound, and no run exceeds it.
    Tight,
    /// Every run stays below the bound by at least this much.
    Loose(u64),
    /// Every run that was found stays below the bound by at least this much.
    NotReached(u64),
    /// Some run reaches the bound, but not all runs were explored.
    Reached,
    /// Some run exceeds the bound by this much.
    Exceeded(u64),
    /// The number of references of a passage has no bound.
    Unbounded,
}

/// The worst passage under one cost model.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The number of remote references of the worst passage.
    pub worst: Bound,
    /// Whether `worst` covers all schedules. Otherwise it is a lower bound.
    pub exact: bool,
    /// The paper's bound.
    pub claim: Option<Promise>,
    /// A run with the worst passage.
    pub run: Option<Schedule>,
}

impl Figure {
    /// Compares the passage with the paper's bound. Returns `None` if the paper states none.
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

/// The worst passages under both cost models.
#[derive(Clone, Debug)]
pub struct Report {
    /// The question that this report answers.
    pub question: Question,
    /// The number of explored states.
    pub states: u64,
    /// The reason why the exploration ended.
    pub ended: Ended,
    /// The duration in seconds.
    pub seconds: f64,
    /// The worst passage with cache-coherent memory.
    pub cc: Figure,
    /// The worst passage with distributed shared memory.
    pub dsm: Figure,
}

impl Report {
    /// Returns whether both figures cover all schedules.
    pub fn is_exact(&self) -> bool {
        self.cc.exact && self.dsm.exact
    }

    /// Returns the report as one JSON object.
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

/// Returns the paper's bound for the question under this cost model.
///
/// With `+names`, Lemma 1 of Anderson & Moir adds min(k, c) + 1, where c is the contention.
pub fn promise(question: &Question, model: CostModel) -> Option<Promise> {
    if let Some(subject) = catalogue::find(&question.algorithm) {
        return subject.bound(model, question.n, question.k, question.contention);
    }
    let (entry, names) = registry::entry(&question.algorithm).ok()?;
    let claim = entry.bound(model)?;
    let (n, k, c) = (question.n as u64, question.k as u64, question.contention as u64);
    let promise = Promise {
        source: claim.source.to_string(),
        formula: claim.formula.to_string(),
        bound: (claim.bound)(n, k, c),
    };
    Some(if names { promise.with_names(k, c) } else { promise })
}

impl Promise {
    /// Adds the cost of k-assignment: by Lemma 1 of Anderson & Moir, one more than the smaller of k and the
    /// contention c.
    pub(crate) fn with_names(self, k: u64, c: u64) -> Self {
        Promise {
            source: format!("{} and Lemma 1", self.source),
            formula: format!("({}) + min(k, c) + 1", self.formula),
            bound: self.bound + k.min(c) + 1,
        }
    }
}
