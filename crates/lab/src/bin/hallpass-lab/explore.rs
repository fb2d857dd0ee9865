//! `hallpass-lab explore`.

use std::{
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
};

use clap::Args as ClapArgs;
use hallpass_algorithms::registry;
use hallpass_lab::{
    catalogue,
    check::Resources,
    explorer::{
        Engine, Subject, export,
        server::{self, Server},
    },
    machine::build,
    program::{
        self, HOLDS, files,
        output::{outln, say},
        stop_on_interrupt,
    },
    schedule::MemoryModel,
    trace,
};

use crate::options::{Effort, Timestamps, count, load, with_timestamps};

/// The maximum number of states that are explored in the background, unless the user asks for more.
const STATES: u64 = 1_000_000;

#[derive(ClapArgs)]
pub struct Args {
    /// An algorithm, a file in the language of the lab, or replay strings of one algorithm (each string becomes a
    /// branch)
    #[arg(value_name = "ALGORITHM|FILE|REPLAY", default_value = "am-fig3", num_args = 1..)]
    targets: Vec<String>,
    /// The number of processes [default: 3, or another small number that the algorithm allows with K slots]
    #[arg(short, value_name = "N", value_parser = count)]
    n: Option<usize>,
    /// The number of slots [default: 2, or 1 if the algorithm or N allows no more]
    #[arg(short, value_name = "K", value_parser = count)]
    k: Option<usize>,
    /// The timestamp system under `afek` or `zehavi`
    #[arg(long, value_enum)]
    timestamps: Option<Timestamps>,
    /// Let stores go through a buffer per process, as on x86, instead of taking effect immediately
    #[arg(long)]
    tso: bool,
    /// The port on 127.0.0.1 [default: any free port]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Open the page in the default browser
    #[arg(long)]
    open: bool,
    /// Write the runs with their branches as one HTML file that needs no server, and exit
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    #[command(flatten)]
    effort: Effort,
}

/// Returns the subject to open, and the replay strings of its runs.
fn target(args: &Args) -> Result<(Subject, Vec<String>), String> {
    let (replays, algorithms): (Vec<&String>, Vec<&String>) =
        args.targets.iter().partition(|target| target.starts_with("hp1."));
    let Some(first) = replays.first() else {
        let &[algorithm] = &algorithms[..] else {
            return Err("name one algorithm, or replay strings of one algorithm".into());
        };
        load(algorithm)?;
        let id = with_timestamps(algorithm, args.timestamps);
        let (n, k) = size(&id, args.n, args.k)?;
        let memory = if args.tso { MemoryModel::StoreBuffers } else { MemoryModel::Sequential };
        return Ok((Subject::registered(&id, n, k, memory)?, Vec::new()));
    };
    if !algorithms.is_empty() || args.n.is_some() || args.k.is_some() || args.tso {
        return Err(
            "a replay string has its algorithm and size: leave out the algorithm, -n, -k and --tso"
                .into(),
        );
    }
    if let Some(path) = catalogue::file_of_replay(first) {
        load(&path)?;
    }
    let run = trace::decode(first).map_err(|error| error.to_string())?;
    let subject = Subject::registered(&run.algorithm, run.n, run.k, run.memory)?;
    Ok((subject, replays.into_iter().cloned().collect()))
}

/// Sizes for an algorithm in a file, which does not state its limits. The explorer opens the first size that
/// exists.
const SIZES: [(usize, usize); 4] = [(3, 2), (3, 1), (2, 1), (4, 3)];

/// Returns the size to open: as asked for, or a small one that the algorithm allows.
fn size(id: &str, n: Option<usize>, k: Option<usize>) -> Result<(usize, usize), String> {
    if catalogue::find(id).is_some() {
        let fits = |&(other_n, other_k): &(usize, usize)| {
            n.is_none_or(|n| n == other_n) && k.is_none_or(|k| k == other_k)
        };
        let exists = |&(n, k): &(usize, usize)| build(id, n, k).is_ok();
        let found = SIZES.iter().copied().filter(fits).find(exists);
        return Ok(found.unwrap_or_else(|| {
            let k = k.unwrap_or(1);
            (n.unwrap_or(k.saturating_add(1)), k)
        }));
    }
    let (entry, _) = registry::entry(id).map_err(|error| error.to_string())?;
    let k = k.unwrap_or_else(|| entry.max_k.min(n.map_or(2, |n| n.saturating_sub(1).clamp(1, 2))));
    Ok((n.unwrap_or(k.saturating_add(entry.min_gap)), k))
}

pub fn run(args: Args) -> program::Result {
    args.export.as_deref().map_or(Ok(()), files::check)?;
    let (subject, replays) = target(&args)?;
    if let Some(path) = &args.export {
        let page = exported(&args, subject, &replays)?;
        files::save(path, &page)?;
        say(format_args!("wrote {}", path.display()));
        return Ok(ExitCode::from(HOLDS));
    }
    let effort = server::Effort {
        states: args.effort.states.unwrap_or(STATES),
        bytes: args.effort.bytes(),
        threads: args.effort.threads(),
    };
    let server = Server::bind(args.port, subject, effort).map_err(|error| {
        format!("cannot listen on port {}: {error}; try another --port", args.port)
    })?;
    replays.iter().try_for_each(|replay| server.play(replay))?;
    let hash = replays.first().map(|replay| format!("#{}", replay.trim())).unwrap_or_default();
    let url = server.url() + &hash;
    outln!("{url}");
    say(format_args!("serving on this machine only; Ctrl-C ends it"));
    if args.open && !open_browser(&url) {
        say(format_args!("no browser could be started: open the address above"));
    }
    server.run().map_err(|error| format!("cannot serve the page: {error}"))?;
    Ok(ExitCode::from(HOLDS))
}

fn exported(args: &Args, subject: Subject, replays: &[String]) -> Result<String, String> {
    let mut engine = Engine::new(subject);
    let mut node = 0;
    for replay in replays {
        node = engine.session_mut().open(replay)?;
    }
    let explored = engine.explore(&Resources {
        states: args.effort.states.unwrap_or(STATES),
        bytes: args.effort.bytes(),
        threads: args.effort.threads(),
        stop: stop_on_interrupt(),
        phase: &|_| (),
        progress: &|_| (),
    });
    if let Err(error) = explored {
        say(format_args!("the file contains no answers from the checker: {error}"));
    }
    engine.settle();
    export(&mut engine, node)
}

/// Starts the default browser. Returns whether it could be started.
fn open_browser(url: &str) -> bool {
    let command = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = |mut command: Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
    };
    let mut browser = Command::new(command);
    browser.arg(url);
    quiet(browser)
}
