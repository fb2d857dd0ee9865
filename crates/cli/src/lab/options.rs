//! Options that several subcommands share.

use std::{
    fs,
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use clap::{Args, ValueEnum};
use hallpass_lab::{check::Resources, space::Initial};

use crate::progress::Progress;

/// Which algorithm, and how large.
#[derive(Args, Clone)]
pub struct Size {
    /// The algorithm; `hallpass lab list` shows them all
    pub algorithm: String,
    /// How many processes compete
    #[arg(short, value_name = "N")]
    pub n: usize,
    /// How many may be in at once
    #[arg(short, value_name = "K")]
    pub k: usize,
    /// At most this many processes outside their remainder at once [default: N]
    #[arg(long, value_name = "C")]
    pub contention: Option<usize>,
    /// Initial values that the paper leaves open: try all of them, or the smallest only
    #[arg(long, value_enum, default_value_t = Start::All)]
    pub initial: Start,
}

impl Size {
    pub fn contention(&self) -> usize {
        self.contention.unwrap_or(self.n)
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Start {
    All,
    Smallest,
}

impl From<Start> for Initial {
    fn from(start: Start) -> Self {
        match start {
            Start::All => Initial::All,
            Start::Smallest => Initial::Smallest,
        }
    }
}

/// How much of the machine to use.
#[derive(Args, Clone)]
pub struct Effort {
    /// Stop after this many states and answer with what is known then
    #[arg(long, value_name = "COUNT")]
    pub states: Option<u64>,
    /// Stop at this much memory, in MiB [default: 80 % of what is available]
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// How many threads [default: all cores]
    #[arg(long, value_name = "COUNT")]
    pub threads: Option<usize>,
}

/// Set by Ctrl-C.
static STOP: LazyLock<AtomicBool> = LazyLock::new(|| AtomicBool::new(false));

/// After the first Ctrl-C a check stops and prints what it has found; a second one ends at once.
pub fn stop_on_interrupt() -> &'static AtomicBool {
    // Only the first call can succeed; all share the flag.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        crate::output::say(format_args!("stopping; Ctrl-C again ends at once, without an answer"));
    });
    &STOP
}

impl Effort {
    /// The most bytes to use.
    pub fn bytes(&self) -> u64 {
        self.memory.map_or_else(|| available_memory() / 5 * 4, |mib| mib.saturating_mul(1 << 20))
    }

    pub fn threads(&self) -> usize {
        self.threads
            .unwrap_or_else(|| thread::available_parallelism().map_or(1, |cores| cores.get()))
    }

    /// Runs `work` with these limits and a display of how far it is. `states` is the limit on states
    /// where none was asked for.
    pub fn with_resources<T>(&self, states: u64, work: impl FnOnce(&Resources<'_>) -> T) -> T {
        let progress = Progress::new();
        let phase = |text: &str| progress.phase(text);
        let report = |so_far| progress.states(so_far);
        work(&Resources {
            states: self.states.unwrap_or(states),
            bytes: self.bytes(),
            threads: self.threads(),
            stop: stop_on_interrupt(),
            phase: &phase,
            progress: &report,
        })
    }
}

/// Memory that can be used without swapping; a guess where the system does not say.
fn available_memory() -> u64 {
    const GUESS: u64 = 4 << 30;
    let Ok(text) = fs::read_to_string("/proc/meminfo") else {
        return GUESS;
    };
    text.lines()
        .find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix(" kB"))
        .and_then(|kib| kib.trim().parse::<u64>().ok())
        .map_or(GUESS, |kib| kib << 10)
}
