//! Shows a run as text or as an HTML page.

use std::{io::IsTerminal, path::Path};

use hallpass_lab::{
    program::{
        files,
        output::{out, outln, say},
    },
    schedule::Schedule,
    trace,
};

/// Returns the replay string of the run.
pub fn string(run: &Schedule) -> String {
    trace::encode(run).unwrap_or_else(|error| format!("(no replay string: {error})"))
}

/// Prints the run, step by step.
pub fn print(run: &Schedule) {
    match trace::run(run, &trace::conventions(run)) {
        Ok(trace) => out!("{}", trace::text(&trace, std::io::stdout().is_terminal())),
        Err(error) => outln!("this run cannot be replayed: {error}"),
    }
}

/// Shows the run that the caller asked for, if there is one: as text after a report that is not JSON, and as a page if
/// a path is given.
pub fn requested(run: Option<&Schedule>, json: bool, page: Option<&Path>) -> Result<(), String> {
    let Some(run) = run else { return Ok(()) };
    if !json {
        outln!("");
        print(run);
    }
    page.map_or(Ok(()), |path| save_page(run, path))
}

/// Writes the run as an HTML page.
pub fn save_page(run: &Schedule, path: &Path) -> Result<(), String> {
    let trace = trace::run(run, &trace::conventions(run)).map_err(|error| error.to_string())?;
    files::save(path, &trace::html(&trace))?;
    say(format_args!("wrote {}", path.display()));
    Ok(())
}
