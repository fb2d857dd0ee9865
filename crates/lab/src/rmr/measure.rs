//! Exact where it fits, searched where it does not.

use super::{Figure, Question, Report, SearchBudget, exact, search};
use crate::{
    check::{Error, Resources},
    explore::Ended,
};

/// Counts over all schedules, if they fit in `resources`; otherwise searches too, and reports the
/// worse of what either has seen, as a lower bound.
pub fn measure(
    question: &Question,
    resources: &Resources<'_>,
    budget: &SearchBudget,
) -> Result<Report, Error> {
    let counted = match exact(question, resources) {
        Ok(report) if report.is_exact() || report.ended == Ended::Stopped => return Ok(report),
        Ok(report) => Some(report),
        // Too large to be compiled or to be started: nothing that a search minds.
        Err(Error::Question(_)) => None,
        Err(error) => return Err(error),
    };
    (resources.phase)("searching for bad schedules");
    let searched = search(question, budget, resources.stop)?;
    Ok(match counted {
        None => searched,
        Some(counted) => Report {
            cc: worse(counted.cc, searched.cc),
            dsm: worse(counted.dsm, searched.dsm),
            seconds: counted.seconds + searched.seconds,
            ..counted
        },
    })
}

/// What is exact stays; of two lower bounds the larger counts.
pub(super) fn worse(counted: Figure, searched: Figure) -> Figure {
    if counted.exact || counted.worst >= searched.worst { counted } else { searched }
}
