//! `hallpass-lab atlas`.

use std::{
    error::Error,
    fmt::Write as _,
    fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::{Args as ClapArgs, ValueEnum};
use hallpass_lab::{
    atlas::{self, AtlasReport, Entry, Manifest, ManifestFile, Selection, Status, Step},
    check::Resources,
    explore::MOST_STATES,
    program::{self, HOLDS, PARTIAL, VIOLATED, files::save, output::out, stop_on_interrupt},
};
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::options::{Effort, load};

#[derive(ClapArgs)]
pub struct Args {
    /// Run the models of this tier and of quicker tiers [default: quick; with --only, all]
    #[arg(long, value_enum)]
    tier: Option<Tier>,
    /// Run only models whose algorithm or whole name matches: `am-fig3*`, `am-fig8 n=3 k=1*`
    #[arg(long, value_name = "PATTERN", num_args = 1..)]
    only: Vec<String>,
    /// Read the models and their expected results from this file [default: the built-in models]
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Write atlas.md, atlas.html and a page for each run in runs/ to this directory
    #[arg(long, value_name = "DIR", default_value = "target/atlas")]
    out: PathBuf,
    /// Write the measured results as the expected results. They go to the file of --manifest, or, at the
    /// root of a checkout, to the atlas.toml of each algorithm's folder. Without --manifest, algorithms
    /// that have no models get some
    #[arg(long)]
    bless: bool,
    /// With --bless: add models of this size to the algorithms that --only matches
    #[arg(long, value_name = "N,K", num_args = 1.., value_parser = size, requires = "bless", requires = "only")]
    size: Vec<(usize, usize)>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    effort: Effort,
}

#[derive(Clone, Copy, ValueEnum)]
enum Tier {
    /// Seconds each; all of them in a few minutes
    Quick,
    /// Minutes each
    Full,
    /// Hours, or more memory than most computers have
    Huge,
}

impl From<Tier> for atlas::Tier {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::Quick => atlas::Tier::Quick,
            Tier::Full => atlas::Tier::Full,
            Tier::Huge => atlas::Tier::Huge,
        }
    }
}

/// Reads `3,1` as n = 3, k = 1.
fn size(text: &str) -> Result<(usize, usize), String> {
    let size = text.split_once(',').and_then(|(n, k)| Some((n.parse().ok()?, k.parse().ok()?)));
    size.ok_or_else(|| "a size is written as N,K, such as 3,1".into())
}

/// Returns the files from which models are read and to which, with --bless, they are written.
fn files(args: &Args) -> Result<Vec<ManifestFile>, Box<dyn Error>> {
    Ok(match &args.manifest {
        Some(path) => vec![ManifestFile::read(path.clone())?],
        None if args.bless => ManifestFile::in_checkout(Path::new(""))?,
        None => ManifestFile::built_in(),
    })
}

pub fn run(args: Args) -> program::Result {
    let old_files = files(&args)?;
    let mut files = old_files.clone();
    // A manifest that a user has written lists only the models that the user wants, so it gets no others
    // without --size.
    if args.bless && (args.manifest.is_none() || !args.size.is_empty()) {
        for added in atlas::add_models(&mut files, &args.only, &args.size)? {
            eprintln!("added: {added}");
        }
    }
    files.iter().flat_map(ManifestFile::language_files).try_for_each(|path| load(&path))?;
    let manifest = Manifest::of(&files)?;
    let selection = selection(&args, &manifest)?;
    // If the directory cannot be written, this fails now, and not after an hour.
    fs::create_dir_all(&args.out)
        .map_err(|error| format!("cannot create {}: {error}", args.out.display()))?;
    let mut report = measure(&args.effort, &manifest, &selection);
    if report.entries.is_empty() && report.unreached.is_empty() {
        return Err("the manifest has no model of this tier: try --tier full".into());
    }
    if args.bless {
        for line in report.differences() {
            eprintln!("blessed: {line}");
        }
        let blessed = atlas::bless(&files, &report)?;
        for (old, new) in old_files.iter().zip(&blessed) {
            if old != new {
                save(&new.path, &new.text)?;
            }
        }
        report = report.compared_with(&Manifest::of(&blessed)?);
    }
    save(&args.out.join("atlas.md"), &atlas::markdown(&report))?;
    save(&args.out.join("atlas.html"), &atlas::html(&report))?;
    save_runs(&args.out, &report)?;
    let out = args.out.display();
    let text = if args.json {
        format!("{}\n", report.to_json())
    } else {
        format!("{}\nwrote {out}/atlas.md and {out}/atlas.html\n", table(&report))
    };
    out!("{text}");
    Ok(ExitCode::from(match report.status() {
        Status::AsExpected => HOLDS,
        Status::Differs => VIOLATED,
        Status::Partial => PARTIAL,
    }))
}

/// Writes the pages to which atlas.html links.
fn save_runs(out: &Path, report: &AtlasReport) -> Result<(), String> {
    let folder = out.join("runs");
    fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    atlas::run_pages(report)?.iter().try_for_each(|(file, page)| save(&out.join(file), page))
}

fn selection(args: &Args, manifest: &Manifest) -> Result<Selection, String> {
    // A model that is named always runs, no matter how long it takes.
    let tier = match args.tier {
        Some(tier) => tier.into(),
        None if args.only.is_empty() => atlas::Tier::Quick,
        None => atlas::Tier::Huge,
    };
    let selection = Selection { tier, only: args.only.clone() };
    match selection.idle_pattern(manifest) {
        Some(pattern) => Err(format!("no model of the manifest matches `{pattern}`")),
        None => Ok(selection),
    }
}

/// Runs the models, with a progress bar on a terminal and without one in a pipe.
fn measure(effort: &Effort, manifest: &Manifest, selection: &Selection) -> AtlasReport {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {prefix} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    let resources = Resources {
        states: effort.states.unwrap_or(MOST_STATES),
        bytes: effort.bytes(),
        threads: effort.threads(),
        stop: stop_on_interrupt(),
        phase: &|text| bar.set_message(text.to_string()),
        progress: &|so_far| bar.set_message(format!("{} states", HumanCount(so_far.states))),
    };
    let report = atlas::run(manifest, selection, &resources, |step| match step {
        Step::Begins { of, model, .. } => {
            bar.set_length(of as u64);
            bar.set_prefix(model.id());
        }
        Step::Ends(entry) => {
            for remark in &entry.comparison.differences {
                bar.println(format!("{}: {}", entry.model.id(), remark.text));
            }
            bar.inc(1);
        }
    });
    bar.finish_and_clear();
    report
}

/// Formats one line for each model, and the results that are not as expected. In a pipe, lists only the
/// models that are not as expected.
fn table(report: &AtlasReport) -> String {
    let terminal = io::stdout().is_terminal();
    let width = report.entries.iter().map(|entry| entry.model.id().len()).max().unwrap_or(0);
    let mut text = format!("{:<width$} {:>13} {:>9}\n", "model", "states", "seconds");
    let shown = |entry: &&Entry| terminal || entry.status() != Status::AsExpected;
    if !report.entries.iter().any(|entry| shown(&entry)) {
        text.clear();
    }
    for entry in report.entries.iter().filter(shown) {
        let states = entry.measured.states();
        let states = states.map_or("-".into(), |states| HumanCount(states).to_string());
        let (mark, paint) = match entry.status() {
            Status::AsExpected => ("ok", None),
            Status::Partial => ("partial", Some("\x1b[33m")),
            Status::Differs => ("DIFFERS", Some("\x1b[31m")),
        };
        let (on, off) = paint.filter(|_| terminal).map_or(("", ""), |on| (on, "\x1b[0m"));
        let (id, seconds) = (entry.model.id(), entry.measured.seconds);
        let _ = writeln!(text, "{on}{id:<width$} {states:>13} {seconds:>9.2}  {mark}{off}");
    }
    for (heading, lines) in
        [("not as expected", report.differences()), ("not explored to the end", report.unseen())]
    {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{heading}:\n  {}", lines.join("\n  "));
        }
    }
    let _ = writeln!(text, "\n{}", report.summary());
    text.trim_start().to_string()
}
