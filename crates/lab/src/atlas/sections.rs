//! Groups the models of a report by family (the algorithms that are based on one figure), and collects the wrong
//! variants with the runs that show their violations.

use hallpass_algorithms::registry::{self, Standing};

use super::run::{AtlasReport, Entry};
use crate::{
    check::Verdict,
    rmr::{Comparison, Figure},
    schedule::Schedule,
};

/// One algorithm at all its sizes.
pub(super) struct Group<'a> {
    pub id: &'a str,
    pub about: &'static registry::Entry,
    pub names: bool,
    pub entries: Vec<&'a Entry>,
    /// Recorded runs at sizes that are too large to explore.
    pub recorded: Vec<&'a Schedule>,
}

/// The algorithms that are based on one figure.
pub(super) struct Family<'a> {
    pub paper: &'static str,
    pub figure: &'static str,
    pub groups: Vec<Group<'a>>,
}

/// Returns the sound algorithms by paper and figure, in the order of the manifest.
pub(super) fn families(report: &AtlasReport) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    for group in groups(report, |standing| standing == Standing::Sound) {
        let (paper, figure) = (group.about.paper, figure(group.about.figure));
        let same = |family: &&mut Family<'_>| (family.paper, family.figure) == (paper, figure);
        match families.iter_mut().find(same) {
            Some(family) => family.groups.push(group),
            None => families.push(Family { paper, figure, groups: vec![group] }),
        }
    }
    families
}

/// Returns the variants that are wrong as printed, and those that are deliberately wrong.
pub(super) fn wrong(report: &AtlasReport) -> Vec<Group<'_>> {
    groups(report, |standing| standing != Standing::Sound)
}

fn groups(report: &AtlasReport, wanted: impl Fn(Standing) -> bool) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for entry in &report.entries {
        let id = entry.model.algorithm.as_str();
        // Algorithms of files are not in the registry, and have no group.
        let Ok((about, names)) = registry::entry(id) else { continue };
        if !wanted(about.standing) {
            continue;
        }
        match groups.iter_mut().find(|group| group.id == id) {
            Some(group) => group.entries.push(entry),
            None => {
                let recorded = report.known_runs.iter().filter(|run| run.algorithm == id).collect();
                groups.push(Group { id, about, names, entries: vec![entry], recorded });
            }
        }
    }
    groups
}

/// Returns the first figure: `Fig. 3` of `Fig. 3 and 5, Thm 2`.
fn figure(text: &'static str) -> &'static str {
    let end = [",", " and "].iter().filter_map(|mark| text.find(mark)).min();
    &text[..end.unwrap_or(text.len())]
}

impl Family<'_> {
    pub fn title(&self) -> String {
        format!("{}, {}", self.paper, self.figure)
    }
}

impl Group<'_> {
    /// Returns the smallest size at which a promised property or bound is violated, and the violations. Sizes
    /// are ordered by processes, and then by states.
    pub fn caught(&self) -> Option<(&Entry, Vec<(&'static str, &Schedule)>)> {
        self.entries
            .iter()
            .map(|entry| (*entry, catches(entry)))
            .filter(|(_, catches)| !catches.is_empty())
            .min_by_key(|(entry, _)| (entry.model.n, entry.measured.states()))
    }

    /// Returns the sizes at which no promised property or bound is violated.
    pub fn uncaught(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().copied().filter(|entry| catches(entry).is_empty())
    }
}

/// Returns the violated promises of a model, with the runs that show them: properties, and bounds on remote
/// references.
fn catches(entry: &Entry) -> Vec<(&'static str, &Schedule)> {
    let mut catches = Vec::new();
    if let Some(report) = entry.measured.check_report() {
        for (&name, outcome) in &report.properties {
            if outcome.verdict == Verdict::Violated && report.is_promised(name) {
                catches.extend(outcome.run.as_ref().map(|run| (name, run)));
            }
        }
    }
    catches.extend(exceeded(entry));
    // Violated properties and bounds come before broken invariants and ranges. Within each of the two groups,
    // shorter runs come first.
    let inner = |name: &str| matches!(name, "invariants" | "range");
    catches.sort_by_key(|(name, run)| (inner(name), run.stem.len() + run.cycle.len()));
    catches
}

/// Returns the cost models, CC or DSM, in which the worst passage exceeds the paper's bound, each with
/// its run.
pub(super) fn exceeded(entry: &Entry) -> impl Iterator<Item = (&'static str, &Schedule)> {
    let report = entry.measured.rmr_report();
    let figures = report.map(|report| [("CC", &report.cc), ("DSM", &report.dsm)]);
    let figures = figures.into_iter().flatten();
    figures
        .filter(|(_, figure)| exceeds(figure))
        .filter_map(|(name, figure)| Some((name, figure.run.as_ref()?)))
}

fn exceeds(figure: &Figure) -> bool {
    matches!(figure.comparison(), Some(Comparison::Exceeded(_) | Comparison::Unbounded))
}
