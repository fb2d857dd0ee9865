//! The worst passage for one n after the other: exact while that is possible, searched beyond.

use hallpass_algorithms::registry::Model;

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

/// Which sizes to look at.
#[derive(Clone, Debug)]
pub struct Range {
    /// The algorithm's identifier.
    pub algorithm: String,
    /// How many may be in.
    pub k: usize,
    /// On which kind of machine.
    pub model: Model,
    /// For these numbers of processes.
    pub ns: Vec<usize>,
    /// At most this many outside their remainder at once; none for all n.
    pub contention: Option<usize>,
    /// By which rules.
    pub conventions: Conventions,
    /// Which initial states.
    pub initial: Initial,
}

impl Range {
    /// The question for one n.
    pub fn question(&self, n: usize) -> Question {
        Question {
            algorithm: self.algorithm.clone(),
            n,
            k: self.k,
            contention: self.contention.map_or(n, |contention| contention.min(n)),
            conventions: self.conventions,
            initial: self.initial,
        }
    }
}

/// The worst passage for one n.
#[derive(Clone, Debug)]
pub struct Point {
    /// How many processes.
    pub n: usize,
    /// How bad it is.
    pub figure: Figure,
}

/// Finds the worst passage for each n: exactly while the states fit into `resources`, and by
/// searching from the first n on where they do not. An n for which there is no such algorithm is
/// left out, unless that goes for all of them.
pub fn curve(
    range: &Range,
    resources: &Resources<'_>,
    budget: &SearchBudget,
) -> Result<Vec<Point>, Error> {
    let mut ns = range.ns.clone();
    ns.sort_unstable();
    ns.dedup();
    let mut points = Vec::new();
    let mut refused = None;
    let mut fits = true;
    for n in ns {
        let question = range.question(n);
        let mut found = None;
        if fits {
            match exact(&question, resources) {
                Ok(report) => {
                    found = Some(match range.model {
                        Model::Cc => report.cc,
                        Model::Dsm => report.dsm,
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
            (resources.phase)(&format!("searching with n = {n}"));
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
        points.extend(found.map(|figure| Point { n, figure }));
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
                Bound::Most(count) => Some((point.n as u32, count)),
                Bound::Unbounded => None,
            })
            .collect(),
        unbounded: figures
            .iter()
            .filter(|point| point.figure.worst == Bound::Unbounded)
            .map(|point| point.n as u32)
            .collect(),
    };
    let name = &range.algorithm;
    let (exact, searched): (Vec<_>, Vec<_>) = points.iter().partition(|point| point.figure.exact);
    let bound: Vec<(u32, u32)> = points
        .iter()
        .filter_map(|point| {
            let promise = promise(&range.question(point.n), range.model)?;
            Some((point.n as u32, u32::try_from(promise.bound).ok()?))
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

/// A plot of several curves over n on one kind of machine, each with what it was asked about.
///
/// The title and the caption speak of the first, because only what is alike belongs in one plot.
pub fn plot_of(curves: &[(Range, Vec<Point>)]) -> Plot {
    let first = curves.first().map(|(range, _)| range);
    let mut names: Vec<&str> = curves.iter().map(|(range, _)| range.algorithm.as_str()).collect();
    names.dedup();
    let contention = first.and_then(|range| range.contention);
    let contention = contention.map_or("n".to_string(), |contention| contention.to_string());
    let (k, machine) = first.map_or((0, ""), |range| (range.k, machine(range.model)));
    let caption = first.map_or(String::new(), caption);
    Plot {
        title: format!("{}: k = {k}, contention c = {contention}, {machine}", names.join(", ")),
        caption,
        x_label: "processes n".into(),
        y_label: "remote references of the worst passage".into(),
        series: curves
            .iter()
            .enumerate()
            .flat_map(|(group, (range, points))| series(range, points, group))
            .collect(),
    }
}

fn machine(model: Model) -> &'static str {
    match model {
        Model::Cc => "cache-coherent",
        Model::Dsm => "distributed shared memory",
    }
}

/// The rules of counting in words.
fn caption(range: &Range) -> String {
    let Conventions { writer_copy, failed_rmw, cache } = range.conventions;
    let initial = match range.initial {
        Initial::All => "Every initial state the paper allows.",
        Initial::Smallest => "Open variables start at their smallest value.",
    };
    if range.model == Model::Dsm {
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
