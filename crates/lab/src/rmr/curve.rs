//! The worst passage for a range of n or k. At small sizes the result is exact. At larger sizes, a search finds a lower
//! bound.

use std::sync::atomic::Ordering::Relaxed;

use hallpass_algorithms::registry::CostModel;

use super::{
    Figure, Question, SearchBudget, exact,
    measure::worse,
    plot::{Plot, Series, Shows},
    promise,
    search::search_one,
};
use crate::{
    catalogue::author,
    check::{Error, Resources},
    graph::Bound,
    schedule::{CacheAtStart, Conventions, FailedRmw, WriterCopy},
    space::Initial,
};

/// The parameter that grows.
#[derive(Clone, Debug)]
pub enum Over {
    /// The number of processes.
    N {
        /// The value of k.
        k: usize,
        /// The values of n.
        ns: Vec<usize>,
    },
    /// The number k of processes that may be in their critical sections, with a constant n - k.
    K {
        /// The value of n - k.
        gap: usize,
        /// The values of k.
        ks: Vec<usize>,
    },
}

impl Over {
    /// Returns the sizes in order, as pairs of n and k.
    fn sizes(&self) -> Vec<(usize, usize)> {
        let mut sizes: Vec<(usize, usize)> = match self {
            Over::N { k, ns } => ns.iter().map(|&n| (n, *k)).collect(),
            Over::K { gap, ks } => ks.iter().map(|&k| (k + gap, k)).collect(),
        };
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    fn x(&self, point: &Point) -> u32 {
        match self {
            Over::N { .. } => point.n as u32,
            Over::K { .. } => point.k as u32,
        }
    }
}

/// A range of sizes.
#[derive(Clone, Debug)]
pub struct Range {
    /// The algorithm's identifier.
    pub algorithm: String,
    /// The cost model by which references are counted.
    pub model: CostModel,
    /// The sizes at which the curve has points.
    pub over: Over,
    /// The number of processes that may be outside their remainder at once, or `None` for all n.
    pub contention: Option<usize>,
    /// The rules of counting.
    pub conventions: Conventions,
    /// The initial states.
    pub initial: Initial,
}

impl Range {
    /// Returns the question for one size.
    pub fn question(&self, n: usize, k: usize) -> Question {
        Question {
            algorithm: self.algorithm.clone(),
            n,
            k,
            contention: self.contention.map_or(n, |contention| contention.min(n)),
            conventions: self.conventions,
            initial: self.initial,
        }
    }
}

/// The worst passage at one size.
#[derive(Clone, Debug)]
pub struct Point {
    /// The number of processes.
    pub n: usize,
    /// The number of processes that may be in their critical sections at once.
    pub k: usize,
    /// The worst passage.
    pub figure: Figure,
}

/// Finds the worst passage at each size. The result is exact while the states fit into `resources`. From the first size
/// at which they do not fit, the results are lower bounds from a search. At this first size, the incomplete exploration
/// may give a better lower bound than the search. Sizes at which the algorithm does not exist are skipped.
/// If `resources.stop` becomes true, the result has only the sizes that were finished before.
///
/// # Errors
/// Fails if the algorithm exists at none of the sizes, or if the question is invalid.
pub fn curve(
    range: &Range,
    resources: &Resources<'_>,
    budget: &SearchBudget,
) -> Result<Vec<Point>, Error> {
    let mut points = Vec::new();
    let mut refused = None;
    let mut fits = true;
    for (n, k) in range.over.sizes() {
        let question = range.question(n, k);
        let mut found = None;
        if fits {
            match exact(&question, resources) {
                Ok(report) => {
                    found = Some(match range.model {
                        CostModel::Cc => report.cc,
                        CostModel::Dsm => report.dsm,
                    });
                }
                Err(Error::TooLarge(_)) => {}
                Err(_) if resources.stop.load(Relaxed) => return Ok(points),
                Err(error @ Error::Question(_)) => return Err(error),
                Err(error) => {
                    refused = Some(error);
                    continue;
                }
            }
            fits = found.as_ref().is_some_and(|figure| figure.exact);
        }
        if !fits {
            (resources.phase)(&format!("searching with n = {n}, k = {k}"));
            match search_one(&question, range.model, budget, resources.stop) {
                Ok(searched) => {
                    found = Some(match found {
                        Some(counted) => worse(counted, searched),
                        None => searched,
                    });
                }
                Err(error) => {
                    refused = Some(error);
                    continue;
                }
            }
        }
        if resources.stop.load(Relaxed) {
            return Ok(points);
        }
        points.extend(found.map(|figure| Point { n, k, figure }));
    }
    match refused {
        Some(error) if points.is_empty() => Err(error),
        _ => Ok(points),
    }
}

/// Converts the points of one algorithm to series: exact values, searched values, and the paper's bound.
/// Omits empty series.
pub fn series(range: &Range, points: &[Point], group: usize) -> Vec<Series> {
    let of = |shows: Shows, label: String, figures: &[&Point]| Series {
        label,
        shows,
        group,
        points: figures
            .iter()
            .filter_map(|point| match point.figure.worst {
                Bound::Most(count) => Some((range.over.x(point), count)),
                Bound::Unbounded => None,
            })
            .collect(),
        unbounded: figures
            .iter()
            .filter(|point| point.figure.worst == Bound::Unbounded)
            .map(|point| range.over.x(point))
            .collect(),
    };
    let name = &range.algorithm;
    let (exact, searched): (Vec<_>, Vec<_>) = points.iter().partition(|point| point.figure.exact);
    let bound: Vec<(u32, u32)> = points
        .iter()
        .filter_map(|point| {
            let promise = promise(&range.question(point.n, point.k), range.model)?;
            Some((range.over.x(point), u32::try_from(promise.bound).ok()?))
        })
        .collect();
    let mut all = Vec::new();
    if let Some(claim) = points.iter().find_map(|point| point.figure.claim.as_ref()) {
        let label = format!("{name}: {}, {}", claim.source, claim.formula);
        let shows = Shows::Bound;
        all.push(Series { label, shows, group, points: bound, unbounded: Vec::new() });
    }
    all.push(of(Shows::Exact, format!("{name}: exact worst case"), &exact));
    all.push(of(Shows::Searched, format!("{name}: searched, lower bound"), &searched));
    all.retain(|series| !series.points.is_empty() || !series.unbounded.is_empty());
    all
}

/// Makes a plot of several curves under one cost model.
///
/// The title and the caption describe the first curve. All curves of a plot should have the same
/// parameters.
pub fn plot_of(curves: &[(Range, Vec<Point>)]) -> Plot {
    let first = curves.first().map(|(range, _)| range);
    let mut names: Vec<&str> = curves.iter().map(|(range, _)| range.algorithm.as_str()).collect();
    names.dedup();
    let contention = first.and_then(|range| range.contention);
    let contention = contention.map_or("n".to_string(), |contention| contention.to_string());
    let machine = first.map_or("", |range| machine(range.model));
    let (fixed, x_label) = match first.map(|range| &range.over) {
        Some(Over::K { gap, .. }) => {
            (format!("n = k + {gap}"), "processes in the critical section at once, k")
        }
        Some(Over::N { k, .. }) => (format!("k = {k}"), "processes n"),
        None => (String::new(), ""),
    };
    let caption = first.map_or(String::new(), caption);
    Plot {
        title: format!("{}: {fixed}, contention c = {contention}, {machine}", names.join(", ")),
        caption,
        x_label: x_label.into(),
        y_label: "remote references of the worst passage".into(),
        series: curves
            .iter()
            .enumerate()
            .flat_map(|(group, (range, points))| series(range, points, group))
            .collect(),
    }
}

fn machine(model: CostModel) -> &'static str {
    match model {
        CostModel::Cc => "cache-coherent",
        CostModel::Dsm => "distributed shared memory",
    }
}

/// Describes the rules of counting.
fn caption(range: &Range) -> String {
    let Conventions { writer_copy, failed_rmw, cache } = range.conventions;
    let initial = match range.initial {
        Initial::All => format!("Every initial state {} allows.", author(&range.algorithm)),
        Initial::Smallest => "Open variables start at their smallest value.".into(),
    };
    if range.model == CostModel::Dsm {
        return format!(
            "Counted: every access to a variable that is not in the memory of the process. \
             {initial}"
        );
    }
    let writer_copy = match writer_copy {
        WriterCopy::AsItWas => "a writer's own copy stays as it was",
        WriterCopy::Gained => "a writer has a valid copy afterwards",
        WriterCopy::Lost => "a writer has no valid copy afterwards",
    };
    let failed_rmw = match failed_rmw {
        FailedRmw::Write => "a failed read-modify-write counts as a write",
        FailedRmw::Read => "a failed read-modify-write counts as a read",
    };
    let cache = match cache {
        CacheAtStart::Cold => "the cache is empty when a passage begins",
        CacheAtStart::Warm => "the cache keeps what earlier passages left there",
    };
    format!(
        "Counted: reads without a valid copy, all writes and read-modify-writes; {writer_copy}; \
         {failed_rmw}; {cache}. {initial}"
    )
}
