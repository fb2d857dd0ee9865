//! The program `hallpass-bench`. It measures semaphores, halls and objects in one run. `hallpass bench` runs it.
#![forbid(unsafe_code)]

use std::{fs, path::Path, process::ExitCode};

use clap::{Parser, Subcommand};
use hallpass_bench::{cluster, common::rounds::Steps, objects, processes, threads};
use hallpass_lab::program::{
    self, HOLDS, PARTIAL, files,
    output::{out, outln, say},
    stop_on_interrupt,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

/// Measures semaphores in one run: time for each passage, fairness, waits
#[derive(Parser)]
#[command(name = "hallpass-bench", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    family: Option<Family>,
    #[command(flatten)]
    threads: threads::options::Options,
}

#[derive(Subcommand)]
enum Family {
    /// Threads: passages, fairness, waits. The default
    Threads(threads::options::Options),
    /// Processes: passages, the time from a kill to the successor, the cost of waiting
    Processes(processes::options::Options),
    /// Machines: halls on etcd and PostgreSQL servers that the benchmark starts, compared with etcdctl lock
    #[command(alias = "machines")]
    Cluster(cluster::options::Options),
    /// Shared objects: operations on a priority queue, while threads are paused or stopped in an operation
    Objects(objects::options::Options),
}

fn main() -> ExitCode {
    let Cli { family, threads } = Cli::parse();
    program::finish(match family {
        None => run_threads(&threads),
        Some(Family::Threads(options)) => run_threads(&options),
        Some(Family::Processes(options)) => run_processes(&options),
        Some(Family::Cluster(options)) => run_cluster(&options),
        Some(Family::Objects(options)) => run_objects(&options),
    })
}

fn run_threads(options: &threads::options::Options) -> program::Result {
    let plan = options.plan()?;
    prepare(&options.out, threads::plot::names(&plan.workloads))?;
    let report = with_bar(plan.steps(), |steps| plan.run(steps));
    if report.is_empty() {
        return nothing();
    }
    let table = if options.bars { threads::bars::table } else { threads::table::table };
    print(options.json, || report.to_json(), || table(&report));
    save(&options.out, threads::plot::plots(&report)?)?;
    finish(report.complete)
}

fn run_processes(options: &processes::options::Options) -> program::Result {
    let plan = options.plan()?;
    let report = with_bar(plan.steps(), |steps| plan.run(steps))?;
    print(options.json, || report.to_json(), || processes::table::table(&report));
    finish(report.complete)
}

fn run_cluster(options: &cluster::options::Options) -> program::Result {
    let plan = options.plan()?;
    let report = with_bar(plan.steps(), |steps| plan.run(steps))?;
    if report.is_empty() {
        return nothing();
    }
    let table = if options.bars { cluster::bars::table } else { cluster::table::table };
    print(options.json, || report.to_json(), || table(&report));
    finish(report.complete)
}

fn run_objects(options: &objects::options::Options) -> program::Result {
    let plan = options.plan()?;
    prepare(&options.out, objects::plot::names(&plan.parts))?;
    let report = with_bar(plan.steps(), |steps| plan.run(steps))?;
    if report.is_empty() {
        return nothing();
    }
    print(options.json, || report.to_json(), || objects::table::table(&report));
    save(&options.out, objects::plot::plots(&report)?)?;
    finish(report.complete)
}

fn print(json: bool, as_json: impl FnOnce() -> Value, as_text: impl FnOnce() -> String) {
    match json {
        true => outln!("{}", as_json()),
        false => out!("{}", as_text()),
    }
}

fn finish(complete: bool) -> program::Result {
    Ok(ExitCode::from(if complete { HOLDS } else { PARTIAL }))
}

fn nothing() -> program::Result {
    say(format_args!("stopped before anything was measured"));
    finish(false)
}

/// Creates the directory for plots, and fails early if a plot cannot be written there.
fn prepare(folder: &Path, names: Vec<String>) -> Result<(), String> {
    fs::create_dir_all(folder)
        .map_err(|error| format!("cannot create {}: {}", folder.display(), error.kind()))?;
    names.iter().try_for_each(|name| files::check(&folder.join(name)))
}

fn save(folder: &Path, plots: Vec<(String, String)>) -> Result<(), String> {
    for (name, svg) in plots {
        let path = folder.join(name);
        files::save(&path, &svg)?;
        say(format_args!("wrote {}", path.display()));
    }
    Ok(())
}

/// Measures and shows a progress bar. The bar is drawn only between steps, so that it disturbs no measurement. If
/// standard error is not a terminal, there is no bar.
fn with_bar<T>(count: usize, measure: impl FnOnce(&mut Steps<'_>) -> T) -> T {
    let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {eta} {wide_msg}") {
        bar.set_style(style);
    }
    let mut begun = 0;
    let mut announce = |title| {
        bar.set_position(begun);
        bar.set_message(title);
        begun += 1;
    };
    let done = measure(&mut Steps::new(stop_on_interrupt(), &mut announce));
    bar.finish_and_clear();
    done
}
