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

/// Writes the run as an HTML page.
pub fn save_page(run: &Schedule, path: &Path) -> Result<(), String> {
    let trace = trace::run(run, &trace::conventions(run)).map_err(|error| error.to_string())?;
    files::save(path, &trace::html(&trace))?;
    say(format_args!("wrote {}", path.display()));
    Ok(())
}
