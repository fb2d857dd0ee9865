//! The cells of the tables of statements.

use std::collections::BTreeSet;

use super::judge::{Judged, Piece, Run, Verdict};

pub(super) fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Confirmed => "confirmed",
        Verdict::NotTight => "holds, not tight",
        Verdict::Unmeasured => "not measured yet",
        Verdict::Undecided => "not decidable here",
        Verdict::Refuted => "refuted",
    }
}

pub(super) fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Confirmed => "✓",
        Verdict::NotTight => "≤",
        Verdict::Unmeasured => "…",
        Verdict::Undecided => "–",
        Verdict::Refuted => "✗",
    }
}

pub(super) fn link(run: &Run) -> String {
    format!("[run](traces/{})", run.file())
}

/// Describes the evidence of a statement in a few words: the findings with their sizes, or the reason
/// why they do not decide the statement.
pub(super) fn evidence(judged: &Judged<'_>) -> String {
    let algorithms: BTreeSet<&str> = judged.pieces.iter().map(|p| p.algorithm.as_str()).collect();
    let parts = match algorithms.len() {
        0 | 1 => groups(&judged.pieces, false),
        2 => groups(&judged.pieces, true),
        _ => common(&judged.pieces),
    };
    match &judged.statement.undecided {
        None => parts.join("; "),
        Some(_) if judged.verdict == Verdict::Refuted => parts.join("; "),
        Some(why) if parts.is_empty() || judged.verdict == Verdict::Unmeasured => why.clone(),
        Some(why) => format!("{why}. *Found:* {}", parts.join("; ")),
    }
}

/// Formats findings, such as `exclusion, no starvation, CC 7 of 7, tight: n ≤ 4`. Findings with the same
/// sizes are listed together.
fn groups(pieces: &[Piece], named: bool) -> Vec<String> {
    let mut groups: Vec<Vec<&Piece>> = Vec::new();
    for piece in pieces {
        let alike = |group: &&mut Vec<&Piece>| {
            group.iter().all(|other| {
                (&other.algorithm, &other.sizes) == (&piece.algorithm, &piece.sizes)
                    && is_missing(other) == is_missing(piece)
                    && other.run.is_none()
                    && piece.run.is_none()
            })
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(piece),
            None => groups.push(vec![piece]),
        }
    }
    let text = |group: Vec<&Piece>| {
        let name = if named { format!("`{}` ", group[0].algorithm) } else { String::new() };
        format!("{name}{}", group_text(&group))
    };
    groups.into_iter().map(text).collect()
}

fn is_missing(piece: &Piece) -> bool {
    piece.verdict == Some(Verdict::Unmeasured)
}

fn group_text(group: &[&Piece]) -> String {
    let found: Vec<&str> = group.iter().map(|piece| piece.text.as_str()).collect();
    let found = found.join(", ");
    if group.iter().all(|piece| is_missing(piece)) {
        return format!("{found}: nothing yet");
    }
    let sizes = group[0].sizes.text();
    let text = if sizes.is_empty() { found } else { format!("{found}: {sizes}") };
    match &group[0].run {
        Some(run) => format!("{text}, {}", link(run)),
        None => text,
    }
}

/// Returns the pieces of many algorithms: their common part, and the exceptions.
fn common(pieces: &[Piece]) -> Vec<String> {
    let is_usual =
        |piece: &&Piece| piece.verdict == Some(Verdict::Confirmed) && piece.run.is_none();
    let mut texts: Vec<&str> = Vec::new();
    for piece in pieces.iter().filter(is_usual) {
        if !texts.contains(&piece.text.as_str()) {
            texts.push(&piece.text);
        }
    }
    let mut parts: Vec<(String, Vec<&str>)> = Vec::new();
    for text in texts {
        let alike: Vec<&Piece> =
            pieces.iter().filter(is_usual).filter(|p| p.text == text).collect();
        let sizes =
            alike.iter().skip(1).fold(alike[0].sizes.clone(), |all, p| all.common(&p.sizes));
        let of = match alike.as_slice() {
            [one] => format!("`{}`, {}", one.algorithm, sizes.text()),
            all => format!("{} algorithms, all of them at {}", all.len(), sizes.text()),
        };
        match parts.iter_mut().find(|(other, _)| *other == of) {
            Some((_, texts)) => texts.push(text),
            None => parts.push((of, vec![text])),
        }
    }
    let parts = parts.into_iter().map(|(of, texts)| format!("{}: {of}", texts.join(", ")));
    let others: Vec<Piece> = pieces.iter().filter(|piece| !is_usual(piece)).cloned().collect();
    parts.chain(groups(&others, true)).collect()
}
