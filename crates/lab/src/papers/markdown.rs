//! Writes `docs/papers.md`.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{
    cells::{self, mark, word},
    judge::{self, Judged, Run, Sources, Verdict, is_known},
    statements::Paper,
    tables,
};

/// The page and its runs.
#[derive(Clone, Debug)]
pub struct Document {
    /// The text of `docs/papers.md`.
    pub markdown: String,
    /// The runs to which the page links, ordered by the file names of their pages.
    pub runs: Vec<Run>,
    /// Statements for which evidence is missing although an algorithm that it is about is registered, and statements
    /// that have an `error` but are not refuted. Each statement has one line.
    pub gaps: Vec<String>,
    /// The number of statements for which evidence is missing.
    pub unmeasured: usize,
}

const VERDICTS: [Verdict; 5] = [
    Verdict::Confirmed,
    Verdict::NotTight,
    Verdict::Refuted,
    Verdict::Undecided,
    Verdict::Unmeasured,
];

const LEGEND: &str = "\
**How to read the tables.** Every verdict is computed from the atlas (the files `atlas.toml` in the folders of the
algorithms), from the algorithms themselves, from recorded runs and tests, or from the definitions in the papers. At
every change of hallpass, CI checks all models of the tier `quick` again.

- **confirmed**: every schedule of every listed size agrees with the statement. A statement that something can happen
  is confirmed if some run shows it. A bound is *tight* if some run reaches it. `n ≤ 3` means all k < n ≤ 3, and
  `(4,2)` means n = 4, k = 2. `c ≤ 2` means that at most two processes are outside their remainder at once. If the paper
  leaves initial values open, the check starts from every value; at sizes marked `°` it starts from the smallest value
  only. A statement that holds at these sizes may fail at larger ones.
- **holds, not tight**: every schedule of every listed size agrees with a bound, but no run reaches the stated number;
  `21 of 34` means that 21 is measured and 34 is stated. A statement that only estimates the space, such as O(N), is *confirmed* if no size exceeds the
  bound, tight or not. For O(N), hallpass has chosen a bound of this order.
- **refuted**: a run, a count or a case contradicts the statement. If parts of the statement hold, the last column lists
  them too, in front.
- **not decidable here**: the last column gives the reason.

A number *found by a search* is that of one run, which a search has found. The lab has not explored all runs of this
size.

*No starvation* means: no process starves while at most k − 1 processes have stopped permanently outside their
remainder. The other processes cannot detect which processes have stopped. *FIFE* means first in, first enabled, which
is weaker than first come, first served. The [lab guide](lab.md#check-an-algorithm) defines it. CC and DSM are the
remote references of the worst passage, counted as in the [lab guide](lab.md#count-remote-references). *Rounds*,
*critical sections* and names such as U1 are questions about whole runs, as defined in the
[lab guide](lab.md#ask-about-whole-runs). The statements are in our words, not in those of the papers.

Every *run* is linked. Its page has the command `hallpass-lab explore REPLAY`, which plays the run in the
[explorer](explorer.md). There you can choose a different step at any point of the run, and ask the checker which
violations can follow.
";

/// Writes the document.
pub fn document(papers: &[Paper], sources: &Sources<'_>) -> Document {
    let papers: Vec<(&Paper, Vec<Judged<'_>>)> =
        papers.iter().map(|paper| (paper, judge::judge(paper, sources))).collect();
    let mut runs: Vec<Run> = papers
        .iter()
        .flat_map(|(_, judged)| judged.iter().flat_map(|judged| &judged.pieces))
        .filter_map(|piece| piece.run.clone())
        .collect();
    let mut text = String::from(
        "<!-- Written by `hallpass-lab papers --out docs` from
     crates/algorithms/src/papers/*/statements.toml. Do not edit. -->\n\n\
         # Five papers, statement by statement\n\n",
    );
    summary(&mut text, &papers);
    for (paper, judged) in &papers {
        section(&mut text, paper, judged);
        for table in &paper.tables {
            runs.extend(tables::write(&mut text, table, sources.manifest));
        }
    }
    let runs: BTreeMap<String, Run> = runs.into_iter().map(|run| (run.file(), run)).collect();
    let all = || papers.iter().flat_map(|(paper, judged)| judged.iter().map(move |j| (paper, j)));
    let is_gap = |judged: &&Judged<'_>| {
        judged.verdict == Verdict::Unmeasured
            || judged.statement.error.is_some() && judged.verdict != Verdict::Refuted
    };
    Document {
        markdown: format!("{}\n", text.trim_end()),
        runs: runs.into_values().collect(),
        gaps: all()
            .filter(|(_, judged)| is_gap(judged) && is_due(judged))
            .map(|(paper, judged)| format!("{}: {}", paper.authors, judged.statement.place))
            .collect(),
        unmeasured: all().filter(|(_, judged)| judged.verdict == Verdict::Unmeasured).count(),
    }
}

/// Returns whether a gap must be reported. A gap is not reported if all its missing pieces of evidence are about
/// algorithms that the registry does not have.
fn is_due(judged: &Judged<'_>) -> bool {
    let missing = judged.pieces.iter().filter(|piece| piece.verdict == Some(Verdict::Unmeasured));
    let mut missing = missing.peekable();
    missing.peek().is_none() || missing.any(|piece| is_known(&piece.algorithm))
}

pub(super) fn row(text: &mut String, cells: impl IntoIterator<Item = String>) {
    for cell in cells {
        // A `|` or a line break in the text would end the cell.
        let cell = cell.replace('|', "\\|");
        let _ = write!(text, "| {} ", cell.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    text.push_str("|\n");
}

fn tally(judged: &[Judged<'_>], verdict: Verdict) -> usize {
    judged.iter().filter(|judged| judged.verdict == verdict).count()
}

fn summary(text: &mut String, papers: &[(&Paper, Vec<Judged<'_>>)]) {
    let count: usize = papers.iter().map(|(_, judged)| judged.len()).sum();
    let _ = writeln!(
        text,
        "This page compares every theorem, lemma, corollary, invariant and complexity bound of five papers on\n\
         k-exclusion with exhaustive checks of their algorithms: {count} statements.\n"
    );
    let shown: Vec<Verdict> = VERDICTS
        .into_iter()
        .filter(|&verdict| {
            verdict != Verdict::Unmeasured
                || papers.iter().any(|(_, judged)| tally(judged, verdict) > 0)
        })
        .collect();
    row(
        text,
        [String::new(), "statements".into()]
            .into_iter()
            .chain(shown.iter().map(|v| word(*v).into())),
    );
    row(text, ["---".to_string()].into_iter().chain(vec!["--:".to_string(); shown.len() + 1]));
    for (paper, judged) in papers {
        let name = format!("[{} {}](#{})", paper.authors, paper.year, anchor(paper));
        let counts = shown.iter().map(|&verdict| tally(judged, verdict).to_string());
        row(text, [name, judged.len().to_string()].into_iter().chain(counts));
    }
    let total = |verdict| papers.iter().map(|(_, judged)| tally(judged, verdict)).sum::<usize>();
    let totals = shown.iter().map(|&verdict| format!("**{}**", total(verdict)));
    row(text, ["**all**".to_string(), format!("**{count}**")].into_iter().chain(totals));
    text.push_str("\n## Errors found\n\n");
    text.push_str(
        "The introduction to each paper, further down, explains the words of its algorithms, such as *token* and *cell*.\n\n",
    );
    for (paper, judged) in papers {
        for judged in judged.iter().filter(|judged| judged.verdict == Verdict::Refuted) {
            let Some(error) = &judged.statement.error else { continue };
            let runs: Vec<String> = judged
                .pieces
                .iter()
                .filter_map(|piece| piece.run.as_ref())
                .map(cells::link)
                .collect();
            let runs =
                if runs.is_empty() { String::new() } else { format!(" ({})", runs.join(", ")) };
            let _ = writeln!(
                text,
                "- **{}, {}.** {}{runs}",
                paper.authors,
                judged.statement.place.trim_end_matches('.'),
                error.trim()
            );
        }
    }
    let _ = writeln!(text, "\n{LEGEND}");
}

fn heading(paper: &Paper) -> String {
    format!("{} ({})", paper.authors, paper.year)
}

/// Returns the anchor of the paper's heading, according to GitHub's rules.
fn anchor(paper: &Paper) -> String {
    let kept = heading(paper).to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn section(text: &mut String, paper: &Paper, all: &[Judged<'_>]) {
    let _ = writeln!(
        text,
        "## {}\n\n*{}*{}.\n\n{}\n",
        heading(paper),
        paper.title,
        paper.published.as_ref().map(|place| format!(", {place}")).unwrap_or_default(),
        paper.intro.trim()
    );
    row(text, ["", "statement", "verdict", "at which sizes, or why not"].map(String::from));
    row(text, ["---"; 4].map(String::from));
    for judged in all {
        let verdict = format!("{} {}", mark(judged.verdict), word(judged.verdict));
        let verdict = match judged.verdict {
            Verdict::Refuted => format!("**{verdict}**"),
            _ => verdict,
        };
        let (place, says) = (&judged.statement.place, &judged.statement.says);
        row(text, [place.clone(), says.clone(), verdict, cells::evidence(judged)]);
    }
    text.push('\n');
    let notes: Vec<_> = all.iter().filter(|judged| judged.statement.note.is_some()).collect();
    for judged in &notes {
        let note = judged.statement.note.as_deref().unwrap_or_default();
        let _ = writeln!(
            text,
            "- **{}.** {}",
            judged.statement.place.trim_end_matches('.'),
            note.trim()
        );
    }
    if !notes.is_empty() {
        text.push('\n');
    }
}
