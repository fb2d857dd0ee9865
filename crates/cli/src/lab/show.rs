//! A run, on the terminal or as a page.

use std::{io::IsTerminal, path::Path};

use hallpass_lab::{
    schedule::{Conventions, Finding, Schedule},
    trace,
};

/// The rules by which the run's remote references are marked: its own, if it is about them.
fn conventions(run: &Schedule) -> Conventions {
    match run.finding {
        Finding::Rmr { conventions, .. } => conventions,
        _ => Conventions::default(),
    }
}

/// Prints the run, step by step.
pub fn print(run: &Schedule) {
    match trace::run(run, &conventions(run)) {
        Ok(trace) => print!("{}", trace::text(&trace, std::io::stdout().is_terminal())),
        Err(error) => println!("this run cannot be replayed: {error}"),
    }
}

/// Writes the run as a page.
pub fn save_page(run: &Schedule, path: &Path) -> Result<(), String> {
    let trace = trace::run(run, &conventions(run)).map_err(|error| error.to_string())?;
    crate::files::save(path, &trace::html(&trace))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
