//! The document.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{
    cells::{self, mark, word},
    claims::Paper,
    judge::{self, Judged, Run, Sources, Verdict, is_known},
    tables,
};

/// The page and what goes with it.
#[derive(Clone, Debug)]
pub struct Document {
    /// The page.
    pub markdown: String,
    /// The runs it links, in the order of their pages' names.
    pub runs: Vec<Run>,
    /// Claims without evidence although their algorithms are there: a line each.
    pub gaps: Vec<String>,
    /// Claims without evidence.
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
**How to read this.** Every verdict is computed: from the atlas (`crates/lab/atlas.toml`), whose quick
models are checked again at every change, from the algorithms themselves, or from the definitions.

- **confirmed**: every schedule of every size listed agrees; a bound is *tight* if some run reaches
  it. `n ≤ 3` means all k < n ≤ 3, `(4,2)` means n = 4, k = 2. With `c ≤ 2`, at most two processes
  were outside their remainder at once, with `c = 1` only one; `°` marks sizes at which initial values
  that the paper leaves open were the smallest ones only. What holds at these sizes may fail at larger ones.
- **holds, not tight**: the same, but no run reaches the claimed number; `21 of 34` is measured
  against claimed.
- **refuted**: a run, a count or a case contradicts it.
- **not decidable here**: it says why.

*No starvation* is with up to k − 1 processes stopped for ever outside their remainder, undetected.
CC and DSM are remote references of the worst passage, counted as in the
[lab guide](lab.md#count-remote-references). Claims are in our words, not in the papers'.
";

/// Writes the document.
pub fn document(papers: &[Paper], sources: &Sources<'_>) -> Document {
    let judged: Vec<(&Paper, Vec<Judged<'_>>)> =
        papers.iter().map(|paper| (paper, judge::judge(paper, sources))).collect();
    let mut runs: Vec<Run> = judged
        .iter()
        .flat_map(|(_, claims)| claims.iter().flat_map(|claim| &claim.pieces))
        .filter_map(|piece| piece.run.clone())
        .collect();
    let mut text = String::from(
        "<!-- Written by `hallpass lab papers --out docs` from crates/lab/claims. Do not edit. -->\n\n\
         # Five papers, claim by claim\n\n",
    );
    summary(&mut text, &judged);
    for (paper, claims) in &judged {
        section(&mut text, paper, claims);
        for table in &paper.tables {
            runs.extend(tables::write(&mut text, table, sources.manifest));
        }
    }
    let runs: BTreeMap<String, Run> = runs.into_iter().map(|run| (run.file(), run)).collect();
    let all = || judged.iter().flat_map(|(paper, claims)| claims.iter().map(move |c| (paper, c)));
    let is_gap = |claim: &&Judged<'_>| {
        claim.verdict == Verdict::Unmeasured
            || claim.claim.error.is_some() && claim.verdict != Verdict::Refuted
    };
    Document {
        markdown: format!("{}\n", text.trim_end()),
        runs: runs.into_values().collect(),
        gaps: all()
            .filter(|(_, claim)| is_gap(claim) && is_due(claim))
            .map(|(paper, claim)| format!("{}: {}", paper.authors, claim.claim.place))
            .collect(),
        unmeasured: all().filter(|(_, claim)| claim.verdict == Verdict::Unmeasured).count(),
    }
}

/// Whether an algorithm that a piece without a model is about is there.
fn is_due(claim: &Judged<'_>) -> bool {
    let missing = claim.pieces.iter().filter(|piece| piece.verdict == Some(Verdict::Unmeasured));
    let mut missing = missing.peekable();
    missing.peek().is_none() || missing.any(|piece| is_known(&piece.algorithm))
}

pub(super) fn row(text: &mut String, cells: impl IntoIterator<Item = String>) {
    for cell in cells {
        // A bar would end the cell, and so would the end of a line.
        let cell = cell.replace('|', "\\|");
        let _ = write!(text, "| {} ", cell.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    text.push_str("|\n");
}

fn tally(claims: &[Judged<'_>], verdict: Verdict) -> usize {
    claims.iter().filter(|claim| claim.verdict == verdict).count()
}

fn summary(text: &mut String, judged: &[(&Paper, Vec<Judged<'_>>)]) {
    let claims: usize = judged.iter().map(|(_, claims)| claims.len()).sum();
    let _ = writeln!(
        text,
        "Every theorem, lemma, corollary, invariant and complexity claim of five papers on\n\
         k-exclusion, held against exhaustive checks of their algorithms: {claims} claims.\n"
    );
    let shown: Vec<Verdict> = VERDICTS
        .into_iter()
        .filter(|&verdict| {
            verdict != Verdict::Unmeasured
                || judged.iter().any(|(_, claims)| tally(claims, verdict) > 0)
        })
        .collect();
    row(
        text,
        [String::new(), "claims".into()].into_iter().chain(shown.iter().map(|v| word(*v).into())),
    );
    row(text, ["---".to_string()].into_iter().chain(vec!["--:".to_string(); shown.len() + 1]));
    for (paper, claims) in judged {
        let name = format!("[{} {}](#{})", paper.authors, paper.year, anchor(paper));
        let counts = shown.iter().map(|&verdict| tally(claims, verdict).to_string());
        row(text, [name, claims.len().to_string()].into_iter().chain(counts));
    }
    let total = |verdict| judged.iter().map(|(_, claims)| tally(claims, verdict)).sum::<usize>();
    let totals = shown.iter().map(|&verdict| format!("**{}**", total(verdict)));
    row(text, ["**all**".to_string(), format!("**{claims}**")].into_iter().chain(totals));
    text.push_str("\n## Errors found\n\n");
    for (paper, claims) in judged {
        for claim in claims.iter().filter(|claim| claim.verdict == Verdict::Refuted) {
            let Some(error) = &claim.claim.error else { continue };
            let runs: Vec<String> = claim
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
                claim.claim.place,
                error.trim()
            );
        }
    }
    let _ = writeln!(text, "\n{LEGEND}");
}

fn heading(paper: &Paper) -> String {
    format!("{} ({})", paper.authors, paper.year)
}

/// Where a link to the paper's heading goes, by GitHub's rules.
fn anchor(paper: &Paper) -> String {
    let kept = heading(paper).to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn section(text: &mut String, paper: &Paper, claims: &[Judged<'_>]) {
    let _ = writeln!(
        text,
        "## {}\n\n*{}*{}.\n\n{}\n",
        heading(paper),
        paper.title,
        paper.published.as_ref().map(|place| format!(", {place}")).unwrap_or_default(),
        paper.intro.trim()
    );
    row(text, ["", "claim", "verdict", "at which sizes, or why not"].map(String::from));
    row(text, ["---"; 4].map(String::from));
    for claim in claims {
        let verdict = format!("{} {}", mark(claim.verdict), word(claim.verdict));
        let verdict = match claim.verdict {
            Verdict::Refuted => format!("**{verdict}**"),
            _ => verdict,
        };
        let (place, says) = (&claim.claim.place, &claim.claim.says);
        row(text, [place.clone(), says.clone(), verdict, cells::evidence(claim)]);
    }
    text.push('\n');
    let notes: Vec<_> = claims.iter().filter(|claim| claim.claim.note.is_some()).collect();
    for claim in &notes {
        let note = claim.claim.note.as_deref().unwrap_or_default();
        let _ = writeln!(text, "- **{}.** {}", claim.claim.place, note.trim());
    }
    if !notes.is_empty() {
        text.push('\n');
    }
}
