//! `hallpass-bench`, which `hallpass bench` runs: measures semaphores, halls and objects side by side.
#![forbid(unsafe_code)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand, value_parser};
use hallpass_bench::{
    contestants::{self, Camp, Contestant},
    machines,
    measure::Plan,
    objects, plot,
    processes::{self, options::Options},
    report::Report,
    table, workloads,
};
use hallpass_lab::program::{
    self, HOLDS, PARTIAL, Result as Ended, files,
    output::{out, outln, say},
    stop_on_interrupt,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A millisecond, in nanoseconds: with longer work nobody would see the semaphore.
const LONGEST_WORK: u64 = 1_000_000;

/// Measures semaphores side by side: time for each passage, fairness, waits
#[derive(Parser)]
#[command(name = "hallpass-bench", version, args_conflicts_with_subcommands = true)]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Less time and fewer rounds: about ten seconds, and rougher figures
    #[arg(long)]
    quick: bool,
    /// Run only contestants whose name contains this, and the floor
    #[arg(long, value_name = "TEXT", num_args = 1..)]
    only: Vec<String>,
    /// Run only these: alone, contended, oversubscribed, latency, or one such as alone-k4
    #[arg(long, value_name = "NAME", num_args = 1..)]
    workload: Vec<String>,
    /// Run the algorithms of the papers as well
    #[arg(long)]
    papers: bool,
    /// How long each contestant runs in each round, in milliseconds [default: 200, or 40]
    #[arg(long, value_name = "MS", value_parser = value_parser!(u64).range(1..=60_000))]
    time: Option<u64>,
    /// How many rounds; medians over them are shown [default: 5, or 3]
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u64).range(1..=1_000))]
    rounds: Option<u64>,
    /// Nanoseconds of work inside, where there is some
    #[arg(long, value_name = "NS", default_value_t = 100)]
    #[arg(value_parser = value_parser!(u64).range(..=LONGEST_WORK))]
    inside: u64,
    /// Nanoseconds of work outside, where there is some
    #[arg(long, value_name = "NS", default_value_t = 100)]
    #[arg(value_parser = value_parser!(u64).range(..=LONGEST_WORK))]
    outside: u64,
    /// Write the plots to this directory
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Among processes: passages, what happens when a holder is killed, what waiting costs
    Processes(Options),
    /// Among machines: halls on clusters of etcd that are started for it, next to etcdctl lock
    Machines(machines::options::Options),
    /// Shared objects: operations on a priority queue, while threads are paused or stopped inside
    Objects(objects::options::Options),
}

fn main() -> ExitCode {
    program::finish(run(Args::parse()))
}

fn run(args: Args) -> Ended {
    match &args.command {
        Some(Command::Processes(options)) => return run_among_processes(options),
        Some(Command::Machines(options)) => return run_among_machines(options),
        Some(Command::Objects(options)) => return run_on_objects(options),
        None => {}
    }
    let plan = plan(&args)?;
    prepare(&args.out, plot::names(&plan.workloads))?;
    let report = measure(&plan);
    if report.is_empty() {
        return nothing();
    }
    match args.json {
        true => outln!("{}", report.to_json()),
        false => out!("{}", table::table(&report)),
    }
    save(&args.out, plot::plots(&report).map_err(|error| error.to_string())?)?;
    Ok(ExitCode::from(if report.complete { HOLDS } else { PARTIAL }))
}

fn run_among_processes(options: &Options) -> Ended {
    let plan = options.plan()?;
    let bar = bar(plan.steps());
    let report = plan.run(stop_on_interrupt(), |what| {
        bar.set_message(what);
        bar.inc(1);
    });
    bar.finish_and_clear();
    let report = report?;
    match options.json {
        true => outln!("{}", report.to_json()),
        false => out!("{}", processes::table::table(&report)),
    }
    Ok(ExitCode::from(if report.complete { HOLDS } else { PARTIAL }))
}

fn run_among_machines(options: &machines::options::Options) -> Ended {
    let plan = options.plan()?;
    let bar = bar(plan.steps());
    let mut begun = 0;
    let report = plan.run(stop_on_interrupt(), &mut |what| {
        bar.set_position(begun);
        bar.set_message(what);
        begun += 1;
    });
    bar.finish_and_clear();
    let report = report?;
    if report.is_empty() {
        return nothing();
    }
    match options.json {
        true => outln!("{}", report.to_json()),
        false => out!("{}", machines::table::table(&report)),
    }
    Ok(ExitCode::from(if report.complete { HOLDS } else { PARTIAL }))
}

fn run_on_objects(options: &objects::options::Options) -> Ended {
    let plan = options.plan()?;
    prepare(&options.out, objects::plot::names(&plan.parts))?;
    let bar = bar(plan.steps());
    let mut begun = 0;
    let report = plan.run(stop_on_interrupt(), &mut |what| {
        bar.set_position(begun);
        bar.set_message(what);
        begun += 1;
    });
    bar.finish_and_clear();
    let report = report?;
    if report.is_empty() {
        return nothing();
    }
    match options.json {
        true => outln!("{}", report.to_json()),
        false => out!("{}", objects::table::table(&report)),
    }
    save(&options.out, objects::plot::plots(&report).map_err(|error| error.to_string())?)?;
    Ok(ExitCode::from(if report.complete { HOLDS } else { PARTIAL }))
}

fn nothing() -> Ended {
    say(format_args!("stopped before anything was measured"));
    Ok(ExitCode::from(PARTIAL))
}

/// Makes the folder for plots. Whoever cannot write there wants to know before it is over.
fn prepare(folder: &Path, names: Vec<String>) -> Result<(), String> {
    fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make {}: {}", folder.display(), error.kind()))?;
    names.iter().try_for_each(|name| files::check(&folder.join(name)))
}

fn plan(args: &Args) -> Result<Plan, String> {
    let (time_ms, rounds) = if args.quick { (40, 3) } else { (200, 5) };
    let workloads = workloads::all(args.inside, args.outside);
    Ok(Plan {
        workloads: workloads::select(workloads, &args.workload)?,
        contestants: contestants(args)?,
        time_ms: args.time.unwrap_or(time_ms),
        rounds: args.rounds.unwrap_or(rounds) as usize,
    })
}

/// The floor, and those that were asked for.
fn contestants(args: &Args) -> Result<Vec<Contestant>, String> {
    let mut field = contestants::field();
    if args.papers {
        field.extend(contestants::papers());
    }
    let names = |field: &[Contestant]| field.iter().map(|one| one.name).collect::<Vec<_>>();
    for text in &args.only {
        let matches = |name: &&str| name.contains(text.as_str());
        if names(&field).iter().any(matches) {
            continue;
        }
        return Err(match names(&contestants::papers()).iter().any(matches) {
            true => format!("`{text}` is found in the papers only: add --papers"),
            false => format!(
                "no contestant's name contains `{text}`; there are {}{}",
                names(&field).join(", "),
                if args.papers { "" } else { ", and more with --papers" }
            ),
        });
    }
    field.retain(|one| {
        let asked = args.only.iter().any(|text| one.name.contains(text.as_str()));
        args.only.is_empty() || one.camp == Camp::Floor || asked
    });
    Ok(field)
}

/// Measures behind a bar, which is drawn only between steps so that it disturbs none; in a pipe,
/// without one.
fn measure(plan: &Plan) -> Report {
    let bar = bar(plan.steps());
    let mut begun = 0;
    let report = plan.run(stop_on_interrupt(), |step| {
        bar.set_position(begun);
        bar.set_message(format!("{} {}", step.workload.name(), step.contestant.name));
        begun += 1;
    });
    bar.finish_and_clear();
    report
}

fn bar(steps: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
    match ProgressStyle::with_template("{bar:30} {pos}/{len} {eta} {wide_msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn save(folder: &Path, plots: Vec<(String, String)>) -> Result<(), String> {
    for (name, svg) in plots {
        let path = folder.join(name);
        files::save(&path, &svg)?;
        say(format_args!("wrote {}", path.display()));
    }
    Ok(())
}
