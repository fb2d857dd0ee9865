//! What stands in the cells of the claims' tables.

use std::collections::BTreeSet;

use super::{
    judge::{Judged, Piece, Run, Verdict},
    sizes::Sizes,
};

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

/// The evidence of a claim in few words.
pub(super) fn evidence(judged: &Judged<'_>) -> String {
    let algorithms: BTreeSet<&str> = judged.pieces.iter().map(|p| p.algorithm.as_str()).collect();
    let mut parts =
        if algorithms.len() > 2 { common(judged) } else { each(judged, algorithms.len() > 1) };
    parts.extend(judged.claim.undecided.clone());
    parts.join("; ")
}

/// The pieces of one or two algorithms; those that hold at the same sizes stand together.
fn each(judged: &Judged<'_>, named: bool) -> Vec<String> {
    let mut parts = Vec::new();
    let mut taken = vec![false; judged.pieces.len()];
    for (index, piece) in judged.pieces.iter().enumerate() {
        if taken[index] {
            continue;
        }
        let alike = |other: &Piece| {
            (&other.algorithm, &other.found, &other.sizes, other.verdict)
                == (&piece.algorithm, &piece.found, &piece.sizes, piece.verdict)
                && other.run.is_none()
                && piece.run.is_none()
        };
        let mut abouts = Vec::new();
        for (other, taken) in judged.pieces.iter().zip(&mut taken).skip(index) {
            if std::ptr::eq(other, piece) || (!*taken && alike(other)) {
                *taken = true;
                abouts.push(other.about.as_str());
            }
        }
        let name = if named { format!("`{}` ", piece.algorithm) } else { String::new() };
        parts.push(format!("{name}{}", words(piece, &abouts.join(", "))));
    }
    parts
}

fn words(piece: &Piece, about: &str) -> String {
    if piece.verdict == Some(Verdict::Unmeasured) {
        return format!("{about}: no model yet").trim_start_matches(": ").to_string();
    }
    let sizes = piece.sizes.text();
    let found = [piece.found.as_str(), sizes.as_str()];
    let found: Vec<&str> = found.into_iter().filter(|part| !part.is_empty()).collect();
    let mut text = found.join(if piece.found.contains(" at ") { " (" } else { " at " });
    if piece.found.contains(" at ") && found.len() == 2 {
        text.push(')');
    }
    if let Some(run) = &piece.run {
        text = format!("{text}: {}", link(run));
    }
    if about.is_empty() { text } else { format!("{about}: {text}") }
}

/// The pieces of many algorithms: what they have in common, and what stands out.
fn common(judged: &Judged<'_>) -> Vec<String> {
    let mut abouts: Vec<&str> = Vec::new();
    for piece in &judged.pieces {
        if !abouts.contains(&piece.about.as_str()) {
            abouts.push(&piece.about);
        }
    }
    let mut parts: Vec<(String, Vec<&str>)> = Vec::new();
    let mut apart = Vec::new();
    for about in abouts {
        let pieces: Vec<&Piece> = judged.pieces.iter().filter(|p| p.about == about).collect();
        let usual =
            |piece: &&&Piece| piece.verdict == Some(Verdict::Confirmed) && piece.run.is_none();
        let plain: Vec<&Piece> = pieces.iter().filter(usual).copied().collect();
        let sizes =
            plain.iter().map(|piece| &piece.sizes).fold(None, |all: Option<Sizes>, sizes| {
                Some(all.map_or_else(|| sizes.clone(), |all| all.common(sizes)))
            });
        if let Some(sizes) = sizes {
            let text = format!("{} algorithms, each at least at {}", plain.len(), sizes.text());
            match parts.iter_mut().find(|(other, _)| *other == text) {
                Some((_, abouts)) => abouts.push(about),
                None => parts.push((text, vec![about])),
            }
        }
        let others = pieces.iter().filter(|piece| !usual(piece));
        apart.extend(others.map(|piece| format!("`{}` {}", piece.algorithm, words(piece, about))));
    }
    let parts = parts.into_iter().map(|(text, abouts)| format!("{}: {text}", abouts.join(", ")));
    parts.chain(apart).collect()
}
