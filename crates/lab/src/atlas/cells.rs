//! The cells of the atlas tables. Markdown and HTML show the same text.

use hallpass_algorithms::registry;

use super::{compare::Remark, expected::Resilience, listed::Listed, run::Entry};
use crate::{
    catalogue::author,
    check::Verdict,
    graph::Bound,
    rmr::{Comparison, Figure},
};

/// The appearance of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CellKind {
    Holds,
    Violated,
    /// The property is violated, but not promised.
    Unpromised,
    /// The property was not checked, or the references were not counted.
    Unlisted,
    /// The exploration was incomplete.
    Partial,
    /// The result is not as expected.
    Differs,
    Tight,
    Loose,
    Exceeded,
    Plain,
}

pub(super) struct Cell {
    pub text: String,
    pub kind: CellKind,
    /// The sentence that explains the cell.
    pub hint: String,
    /// The share of the paper's bound that the figure reaches, in percent.
    pub share: Option<u64>,
}

impl Cell {
    fn new(text: impl Into<String>, kind: CellKind, hint: impl Into<String>) -> Self {
        Cell { text: text.into(), kind, hint: hint.into(), share: None }
    }
}

/// The columns for properties, with their headings.
pub(super) const PROPERTIES: [(Listed, &str); 11] = [
    (Listed::Exclusion, "exclusion"),
    (Listed::Names, "names"),
    (Listed::Deadlock, "no deadlock"),
    (Listed::Starvation, "no starvation"),
    (Listed::Exit, "exit"),
    (Listed::Doorway, "doorway"),
    (Listed::Fife, "FIFE"),
    (Listed::FifeStrong, "strong FIFE"),
    (Listed::Bypass, "bypass"),
    (Listed::Invariants, "invariants"),
    (Listed::Range, "ranges"),
];

/// Formats a number with separators: `321,208`.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn remark<'a>(remarks: &'a [Remark], about: &str) -> Option<&'a str> {
    remarks.iter().find(|remark| remark.about == about).map(|remark| remark.text.as_str())
}

/// Returns the cell, marked if its content is not as expected.
fn judged(entry: &Entry, about: &str, cell: Cell) -> Cell {
    match remark(&entry.comparison.differences, about) {
        Some(text) => Cell { kind: CellKind::Differs, hint: text.to_string(), ..cell },
        None => cell,
    }
}

pub(super) fn states(entry: &Entry) -> Cell {
    let Some(states) = entry.measured.states() else {
        let why = remark(&entry.comparison.differences, "run").unwrap_or_default();
        return Cell::new("–", CellKind::Differs, why);
    };
    let cell = match remark(&entry.comparison.unseen, "states") {
        Some(limit) => Cell::new(format!("≥ {}", thousands(states)), CellKind::Partial, limit),
        None => Cell::new(thousands(states), CellKind::Plain, ""),
    };
    judged(entry, "states", cell)
}

pub(super) fn property(entry: &Entry, listed: Listed) -> Cell {
    let name = listed.name();
    let unlisted = Cell::new("–", CellKind::Unlisted, "not checked");
    let Some(report) = entry.measured.check_report() else { return unlisted };
    let Some(outcome) = report.properties.get(name) else {
        let listed = entry.model.check.contains_key(&listed);
        return if listed { Cell::new("✓", CellKind::Holds, "holds") } else { unlisted };
    };
    let numbers = [
        matches!(listed, Listed::Starvation | Listed::Deadlock).then(|| match outcome.resilience {
            Some(count) => count.to_string(),
            None => "∞".into(),
        }),
        outcome.bound.map(|bound| match bound {
            Bound::Most(steps) => format!("≤ {steps}"),
            Bound::Unbounded => "∞".into(),
        }),
    ];
    let numbers = numbers.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let mark = |mark: &str| format!("{mark} {numbers}").trim_end().to_string();
    let note = outcome.note.as_deref().unwrap_or_default();
    let resilience = outcome.resilience.map_or(Resilience::Unlimited, Resilience::Crashes);
    let cell = match outcome.verdict {
        Verdict::Holds => {
            Cell::new(mark("✓"), CellKind::Holds, holds(listed, resilience, outcome.bound, note))
        }
        Verdict::Violated if report.is_promised(name) => {
            Cell::new(mark("✗"), CellKind::Violated, format!("violated {note}"))
        }
        Verdict::Violated => {
            let author = author(&entry.model.algorithm);
            let hint = format!("violated; {author} does not promise it");
            Cell::new(mark("✗"), CellKind::Unpromised, hint)
        }
        Verdict::Partial => Cell::new("…", CellKind::Partial, "the exploration was incomplete"),
        Verdict::NotChecked => unlisted,
    };
    judged(entry, name, cell)
}

/// Returns the hint of a cell whose property holds.
fn holds(listed: Listed, resilience: Resilience, bound: Option<Bound>, note: &str) -> String {
    match (listed, resilience, bound) {
        (Listed::Starvation, Resilience::Crashes(count), _) => {
            let stopped = crate::counted::counted(count, "stopped process");
            format!("holds; {stopped} can starve another, fewer cannot")
        }
        (Listed::Deadlock, Resilience::Crashes(count), _) => {
            let stopped = crate::counted::counted(count, "stopped process");
            format!("holds; {stopped} can block all others, fewer cannot")
        }
        (Listed::Starvation | Listed::Deadlock, Resilience::Unlimited, _) => {
            "holds, however many processes have stopped".into()
        }
        (Listed::Bypass, _, Some(Bound::Most(times))) => {
            format!("holds; the maximum number of times that a process is overtaken is {times}")
        }
        (_, _, Some(Bound::Most(steps))) => {
            let steps = crate::counted::counted(steps as usize, "own step");
            format!("holds: at most {steps}")
        }
        _ => format!("holds {note}").trim_end().to_string(),
    }
}

pub(super) fn figure(entry: &Entry, model: registry::CostModel) -> Cell {
    let unlisted = Cell::new("–", CellKind::Unlisted, "not counted");
    let Some(report) = entry.measured.rmr_report() else { return unlisted };
    let (name, listed, figure) = match model {
        registry::CostModel::Cc => ("CC", &entry.model.rmr.cc, &report.cc),
        registry::CostModel::Dsm => ("DSM", &entry.model.rmr.dsm, &report.dsm),
    };
    if listed.is_none() {
        return unlisted;
    }
    judged(entry, name, counted(figure, author(&entry.model.algorithm)))
}

fn counted(figure: &Figure, author: &str) -> Cell {
    let least = if figure.exact { "" } else { "≥ " };
    let worst = match figure.worst {
        Bound::Most(count) => format!("{least}{count}"),
        Bound::Unbounded => "∞".into(),
    };
    let (Some(claim), Some(comparison)) = (&figure.claim, figure.comparison()) else {
        let hint = format!("worst passage: {}; {author} states no bound", figure.worst);
        return Cell::new(worst, CellKind::Plain, hint);
    };
    let (word, kind) = match comparison {
        Comparison::NotReached(_) | Comparison::Reached => ("partial".into(), CellKind::Partial),
        Comparison::Tight => ("tight".to_string(), CellKind::Tight),
        Comparison::Loose(by) => (format!("loose by {by}"), CellKind::Loose),
        Comparison::Exceeded(by) if figure.exact => {
            (format!("exceeded by {by}"), CellKind::Exceeded)
        }
        // A run shows more references than the bound. There may be worse runs.
        Comparison::Exceeded(_) | Comparison::Unbounded => {
            ("exceeded".to_string(), CellKind::Exceeded)
        }
    };
    let share = match figure.worst {
        Bound::Most(count) => (u64::from(count) * 100).checked_div(claim.bound),
        Bound::Unbounded => Some(100),
    };
    let text = format!("{worst} of {} {word}", claim.bound);
    let hint = format!("{} states {} = {}", claim.source, claim.formula, claim.bound);
    Cell { share: share.map(|share| share.min(100)), ..Cell::new(text, kind, hint) }
}

/// The legend: each mark and its meaning.
pub(super) const LEGEND: [(&str, &str); 9] = [
    ("✓", "holds in every run of this size"),
    ("✗", "violated: there is a run that shows it"),
    ("–", "not asked"),
    ("…", "no violation was found, but the exploration was incomplete"),
    (
        "no deadlock, no starvation: ✓ f",
        "if f processes stop permanently outside their remainder, they can block all others (deadlock) or \
         starve another (starvation), and fewer cannot; ∞ if no number of processes can",
    ),
    ("exit, doorway: ✓ ≤ s", "the section takes at most s own steps, whatever the others do"),
    (
        "CC, DSM: w of m",
        "the worst passage of all schedules makes w remote references and the stated bound is \
         m; tight if some run reaches the bound, loose if none does",
    ),
    (
        "FIFE",
        "first in, first enabled: if process p leaves its doorway before process q enters its doorway, then \
         when q enters its critical section, p has entered or no schedule can keep p out (definition 2.5 of \
         Afek et al.; strong: definition 5.1)",
    ),
    (
        "bypass: ✓ ≤ b",
        "from the time when a process leaves its doorway until no schedule can keep it out, processes that \
         came later enter at most b times; FIFE means b = 0",
    ),
];

/// The scope of the results.
pub(super) const LIMITS: [&str; 7] = [
    "Sizes: the verdicts are about the n, k and c that are listed, and about no others. c is the number \
     of processes that may be outside their remainder at once.",
    "Memory: sequentially consistent, one shared access per step, unless a row says tso (a \
     first-in-first-out store buffer per process, as on x86).",
    "Initial values: if a paper leaves a value open, every value is explored, unless a row says \
     initial=smallest.",
    "Fairness: every process outside its remainder that has not stopped keeps taking steps (weak fairness), \
     so it leaves its critical section. A process may stay in its remainder forever.",
    "Crashes: \"no deadlock\" is checked with no process stopped. \"No starvation\" is checked with as many \
     processes stopped permanently outside their remainder as the source promises to survive: k - 1 for most \
     algorithms, unless a row says crashes=. The other processes cannot detect which processes have stopped.",
    "Remote references: CC is write-through and write-invalidate; a write leaves the writer's own copy \
     as it was; a failed read-modify-write counts as a write; the cache is cold when a \
     passage begins. DSM: an access is remote unless the variable is in the memory of the \
     process.",
    "Runs: every run behind a verdict or an exact figure is executed again on the algorithm's own code, \
     without the checker's tables; if a run does not show its figure or verdict, the model is not as expected.",
];

#[cfg(test)]
mod tests {
    use super::{CellKind, counted, holds};
    use crate::{
        atlas::{expected::Resilience, listed::Listed},
        graph::Bound,
        rmr::{Figure, Promise},
    };

    #[test]
    fn a_lower_bound_above_the_papers_bound_exceeds_it() {
        let cell = |worst, exact| {
            let promise =
                Promise { source: "Theorem 1".into(), formula: "7(n-k)".into(), bound: 7 };
            let cell = counted(&Figure { worst, exact, claim: Some(promise), run: None }, "author");
            (cell.text, cell.kind)
        };
        let exceeded = |text: &str| (text.to_string(), CellKind::Exceeded);
        assert_eq!(cell(Bound::Most(9), true), exceeded("9 of 7 exceeded by 2"));
        assert_eq!(cell(Bound::Most(9), false), exceeded("≥ 9 of 7 exceeded"));
        assert_eq!(cell(Bound::Unbounded, false), exceeded("∞ of 7 exceeded"));
        assert_eq!(cell(Bound::Most(7), false), ("≥ 7 of 7 partial".into(), CellKind::Partial));
    }

    #[test]
    fn one_step_is_singular() {
        let hint = |bound| holds(Listed::Exit, Resilience::Unlimited, Some(Bound::Most(bound)), "");
        assert_eq!(hint(1), "holds: at most 1 own step");
        assert_eq!(hint(2), "holds: at most 2 own steps");
    }
}
