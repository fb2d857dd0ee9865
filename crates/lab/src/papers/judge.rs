//! What the atlas says about a claim's evidence.
//!
//! It goes by what the manifest expects, which continuous integration holds every quick model to.

use hallpass_algorithms::registry;

use super::{
    claims::{Bound, Claim, Contention, Evidence, Paper, Quantity},
    count::{self, Count},
    facts,
    formula::{At, evaluate},
    sizes::Sizes,
};
use crate::{
    atlas::{Answer, Listed, Manifest, Model},
    graph,
    schedule::MemoryModel,
};

/// How a claim turned out. The order is that of importance: the last decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// Every size that was looked at agrees, and where there is a bound, some run reaches it.
    Confirmed,
    /// Every size that was looked at agrees, and no run reaches the bound.
    NotTight,
    /// There is no evidence yet.
    Unmeasured,
    /// What can be looked at does not decide it.
    Undecided,
    /// A run, a count or a case contradicts it.
    Refuted,
}

/// What a run shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shows {
    /// A property is violated.
    Violation(Listed),
    /// So many remote references on a cache-coherent machine.
    Cc,
    /// The same with distributed shared memory.
    Dsm,
}

/// A run that a page is written of.
#[derive(Clone, Debug)]
pub struct Run {
    /// The model it is of.
    pub model: Model,
    /// What it shows.
    pub shows: Shows,
}

impl Run {
    /// The name of its page.
    pub fn file(&self) -> String {
        let what = match self.shows {
            Shows::Violation(listed) => listed.name(),
            Shows::Cc => "cc",
            Shows::Dsm => "dsm",
        };
        let Model { algorithm, n, k, .. } = &self.model;
        let mut name = format!("{algorithm}-n{n}-k{k}");
        if self.model.contention() < *n {
            name.push_str(&format!("-c{}", self.model.contention()));
        }
        format!("{name}-{what}.html").replace([':', '@', '+'], "-")
    }
}

/// One piece of evidence, looked at.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub verdict: Option<Verdict>,
    /// What it is about: `exclusion`, `CC`.
    pub about: String,
    /// What was found, without the sizes.
    pub found: String,
    pub sizes: Sizes,
    pub run: Option<Run>,
    /// The algorithm it is about.
    pub algorithm: String,
}

/// A claim, looked at.
#[derive(Clone, Debug)]
pub(super) struct Judged<'a> {
    pub claim: &'a Claim,
    pub verdict: Verdict,
    pub pieces: Vec<Piece>,
}

/// What claims are held against.
pub struct Sources<'a> {
    /// The atlas.
    pub manifest: &'a Manifest,
    /// Whether there is such a test, given as `path/of/file.rs::name`.
    pub has_test: &'a dyn Fn(&str) -> bool,
}

pub(super) fn judge<'a>(paper: &'a Paper, sources: &Sources<'_>) -> Vec<Judged<'a>> {
    paper.claims.iter().map(|claim| judged(claim, sources)).collect()
}

fn judged<'a>(claim: &'a Claim, sources: &Sources<'_>) -> Judged<'a> {
    let pieces: Vec<Piece> =
        claim.evidence.iter().flat_map(|evidence| pieces(evidence, sources)).collect();
    let undecided = claim.undecided.as_ref().map(|_| Verdict::Undecided);
    let verdicts = pieces.iter().filter_map(|piece| piece.verdict).chain(undecided);
    let verdict = verdicts.max().unwrap_or(Verdict::Unmeasured);
    Judged { claim, verdict, pieces }
}

fn pieces(evidence: &Evidence, sources: &Sources<'_>) -> Vec<Piece> {
    if let Some(fact) = &evidence.fact {
        return facts::find(fact).map(|compute| fact_piece(&compute())).into_iter().collect();
    }
    if let Some(test) = &evidence.test {
        return vec![test_piece(test, (sources.has_test)(test))];
    }
    let mut pieces = Vec::new();
    for algorithm in &evidence.algorithm {
        let models: Vec<&Model> = sources
            .manifest
            .models
            .iter()
            .filter(|model| meant(model, algorithm, evidence))
            .collect();
        for (listed, want) in
            [(&evidence.holds, Answer::Holds), (&evidence.violated, Answer::Violated)]
        {
            pieces.extend(listed.iter().map(|&listed| property(algorithm, &models, listed, want)));
        }
        for (quantity, bound) in evidence.counts() {
            let counts = count::all(algorithm, quantity, &models, evidence.least_k);
            pieces.push(counted(algorithm, quantity, bound, &counts));
        }
    }
    pieces
}

/// Whether the model is one of those the evidence is about.
fn meant(model: &Model, algorithm: &str, evidence: &Evidence) -> bool {
    let contention = match evidence.contention {
        None => true,
        Some(Contention::Alone) => model.contention() == 1,
        Some(Contention::Some) => model.contention() > 1,
        Some(Contention::Full) => model.contention() == model.n,
        Some(Contention::AtMostK) => model.contention() <= model.k,
    };
    model.algorithm == algorithm
        && contention
        && model.memory == MemoryModel::Sequential
        && model.k >= evidence.least_k.unwrap_or(1)
        && model.crashes.is_none_or(|crashes| crashes + 1 == model.k)
}

fn fact_piece(fact: &facts::Fact) -> Piece {
    let (verdict, found) = match &fact.against {
        None => (Verdict::Confirmed, format!("computed for {}", fact.covers)),
        Some(case) => (Verdict::Refuted, format!("not for {case}")),
    };
    let (about, algorithm) = (String::new(), String::new());
    Piece { verdict: Some(verdict), about, found, sizes: Sizes::default(), run: None, algorithm }
}

fn test_piece(test: &str, exists: bool) -> Piece {
    let verdict = if exists { Verdict::Confirmed } else { Verdict::Unmeasured };
    let name = test.rsplit("::").next().unwrap_or(test);
    Piece {
        verdict: Some(verdict),
        about: String::new(),
        found: if exists { format!("test `{name}`") } else { String::new() },
        sizes: Sizes::default(),
        run: None,
        algorithm: String::new(),
    }
}

/// The words for a property in a sentence.
fn words(listed: Listed) -> &'static str {
    match listed {
        Listed::Exclusion => "exclusion",
        Listed::Names => "names",
        Listed::Deadlock => "no deadlock",
        Listed::Starvation => "no starvation",
        Listed::Exit => "bounded exit",
        Listed::Doorway => "bounded doorway",
        Listed::Fife => "FIFE",
        Listed::FifeStrong => "strong FIFE",
        Listed::Invariants => "invariants",
        Listed::Range => "ranges",
    }
}

/// The smallest of the models: fewest processes, then fewest states.
fn smallest<'a>(models: impl Iterator<Item = &'a Model>) -> Option<Model> {
    models.min_by_key(|model| (model.n, model.states)).cloned()
}

fn property(algorithm: &str, models: &[&Model], listed: Listed, want: Answer) -> Piece {
    let with = |answer: Answer| {
        let is = move |model: &&&Model| {
            model.check.get(&listed).is_some_and(|expected| expected.answer == answer)
        };
        models.iter().filter(is).copied()
    };
    let violated = smallest(with(Answer::Violated));
    let any = violated.is_some() || with(Answer::Holds).next().is_some();
    let mut sizes = Sizes::default();
    let (verdict, answer, found) = match (want, &violated) {
        _ if !any => (Verdict::Unmeasured, Answer::Open, ""),
        (Answer::Violated, Some(_)) => (Verdict::Confirmed, Answer::Violated, "violated"),
        (Answer::Violated, None) => (Verdict::Refuted, Answer::Holds, "holds"),
        (_, Some(_)) => (Verdict::Refuted, Answer::Violated, "**violated**"),
        (_, None) => (Verdict::Confirmed, Answer::Holds, ""),
    };
    with(answer).for_each(|model| sizes.add(model));
    Piece {
        verdict: Some(verdict),
        about: words(listed).into(),
        found: found.into(),
        sizes,
        run: violated.map(|model| Run { model, shows: Shows::Violation(listed) }),
        algorithm: algorithm.into(),
    }
}

/// A count beside its bound.
struct Held<'a> {
    count: &'a Count<'a>,
    bound: Option<u64>,
}

impl Held<'_> {
    fn exceeds(&self) -> bool {
        match (self.count.value, self.bound) {
            (graph::Bound::Most(value), Some(bound)) => u64::from(value) > bound,
            (graph::Bound::Unbounded, _) => true,
            (graph::Bound::Most(_), None) => false,
        }
    }

    /// How much is left to the bound.
    fn slack(&self) -> Option<u64> {
        match self.count.value {
            graph::Bound::Most(value) => self.bound?.checked_sub(value.into()),
            graph::Bound::Unbounded => None,
        }
    }

    fn text(&self) -> String {
        let value = match self.count.value {
            graph::Bound::Most(value) => value.to_string(),
            graph::Bound::Unbounded => "∞".into(),
        };
        let of = self.bound.map(|bound| format!(" of {bound}")).unwrap_or_default();
        format!("{value}{of} at {}", self.count.size())
    }
}

fn counted(algorithm: &str, quantity: Quantity, bound: &Bound, counts: &[Count<'_>]) -> Piece {
    let formula = bound.formula();
    // A claim file's formulas were read when it was.
    let at = |count: &Count<'_>| evaluate(formula?, At { n: count.n, k: count.k, c: count.c }).ok();
    let held: Vec<Held<'_>> = counts.iter().map(|count| Held { count, bound: at(count) }).collect();
    let mut sizes = Sizes::default();
    counts.iter().for_each(|count| count.add_to(&mut sizes));
    let over = held
        .iter()
        .filter(|held| held.exceeds())
        .min_by_key(|held| (held.count.n, held.count.states()));
    let tight = held.iter().filter(|held| held.slack() == Some(0)).max_by_key(|held| held.count.n);
    let most = held.iter().max_by_key(|held| (held.count.value, std::cmp::Reverse(held.count.n)));
    let near = held.iter().min_by_key(|held| (held.slack(), std::cmp::Reverse(held.count.n)));
    let all_tight = held.iter().all(|held| held.slack() == Some(0));
    let show = |held: Option<&Held<'_>>| held.map(Held::text).unwrap_or_default();
    let (verdict, found) = match bound {
        _ if held.is_empty() => (Some(Verdict::Unmeasured), String::new()),
        Bound::Measured => (None, show(most)),
        // Not some size, but every size: nothing at all keeps anybody out.
        Bound::Unbounded if quantity == Quantity::Resilience => {
            let all = held.iter().all(|held| held.exceeds());
            (Some(if all { Verdict::Confirmed } else { Verdict::Refuted }), show(most))
        }
        Bound::Unbounded if over.is_some() => (Some(Verdict::Confirmed), show(over)),
        Bound::Unbounded => (Some(Verdict::Refuted), format!("at most {}", show(most))),
        _ if over.is_some() => (Some(Verdict::Refuted), format!("**{}**", show(over))),
        Bound::Finite => (Some(Verdict::Confirmed), format!("at most {}", show(most))),
        Bound::Within(_) => (Some(Verdict::Confirmed), format!("at most {}", show(most))),
        Bound::Is(_) if all_tight => (Some(Verdict::Confirmed), show(tight)),
        Bound::Is(_) => (Some(Verdict::NotTight), show(near)),
        Bound::AtMost(_) if tight.is_some() => {
            (Some(Verdict::Confirmed), format!("{}, tight", show(tight)))
        }
        Bound::AtMost(_) => (Some(Verdict::NotTight), show(near)),
    };
    let shows = match quantity {
        Quantity::Cc => Some(Shows::Cc),
        Quantity::Dsm => Some(Shows::Dsm),
        _ => None,
    };
    let model = over.and_then(|held| held.count.model).filter(|_| *bound != Bound::Measured);
    let run = model.zip(shows).map(|(model, shows)| Run { model: model.clone(), shows });
    let about = count::words(quantity).to_string();
    Piece { verdict, about, found, sizes, run, algorithm: algorithm.into() }
}

/// Whether the registry knows the algorithm, so that a claim about it ought to be decided.
pub(super) fn is_known(algorithm: &str) -> bool {
    !algorithm.is_empty() && registry::entry(algorithm).is_ok()
}
