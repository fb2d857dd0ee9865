//! `hallpass-lab papers`.

use std::{fs, path::PathBuf, process::ExitCode};

use clap::Args as ClapArgs;
use hallpass_lab::{
    atlas::Manifest,
    explore::MOST_STATES,
    papers::{self, Sources},
    program::{self, HOLDS, VIOLATED, files, output::outln},
};

use crate::options::Effort;

/// A file by which the root of the sources is recognised.
const LAB: &str = "crates/lab/Cargo.toml";

#[derive(ClapArgs)]
pub struct Args {
    /// Write papers.md and traces/*.html to this directory, which must be in the root of the sources
    #[arg(long, value_name = "DIR", default_value = "docs")]
    out: PathBuf,
    /// Write nothing; check that papers.md is up to date and all traces exist
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    effort: Effort,
}

pub fn run(args: Args) -> program::Result {
    let manifest = Manifest::standard()?;
    // Tests that statements cite are looked up in the sources, whose root is the parent of the directory --out.
    let root = args.out.join("..");
    if !root.join(LAB).is_file() {
        return Err(format!(
            "{} is not in the root of the sources of hallpass: run this command there, or name the directory with --out",
            args.out.display()
        )
        .into());
    }
    let has_test = |test: &str| papers::has_test(&root, test);
    let sources = Sources { manifest: &manifest, has_test: &has_test };
    let document = papers::document(&papers::standard()?, &sources);
    for gap in &document.gaps {
        outln!("evidence is missing: {gap}");
    }
    let (page, traces) = (args.out.join("papers.md"), args.out.join("traces"));
    if args.check {
        let mut stale = Vec::new();
        if fs::read_to_string(&page).unwrap_or_default() != document.markdown {
            stale.push(page);
        }
        let files = document.runs.iter().map(|run| traces.join(run.file()));
        stale.extend(files.filter(|file| !file.is_file()));
        for file in &stale {
            outln!("out of date: {}", file.display());
        }
        let good = stale.is_empty() && document.gaps.is_empty();
        return Ok(ExitCode::from(if good { HOLDS } else { VIOLATED }));
    }
    fs::create_dir_all(&traces)
        .map_err(|error| format!("cannot create {}: {error}", traces.display()))?;
    files::save(&page, &document.markdown)?;
    for run in &document.runs {
        let found =
            args.effort.with_resources(MOST_STATES, |resources| papers::page(run, resources))?;
        files::save(&traces.join(run.file()), &found)?;
    }
    outln!(
        "wrote {} and {} runs; statements not measured yet: {}",
        page.display(),
        document.runs.len(),
        document.unmeasured
    );
    Ok(ExitCode::from(if document.gaps.is_empty() { HOLDS } else { VIOLATED }))
}
