//! Finds a run again and returns it as an HTML page.

use super::judge::{Run, Shows};
use crate::{
    atlas::AtlasModel,
    check::{self, Resources},
    rmr,
    schedule::Schedule,
    trace,
};

/// Finds the run again and returns it as an HTML page. The algorithm's code confirms the run.
pub fn page(run: &Run, resources: &Resources<'_>) -> Result<String, String> {
    let schedule = match run {
        // With one thread, the search always finds the same run.
        Run::Found(model, shows) => find(model, *shows, &Resources { threads: 1, ..*resources })?,
        Run::Given(schedule, _) => (**schedule).clone(),
    };
    trace::confirm(&schedule).map_err(|why| format!("{}: {why}", run.file()))?;
    let trace = trace::run(&schedule, &trace::conventions(&schedule));
    Ok(trace::html(&trace.map_err(|error| error.to_string())?))
}

fn find(model: &AtlasModel, shows: Shows, resources: &Resources<'_>) -> Result<Schedule, String> {
    let found = match shows {
        Shows::Violation(listed) => {
            let property = listed.property().ok_or("the property `range` has no run")?;
            let question = model.check_question().only(vec![property]);
            let report = check::check(&question, resources).map_err(|error| error.to_string())?;
            report.outcome(property).run.clone()
        }
        Shows::Cc | Shows::Dsm => {
            let report = rmr::exact(&model.rmr_question(), resources);
            let report = report.map_err(|error| error.to_string())?;
            if shows == Shows::Cc { report.cc.run } else { report.dsm.run }
        }
    };
    found.ok_or_else(|| format!("{}: no run was found", model.id()))
}
