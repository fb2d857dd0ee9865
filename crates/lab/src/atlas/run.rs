//! Runs the models of a manifest, one after another. A model is one algorithm at one size, with its expected results.

use std::{sync::atomic::Ordering, time::Instant};

use super::{
    cells::thousands,
    compare::{Comparison, Remark, compare},
    manifest::{AtlasModel, Manifest},
    select::{Parts, Selection},
    wrong::violation,
};
use crate::{
    check::{self, Resources, Verdict},
    counted::counted,
    questions, rmr,
    schedule::Schedule,
    trace,
};

/// The results of one model.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The report of the checker, or the error. `None` if the model was not checked.
    pub check: Option<Result<check::Report, check::Error>>,
    /// The report of the counter of remote references, or the error. `None` if nothing was counted.
    pub rmr: Option<Result<rmr::Report, check::Error>>,
    /// The answers to the questions, or the error. `None` if nothing was asked.
    pub ask: Option<Result<questions::Report, check::Error>>,
    /// One message for each run that does not show its finding when it is executed again on the algorithm's code.
    pub unconfirmed: Vec<String>,
    /// The duration in seconds.
    pub seconds: f64,
}

impl Measured {
    /// Returns the checker's report.
    pub fn check_report(&self) -> Option<&check::Report> {
        self.check.as_ref()?.as_ref().ok()
    }

    /// Returns the counter's report.
    pub fn rmr_report(&self) -> Option<&rmr::Report> {
        self.rmr.as_ref()?.as_ref().ok()
    }

    /// Returns the answers to the questions.
    pub fn ask_report(&self) -> Option<&questions::Report> {
        self.ask.as_ref()?.as_ref().ok()
    }

    /// Returns whether a part of the model was refused with an error.
    fn is_refused(&self) -> bool {
        matches!(self.check, Some(Err(_)))
            || matches!(self.rmr, Some(Err(_)))
            || matches!(self.ask, Some(Err(_)))
    }

    /// Returns the number of states found, or `None` if no part of the model has a report.
    pub fn states(&self) -> Option<u64> {
        let check = self.check_report().map(|report| report.states);
        let rmr = || self.rmr_report().map(|report| report.states);
        check.or_else(rmr).or_else(|| self.ask_report().map(|report| report.states))
    }
}

/// The result of the comparison with the expectations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Status {
    /// Everything is as expected.
    AsExpected,
    /// All explored results are as expected, but the exploration was incomplete.
    Partial,
    /// Some result differs.
    Differs,
}

/// A model that was run.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The number of the model in the manifest.
    pub index: usize,
    /// The model, with its expected results.
    pub model: AtlasModel,
    /// The measured results.
    pub measured: Measured,
    /// The comparison of the results with the expectations.
    pub comparison: Comparison,
}

impl Entry {
    /// Returns the status of the model.
    pub fn status(&self) -> Status {
        if !self.comparison.differences.is_empty() {
            Status::Differs
        } else if !self.comparison.unseen.is_empty() {
            Status::Partial
        } else {
            Status::AsExpected
        }
    }
}

/// The results of all models that were run.
#[derive(Clone, Debug, Default)]
pub struct AtlasReport {
    /// The models, in the order of the manifest.
    pub entries: Vec<Entry>,
    /// Models that were selected but did not run, because the atlas was stopped.
    pub unreached: Vec<String>,
    /// The number of models of the manifest that were not selected.
    pub not_selected: usize,
    /// The manifest's recorded runs of the algorithms in `entries`. Each shows that a variant is wrong at a
    /// size that is too large to explore.
    pub known_runs: Vec<Schedule>,
    /// The duration in seconds.
    pub seconds: f64,
}

/// The progress of a run of the atlas.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A model begins.
    Begins {
        /// The position of the model among the selected models, counted from 0.
        number: usize,
        /// The number of selected models.
        of: usize,
        /// The model that begins.
        model: &'a AtlasModel,
    },
    /// A model has ended.
    Ends(&'a Entry),
}

/// Runs the selected models and compares the results with the expectations.
pub fn run(
    manifest: &Manifest,
    selection: &Selection,
    resources: &Resources<'_>,
    mut on_progress: impl FnMut(Step<'_>),
) -> AtlasReport {
    let begun = Instant::now();
    let selected: Vec<_> = manifest
        .models
        .iter()
        .enumerate()
        .map(|(index, model)| (index, model, selection.parts(model)))
        .filter(|(_, _, parts)| parts.check || parts.rmr || parts.ask)
        .collect();
    let of = selected.len();
    let mut report =
        AtlasReport { not_selected: manifest.models.len() - of, ..AtlasReport::default() };
    for (number, (index, model, parts)) in selected.into_iter().enumerate() {
        if resources.stop.load(Ordering::Relaxed) {
            report.unreached.push(model.id());
            continue;
        }
        on_progress(Step::Begins { number, of, model });
        let measured = measure(model, parts, resources);
        if resources.stop.load(Ordering::Relaxed) && measured.is_refused() {
            report.unreached.push(model.id()); // stopped before the exploration began
            continue;
        }
        let comparison = compare(model, &measured);
        let entry = Entry { index, model: model.clone(), measured, comparison };
        on_progress(Step::Ends(&entry));
        report.entries.push(entry);
    }
    let is_shown =
        |run: &Schedule| report.entries.iter().any(|entry| entry.model.algorithm == run.algorithm);
    let known = manifest.runs.iter().filter_map(|run| violation(&run.replay).ok());
    report.known_runs = known.map(|(run, _)| run).filter(is_shown).collect();
    report.seconds = begun.elapsed().as_secs_f64();
    report
}

fn measure(model: &AtlasModel, parts: Parts, resources: &Resources<'_>) -> Measured {
    let begun = Instant::now();
    let mut measured = Measured {
        check: parts.check.then(|| check::check(&model.check_question(), resources)),
        rmr: parts.rmr.then(|| rmr::exact(&model.rmr_question(), resources)),
        ask: parts.ask.then(|| questions::ask(&model.questions(), resources)),
        ..Measured::default()
    };
    measured.unconfirmed = unconfirmed(&measured);
    measured.seconds = begun.elapsed().as_secs_f64();
    measured
}

/// Executes every reported run again, on the algorithm's own code, and returns a message for each run that does
/// not show its finding. So a mistake in the checker's tables or packing cannot confirm itself. If a limit was
/// reached, a run for a bound or a figure may end before it shows that number, so the run is not executed.
fn unconfirmed(measured: &Measured) -> Vec<String> {
    let mut runs: Vec<(&str, &Schedule)> = Vec::new();
    if let Some(report) = measured.check_report() {
        for (&name, outcome) in &report.properties {
            if report.is_complete() || outcome.verdict == Verdict::Violated {
                runs.extend(outcome.run.as_ref().map(|run| (name, run)));
            }
        }
    }
    if let Some(report) = measured.rmr_report() {
        let figures = [("CC", &report.cc), ("DSM", &report.dsm)];
        for (name, figure) in figures.into_iter().filter(|(_, figure)| figure.exact) {
            runs.extend(figure.run.as_ref().map(|run| (name, run)));
        }
    }
    if let Some(report) = measured.ask_report() {
        let answers = report.answers.iter();
        runs.extend(
            answers.filter_map(|(name, answered)| Some((name.as_str(), answered.run.as_ref()?))),
        );
    }
    runs.into_iter()
        .filter_map(|(name, run)| {
            let why = trace::confirm(run).err()?;
            Some(format!("the run for {name} does not show its finding: {why}"))
        })
        .collect()
}

impl AtlasReport {
    /// Returns the worst status of all models.
    pub fn status(&self) -> Status {
        let worst = self.entries.iter().map(Entry::status).max();
        let unreached =
            if self.unreached.is_empty() { Status::AsExpected } else { Status::Partial };
        worst.unwrap_or(Status::AsExpected).max(unreached)
    }

    /// Returns the number of models with this status.
    pub fn count(&self, status: Status) -> usize {
        self.entries.iter().filter(|entry| entry.status() == status).count()
    }

    /// Returns the number of explored states. A model that was both checked and counted counts once.
    pub fn states(&self) -> u64 {
        self.entries.iter().filter_map(|entry| entry.measured.states()).sum()
    }

    /// Returns every difference with its model, one line each.
    pub fn differences(&self) -> Vec<String> {
        self.lines(|comparison| &comparison.differences)
    }

    /// Returns every expectation that was not compared, with its model, one line each.
    pub fn unseen(&self) -> Vec<String> {
        let mut lines = self.lines(|comparison| &comparison.unseen);
        lines.extend(self.unreached.iter().map(|id| format!("{id}: not reached")));
        lines
    }

    fn lines(&self, of: impl Fn(&Comparison) -> &Vec<Remark>) -> Vec<String> {
        let lines = |entry: &Entry| -> Vec<String> {
            let id = entry.model.id();
            of(&entry.comparison).iter().map(|remark| format!("{id}: {}", remark.text)).collect()
        };
        self.entries.iter().flat_map(lines).collect()
    }

    /// Compares the measurements of this report with another manifest, such as the one that
    /// [`bless`](super::bless) has made from the report.
    pub fn compared_with(mut self, manifest: &Manifest) -> Self {
        for entry in &mut self.entries {
            if let Some(model) = manifest.models.get(entry.index) {
                entry.model = model.clone();
                entry.comparison = compare(model, &entry.measured);
            }
        }
        self
    }

    /// Returns one sentence with the number of models, the number of states, the duration and the results.
    pub fn summary(&self) -> String {
        let mut parts = vec![format!("{} as expected", self.count(Status::AsExpected))];
        for (status, words) in [(Status::Differs, "not as expected"), (Status::Partial, "partial")]
        {
            let count = self.count(status);
            if count > 0 {
                parts.push(format!("{count} {words}"));
            }
        }
        if !self.unreached.is_empty() {
            parts.push(format!("{} not reached", self.unreached.len()));
        }
        format!(
            "{}, {} states, {:.0} s: {}.",
            counted(self.entries.len(), "model"),
            thousands(self.states()),
            self.seconds,
            parts.join(", ")
        )
    }
}
