//! The worst passage for one n after the other, or one k: exact while that is possible, searched beyond.

use hallpass_algorithms::registry::CostModel;

use super::{
    Figure, Question, SearchBudget, exact,
    measure::worse,
    plot::{Plot, Series, Shows},
    promise,
    search::search_one,
};
use crate::{
    check::{Error, Resources},
    graph::Bound,
    schedule::{CacheAtStart, Conventions, FailedRmw, WriterCopy},
    space::Initial,
};

/// What grows.
#[derive(Clone, Debug)]
pub enum Over {
    /// The number of processes.
    N {
        /// How many may be in.
        k: usize,
        /// The numbers of processes.
        ns: Vec<usize>,
    },
    /// How many may be in, with so many processes more than that.
    K {
        /// n - k.
        gap: usize,
        /// The numbers that may be in.
        ks: Vec<usize>,
    },
}

impl Over {
    /// The sizes in order, each n and k.
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

/// Which sizes to look at.
#[derive(Clone, Debug)]
pub struct Range {
    /// The algorithm's identifier.
    pub algorithm: String,
    /// On which kind of machine.
    pub model: CostModel,
    /// For these sizes.
    pub over: Over,
    /// At most this many outside their remainder at once; none for all n.
    pub contention: Option<usize>,
    /// By which rules.
    pub conventions: Conventions,
    /// Which initial states.
    pub initial: Initial,
}

impl Range {
    /// The question for one size.
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

/// The worst passage for one size.
#[derive(Clone, Debug)]
pub struct Point {
    /// How many processes.
    pub n: usize,
    /// How many may be in.
    pub k: usize,
    /// How bad it is.
    pub figure: Figure,
}

/// Finds the worst passage for each size: exactly while the states fit into `resources`, and by
/// searching from the first size on where they do not. A size for which there is no such algorithm
/// is left out, unless that goes for all of them.
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
                Err(Error::Question(_)) => {} // too large
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
        points.extend(found.map(|figure| Point { n, k, figure }));
    }
    match refused {
        Some(error) if points.is_empty() => Err(error),
        _ => Ok(points),
    }
}

/// The points of one algorithm as series: exact, searched, and the paper's bound, those of them
/// that there are.
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

/// A plot of several curves on one kind of machine, each with what it was asked about.
///
/// The title and the caption speak of the first, because only what is alike belongs in one plot.
pub fn plot_of(curves: &[(Range, Vec<Point>)]) -> Plot {
    let first = curves.first().map(|(range, _)| range);
    let mut names: Vec<&str> = curves.iter().map(|(range, _)| range.algorithm.as_str()).collect();
    names.dedup();
    let contention = first.and_then(|range| range.contention);
    let contention = contention.map_or("n".to_string(), |contention| contention.to_string());
    let machine = first.map_or("", |range| machine(range.model));
    let (fixed, x_label) = match first.map(|range| &range.over) {
        Some(Over::K { gap, .. }) => (format!("n = k + {gap}"), "inside at once k"),
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

/// The rules of counting in words.
fn caption(range: &Range) -> String {
    let Conventions { writer_copy, failed_rmw, cache } = range.conventions;
    let initial = match range.initial {
        Initial::All => "Every initial state the paper allows.",
        Initial::Smallest => "Open variables start at their smallest value.",
    };
    if range.model == CostModel::Dsm {
        return format!(
            "Counted: every access to a variable that lies with another process or with none. \
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
