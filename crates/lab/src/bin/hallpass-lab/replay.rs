//! `hallpass-lab replay`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args as ClapArgs;
use hallpass_algorithms::registry::NAMES;
use hallpass_lab::{
    catalogue,
    program::{self, HOLDS, VIOLATED, files, output::outln},
    schedule::Finding,
    trace,
};

use crate::{
    options::{load, load_as},
    show,
};

#[derive(ClapArgs)]
pub struct Args {
    /// The replay string that `check`, `ask`, `rmr` or `explore` shows
    string: String,
    /// The path of the algorithm's file, if the file has moved since the run was found
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Write the run as an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print no steps, only whether the run is confirmed
    #[arg(short, long)]
    quiet: bool,
}

/// Executes the run again. Succeeds if the run shows what its replay string states.
pub fn run(Args { string, file, html, quiet }: Args) -> program::Result {
    html.as_deref().map_or(Ok(()), files::check)?;
    match (catalogue::file_of_replay(&string), file) {
        (Some(id), Some(path)) => load_as(&path, id.strip_suffix(NAMES).unwrap_or(&id))?,
        (Some(id), None) => {
            load(&id).map_err(|why| format!("{why}; if the file has moved, add --file PATH"))?
        }
        (None, Some(path)) => {
            return Err(format!("this run is not of a file: leave out --file {path}").into());
        }
        (None, None) => {}
    }
    let schedule = trace::decode(&string)?;
    if !quiet {
        show::print(&schedule);
    }
    if let Some(path) = &html {
        show::save_page(&schedule, path)?;
    }
    Ok(match trace::confirm(&schedule) {
        Ok(()) => {
            outln!("{}", confirmed(&schedule.finding));
            ExitCode::from(HOLDS)
        }
        Err(why) => {
            outln!("NOT confirmed: {why}");
            ExitCode::from(VIOLATED)
        }
    })
}

/// Returns the last line about a confirmed run.
fn confirmed(finding: &Finding) -> String {
    match finding {
        Finding::FifeStrong { second, .. } => format!(
            "confirmed, except that no single run can show that process {second} is enabled; `check` decides it"
        ),
        _ => "confirmed: the run shows what its replay string states".into(),
    }
}
