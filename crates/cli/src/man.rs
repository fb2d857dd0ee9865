//! `hallpass man`: writes a manual page for each command.

use std::{fs, path::PathBuf, process::ExitCode};

use clap::{Args as ClapArgs, Command, CommandFactory};
use clap_mangen::Man;

use crate::{Cli, output::say};

#[derive(ClapArgs)]
pub struct Args {
    /// Write the pages to this directory
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub fn run(args: Args) -> ExitCode {
    match write(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(format_args!("{error}"));
            ExitCode::FAILURE
        }
    }
}

fn write(args: Args) -> Result<(), String> {
    fs::create_dir_all(&args.folder)
        .map_err(|error| format!("cannot create {}: {error}", args.folder.display()))?;
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    for (name, text) in pages("hallpass", root)? {
        let path = args.folder.join(name);
        fs::write(&path, text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

/// Returns `true` for commands that users call and that this program carries out. `lab` and `bench` run other programs.
/// The page of `lab` would also have the same name as a page that `hallpass-lab man` writes.
fn has_page(command: &Command) -> bool {
    !command.is_hide_set() && !["lab", "bench"].contains(&command.get_name())
}

/// Returns the pages of `command` and of its subcommands, with the names of their files.
fn pages(name: &str, command: Command) -> Result<Vec<(String, String)>, String> {
    let below =
        command.get_subcommands().filter(|below| has_page(below)).cloned().collect::<Vec<_>>();
    let mut page = Vec::new();
    Man::new(command.display_name(name))
        .source(concat!("hallpass ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands")
        .render(&mut page)
        .map_err(|error| format!("cannot write the page {name}: {error}"))?;
    let page = String::from_utf8(page).map_err(|error| error.to_string())?;
    let mut all = vec![(format!("{name}.1"), page + sections(name))];
    for command in below {
        all.extend(pages(&format!("{name}-{}", command.get_name()), command)?);
    }
    Ok(all)
}

/// Returns sections of the page `name` that do not come from the description of the command line.
fn sections(name: &str) -> &'static str {
    match name {
        "hallpass" | "hallpass-run" | "hallpass-jobserver" => include_str!("man/sections.roff"),
        _ => "",
    }
}
