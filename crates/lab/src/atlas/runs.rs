//! The runs that the atlas page links to. Each run has its own page.

use super::{
    run::{AtlasReport, Entry},
    sections,
};
use crate::{check::Verdict, schedule::Schedule, trace};

/// Renders the pages of the runs that the atlas page links to. Returns the file name of each page,
/// relative to the atlas page, and its HTML.
///
/// # Errors
///
/// Returns a message if a run cannot be executed again.
pub fn run_pages(report: &AtlasReport) -> Result<Vec<(String, String)>, String> {
    let violations = report
        .entries
        .iter()
        .flat_map(|entry| violations(entry).map(|(property, run)| (link(entry, property), run)));
    let exceeded = report.entries.iter().flat_map(|entry| {
        sections::exceeded(entry).map(|(machine, run)| (link(entry, machine), run))
    });
    let recorded = report.known_runs.iter().map(|run| (recorded_link(run), run));
    let page = |(file, run): (String, &Schedule)| {
        let trace = trace::run(run, &trace::conventions(run));
        let trace = trace.map_err(|error| format!("{file}: {error}"))?;
        Ok((file, trace::html(&trace)))
    };
    violations.chain(exceeded).chain(recorded).map(page).collect()
}

/// Returns the violated properties of a model, promised or not, each with its run.
pub(super) fn violations(entry: &Entry) -> impl Iterator<Item = (&'static str, &Schedule)> {
    let properties =
        entry.measured.check_report().into_iter().flat_map(|report| &report.properties);
    properties
        .filter(|(_, outcome)| outcome.verdict == Verdict::Violated)
        .filter_map(|(&name, outcome)| Some((name, outcome.run.as_ref()?)))
}

/// Returns the file name of the run that shows `finding` in a model. A finding is a property or a cost
/// model.
pub(super) fn link(entry: &Entry, finding: &str) -> String {
    file(&format!("{} {finding}", entry.model.id()))
}

/// Returns the file name of a recorded run.
pub(super) fn recorded_link(run: &Schedule) -> String {
    file(&format!("{} n={} k={} recorded", run.algorithm, run.n, run.k))
}

fn file(name: &str) -> String {
    let name = name.replace('=', "").replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    format!("runs/{}.html", name.to_lowercase())
}
