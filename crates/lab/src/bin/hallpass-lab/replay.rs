//! `hallpass-lab replay`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args as ClapArgs;
use hallpass_lab::{
    program::{self, HOLDS, VIOLATED, files, output::outln},
    trace,
};

use crate::show;

#[derive(ClapArgs)]
pub struct Args {
    /// The replay string that `check` or `rmr` printed
    string: String,
    /// Write the run as an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print no steps, only whether the run is confirmed
    #[arg(short, long)]
    quiet: bool,
}

/// Succeeds if the run shows what its replay string states.
pub fn run(Args { string, html, quiet }: Args) -> program::Result {
    html.as_deref().map_or(Ok(()), files::check)?;
    let schedule = trace::decode(&string)?;
    if !quiet {
        show::print(&schedule);
    }
    if let Some(path) = &html {
        show::save_page(&schedule, path)?;
    }
    Ok(match trace::confirm(&schedule) {
        Ok(()) => {
            outln!("confirmed: the run shows what its replay string states");
            ExitCode::from(HOLDS)
        }
        Err(why) => {
            outln!("NOT confirmed: {why}");
            ExitCode::from(VIOLATED)
        }
    })
}
