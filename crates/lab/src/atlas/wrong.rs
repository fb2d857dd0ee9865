//! The evidence that a variant is wrong: a model with a violated property, or a known run.

use serde::Deserialize;

use super::{
    expected::Answer,
    listed::Listed,
    manifest::{AtlasModel, Manifest},
};
use crate::{
    schedule::{Finding, MemoryModel, Schedule},
    trace,
};

/// A run which shows that a variant is wrong at a size that is too large to explore. The run was made by
/// hand, or found by a search that is too long for a test.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownRun {
    /// The run as a replay string. It violates a property.
    pub replay: String,
}

/// Reads a replay string and confirms the run on the algorithm's code. Returns the run with the property
/// that it violates.
pub fn violation(replay: &str) -> Result<(Schedule, Listed), String> {
    let schedule = trace::decode(replay).map_err(|error| format!("`{replay}`: {error}"))?;
    trace::confirm(&schedule)
        .map_err(|why| format!("`{replay}` does not show its finding: {why}"))?;
    match violated(&schedule) {
        Some(listed) => Ok((schedule, listed)),
        None => Err(format!("`{replay}` violates nothing that an algorithm promises")),
    }
}

/// Returns the property that a run violates, or `None` if it violates no property that a manifest can
/// list. A starved process counts only if fewer than k processes have stopped.
pub(super) fn violated(run: &Schedule) -> Option<Listed> {
    Some(match &run.finding {
        Finding::Exclusion => Listed::Exclusion,
        Finding::Names => Listed::Names,
        Finding::Invariant(_) => Listed::Invariants,
        Finding::Deadlock { .. } => Listed::Deadlock,
        Finding::Starvation { stopped, .. } if stopped.len() < run.k => Listed::Starvation,
        Finding::Fife { .. } => Listed::Fife,
        Finding::Bypass { times: None, .. } => Listed::Bypass,
        Finding::Exit { steps: None, .. } => Listed::Exit,
        _ => return None,
    })
}

impl Manifest {
    /// Returns the smallest model of `algorithm` without store buffers that is expected to violate a promised
    /// property, and the first such property. Models are ordered by processes, and then by states.
    pub fn rejection(&self, algorithm: &str) -> Option<(&AtlasModel, Listed)> {
        self.models
            .iter()
            .filter(|model| model.algorithm == algorithm && model.memory == MemoryModel::Sequential)
            .filter_map(|model| Some((model, first_violated(model)?)))
            .min_by_key(|(model, _)| (model.n, model.states))
    }

    /// Returns the known runs of `algorithm`, each with the property that it violates.
    pub fn known_runs(&self, algorithm: &str) -> impl Iterator<Item = (Schedule, Listed)> {
        self.runs
            .iter()
            .filter_map(|run| violation(&run.replay).ok())
            .filter(move |(run, _)| run.algorithm == algorithm)
    }
}

fn first_violated(model: &AtlasModel) -> Option<Listed> {
    let promised = model.check_question().promised;
    let is_promised =
        |listed: &Listed| listed.property().is_none_or(|property| promised.contains(&property));
    let violated = model.check.iter().filter(|(_, expected)| expected.answer == Answer::Violated);
    violated.map(|(&listed, _)| listed).find(is_promised)
}
