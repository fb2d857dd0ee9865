//! Counts over all schedules if their states fit in memory, and searches otherwise.

use super::{Figure, Question, Report, SearchBudget, exact, search};
use crate::{
    check::{Error, Resources},
    explore::Ended,
};

/// Counts over all schedules if their states fit in `resources`. Otherwise also searches, and reports
/// the worse of the two results as a lower bound.
///
/// # Errors
/// Fails if the algorithm does not exist at this size, or if the question is invalid.
pub fn measure(
    question: &Question,
    resources: &Resources<'_>,
    budget: &SearchBudget,
) -> Result<Report, Error> {
    let counted = match exact(question, resources) {
        Ok(report) if report.is_exact() || report.ended == Ended::Stopped => return Ok(report),
        Ok(report) => Some(report),
        // A search can run an algorithm that is too large to explore.
        Err(Error::TooLarge(_)) => None,
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

/// Returns the exact figure, or the larger of two lower bounds.
pub(super) fn worse(counted: Figure, searched: Figure) -> Figure {
    if counted.exact || counted.worst >= searched.worst { counted } else { searched }
}
