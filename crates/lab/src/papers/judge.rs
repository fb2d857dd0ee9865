//! Judges statements by their evidence: expected results of the atlas, runs, computations and tests.
//!
//! Continuous integration compares the expected results of every quick model with measured results.

use hallpass_algorithms::registry;

use super::{
    bounds, count, facts,
    sizes::Sizes,
    statements::{Contention, Evidence, Paper, Statement},
};
use crate::{
    atlas::{self, Answer, AtlasModel, Listed, Manifest, Resilience},
    schedule::{MemoryModel, Schedule},
};

/// The verdict on a statement. Verdicts are ordered by importance, the least important first. The most
/// important verdict of all pieces of evidence decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// Every checked size agrees with the statement. If the statement is that something can happen, one such size is
    /// enough. If the statement has a bound that is an [`AtMost`](super::Bound::AtMost), some run also reaches it.
    Confirmed,
    /// Every checked size agrees, and no run reaches the bound.
    NotTight,
    /// Some of the evidence does not exist yet.
    Unmeasured,
    /// The available evidence does not decide the statement.
    Undecided,
    /// A run, a count or a case contradicts the statement.
    Refuted,
}

/// The result that a run shows: a violation or a count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Shows {
    /// A property is violated.
    Violation(Listed),
    /// The number of remote references with cache-coherent memory.
    Cc,
    /// The number of remote references with distributed shared memory.
    Dsm,
}

/// A run that has its own page.
#[derive(Clone, Debug)]
pub enum Run {
    /// A run that the checker finds when it explores this model.
    Found(AtlasModel, Shows),
    /// A run that is given as a schedule.
    Given(Box<Schedule>, Shows),
}

impl Run {
    /// Returns the file name of the run's page.
    pub fn file(&self) -> String {
        let (algorithm, n, k, contention, shows) = match self {
            Run::Found(model, shows) => {
                (&model.algorithm, model.n, model.k, model.contention(), shows)
            }
            Run::Given(run, shows) => (&run.algorithm, run.n, run.k, run.n, shows),
        };
        let what = match shows {
            Shows::Violation(listed) => listed.name(),
            Shows::Cc => "cc",
            Shows::Dsm => "dsm",
        };
        let contention = if contention < n { format!("-c{contention}") } else { String::new() };
        format!("{algorithm}-n{n}-k{k}{contention}-{what}.html").replace([':', '@', '+'], "-")
    }
}

/// One piece of evidence with its verdict.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// `None` if the finding is only shown, and decides nothing.
    pub verdict: Option<Verdict>,
    /// The finding without the sizes, such as `exclusion` or `CC 7 of 7`.
    pub text: String,
    pub sizes: Sizes,
    pub run: Option<Run>,
    /// The algorithm of the evidence.
    pub algorithm: String,
}

/// A statement with its verdict.
#[derive(Clone, Debug)]
pub(super) struct Judged<'a> {
    pub statement: &'a Statement,
    pub verdict: Verdict,
    pub pieces: Vec<Piece>,
}

/// The sources of evidence by which statements are judged.
pub struct Sources<'a> {
    /// The manifest of the atlas, which has the measured results.
    pub manifest: &'a Manifest,
    /// Returns whether the test exists, given as `path/of/file.rs::name`.
    pub has_test: &'a dyn Fn(&str) -> bool,
}

/// Returns the verdict on each statement of `paper`, in order.
pub fn verdicts(paper: &Paper, sources: &Sources<'_>) -> Vec<Verdict> {
    judge(paper, sources).iter().map(|judged| judged.verdict).collect()
}

pub(super) fn judge<'a>(paper: &'a Paper, sources: &Sources<'_>) -> Vec<Judged<'a>> {
    paper.statements.iter().map(|statement| judged(statement, sources)).collect()
}

fn judged<'a>(statement: &'a Statement, sources: &Sources<'_>) -> Judged<'a> {
    let pieces: Vec<Piece> =
        statement.evidence.iter().flat_map(|evidence| pieces(evidence, sources)).collect();
    let undecided = statement.undecided.as_ref().map(|_| Verdict::Undecided);
    let verdicts = pieces.iter().filter_map(|piece| piece.verdict).chain(undecided);
    let verdict = verdicts.max().unwrap_or(Verdict::Unmeasured);
    Judged { statement, verdict, pieces }
}

fn pieces(evidence: &Evidence, sources: &Sources<'_>) -> Vec<Piece> {
    if let Some(fact) = &evidence.fact {
        return facts::find(fact).map(|compute| fact_piece(&compute())).into_iter().collect();
    }
    if let Some(run) = &evidence.run {
        // Reading the statement file has already confirmed the run.
        return atlas::violation(run).map(run_piece).into_iter().collect();
    }
    if let Some(test) = &evidence.test {
        return vec![test_piece(test, evidence.covers.as_deref(), (sources.has_test)(test))];
    }
    let mut pieces = Vec::new();
    for algorithm in &evidence.algorithm {
        let models: Vec<&AtlasModel> = sources
            .manifest
            .models
            .iter()
            .filter(|model| meant(model, algorithm, evidence))
            .collect();
        for (listed, want) in
            [(&evidence.holds, Answer::Holds), (&evidence.violated, Answer::Violated)]
        {
            pieces.extend(listed.iter().map(|&listed| {
                let models: Vec<&AtlasModel> = models
                    .iter()
                    .copied()
                    .filter(|model| can_tell(model, listed, evidence))
                    .collect();
                property(algorithm, &models, listed, want)
            }));
        }
        for (asked, want) in [(&evidence.asks, HOLDS), (&evidence.denies, VIOLATED)] {
            pieces.extend(asked.iter().map(|name| question(algorithm, &models, name, want)));
        }
        for (quantity, bound) in evidence.counts() {
            let mut counts = count::all(algorithm, quantity, &models, evidence);
            // Reading the statement file has already confirmed its runs.
            let runs = evidence.replay.iter().filter_map(|run| count::replayed(run).ok());
            counts.extend(runs.filter(|run| run.0 == quantity).map(|(_, count)| count));
            pieces.push(bounds::counted(algorithm, quantity, bound, &counts));
        }
    }
    pieces
}

/// Returns whether the model is evidence about the property. If at most k processes compete, no process has to
/// wait. So for the properties that depend on waiting, such a model counts only if the evidence asks for it.
fn can_tell(model: &AtlasModel, listed: Listed, evidence: &Evidence) -> bool {
    let about_waiting = matches!(
        listed,
        Listed::Exclusion | Listed::Names | Listed::Deadlock | Listed::Starvation | Listed::Fife
    );
    let asked = matches!(evidence.contention, Some(Contention::Alone | Contention::AtMostK));
    !about_waiting || asked || model.contention() > model.k
}

/// Returns whether the evidence covers the model.
fn meant(model: &AtlasModel, algorithm: &str, evidence: &Evidence) -> bool {
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
        && evidence.is_about(model.n, model.k)
}

fn fact_piece(fact: &facts::Fact) -> Piece {
    let (verdict, text) = match &fact.against {
        None => (Verdict::Confirmed, format!("computed for {}", fact.covers)),
        Some(case) => (Verdict::Refuted, format!("not for {case}")),
    };
    Piece::plain(verdict, text)
}

fn run_piece((schedule, listed): (Schedule, Listed)) -> Piece {
    let text = format!("{} at ({},{})", words(listed).1, schedule.n, schedule.k);
    let algorithm = schedule.algorithm.clone();
    let run = Run::Given(Box::new(schedule), Shows::Violation(listed));
    Piece { run: Some(run), algorithm, ..Piece::plain(Verdict::Refuted, text) }
}

fn test_piece(test: &str, covers: Option<&str>, exists: bool) -> Piece {
    let name = test.rsplit("::").next().unwrap_or(test);
    if exists {
        let covers = covers.unwrap_or_default();
        Piece::plain(Verdict::Confirmed, format!("{covers}: test `{name}`"))
    } else {
        Piece::plain(Verdict::Unmeasured, "a test".into())
    }
}

impl Piece {
    /// Creates a piece that is not about an algorithm.
    fn plain(verdict: Verdict, text: String) -> Self {
        let (sizes, algorithm) = (Sizes::default(), String::new());
        Piece { verdict: Some(verdict), text, sizes, run: None, algorithm }
    }
}

/// Returns the words for a property that holds, and for its violation.
fn words(listed: Listed) -> (&'static str, &'static str) {
    match listed {
        Listed::Exclusion => ("exclusion", "more than k in the critical section"),
        Listed::Names => ("names", "wrong names"),
        Listed::Deadlock => ("no deadlock", "a deadlock"),
        Listed::Starvation => ("no starvation", "a process starves"),
        Listed::Exit => ("bounded exit", "an unbounded exit"),
        Listed::Doorway => ("bounded doorway", "an unbounded doorway"),
        Listed::Fife => ("FIFE", "not FIFE"),
        Listed::FifeStrong => ("strong FIFE", "not strong FIFE"),
        Listed::Bypass => ("bounded bypass", "unbounded overtaking"),
        Listed::Invariants => ("invariants", "a broken invariant"),
        Listed::Range => ("ranges", "a variable out of range"),
    }
}

/// Returns the expected answer about a property. If the model lists a resilience, *no starvation* means here: with up
/// to k - 1 stopped processes, no matter how many the paper promises to survive.
pub(super) fn answer(model: &AtlasModel, listed: Listed) -> Option<Answer> {
    let expected = model.check.get(&listed)?;
    match expected.resilience {
        Some(Resilience::Crashes(count)) if listed == Listed::Starvation => {
            Some(if count < model.k { Answer::Violated } else { Answer::Holds })
        }
        _ => Some(expected.answer),
    }
}

/// Returns a run that violates a property in the sense of [`answer`].
pub(super) fn violation(model: AtlasModel, listed: Listed) -> Run {
    let crashes = model.k.checked_sub(1);
    Run::Found(AtlasModel { crashes, ..model }, Shows::Violation(listed))
}

/// Returns the smallest model: the one with the fewest processes and then the fewest states.
fn smallest<'a>(models: impl Iterator<Item = &'a AtlasModel>) -> Option<AtlasModel> {
    models.min_by_key(|model| (model.n, model.states)).cloned()
}

fn property(algorithm: &str, models: &[&AtlasModel], listed: Listed, want: Answer) -> Piece {
    let with = |wanted: Answer| {
        models.iter().copied().filter(move |model| answer(model, listed) == Some(wanted))
    };
    let violated = smallest(with(Answer::Violated));
    let any = violated.is_some() || with(Answer::Holds).next().is_some();
    let mut sizes = Sizes::default();
    let (verdict, answer) = match (want, &violated) {
        _ if !any => (Verdict::Unmeasured, want),
        (Answer::Violated, Some(_)) => (Verdict::Confirmed, Answer::Violated),
        (Answer::Violated, None) => (Verdict::Refuted, Answer::Holds),
        (_, Some(_)) => (Verdict::Refuted, Answer::Violated),
        (_, None) => (Verdict::Confirmed, Answer::Holds),
    };
    with(answer).for_each(|model| sizes.add(model));
    let (holds, fails) = words(listed);
    Piece {
        verdict: Some(verdict),
        text: if answer == Answer::Violated { fails } else { holds }.into(),
        sizes,
        run: violated.map(|model| violation(model, listed)),
        algorithm: algorithm.into(),
    }
}

const HOLDS: &str = "holds";
const VIOLATED: &str = "violated";

/// Judges the answers to a question about whole runs. A vacuous answer is no evidence.
fn question(algorithm: &str, models: &[&AtlasModel], name: &str, want: &str) -> Piece {
    let with = |wanted: &'static str| {
        models
            .iter()
            .filter(move |model| model.ask.get(name).is_some_and(|answered| answered == wanted))
    };
    let (any_holds, any_violated) = (with(HOLDS).next().is_some(), with(VIOLATED).next().is_some());
    let (verdict, answer) = match (want, any_violated, any_holds) {
        (_, false, false) => (Verdict::Unmeasured, HOLDS),
        (VIOLATED, true, _) => (Verdict::Confirmed, VIOLATED),
        (VIOLATED, false, _) => (Verdict::Refuted, HOLDS),
        (_, true, _) => (Verdict::Refuted, VIOLATED),
        (_, false, true) => (Verdict::Confirmed, HOLDS),
    };
    let mut sizes = Sizes::default();
    with(answer).for_each(|model| sizes.add(model));
    let shown = match name.strip_suffix("-printed") {
        Some(statement) => format!("{statement} as printed"),
        None => name.replace('-', " "),
    };
    Piece {
        verdict: Some(verdict),
        text: if answer == VIOLATED { format!("a violation of {shown}") } else { shown },
        sizes,
        run: None,
        algorithm: algorithm.into(),
    }
}

/// Returns whether the registry has the algorithm. If so, a statement about it should be decided.
pub(super) fn is_known(algorithm: &str) -> bool {
    !algorithm.is_empty() && registry::entry(algorithm).is_ok()
}
