//! Options that several subcommands share.

use std::{
    fs,
    io::IsTerminal,
    num::{IntErrorKind, ParseIntError},
    thread,
};

use clap::{Args, ValueEnum};
use hallpass_algorithms::registry::{MAX_PROCESSES, NAMES};
use hallpass_lab::{
    catalogue::{self, LoadError},
    check::Resources,
    program::stop_on_interrupt,
    schedule::{CacheAtStart, Conventions, CostModel, FailedRmw, WriterCopy},
    space::Initial,
};

use hallpass_language::EXTENSION;

use crate::{progress::Progress, suggest::check_known};

/// The algorithm and its size.
#[derive(Args, Clone)]
pub struct Size {
    /// The algorithm: an identifier that `hallpass-lab list` lists, or a file in the language of the lab, such as my.kx
    pub algorithm: String,
    /// The number of processes
    #[arg(short, value_name = "N", value_parser = count)]
    pub n: usize,
    /// The number of slots: processes that may be in their critical sections at once
    #[arg(short, value_name = "K", value_parser = count)]
    pub k: usize,
    /// The timestamp system on which `afek` or `zehavi` runs
    #[arg(long, value_enum)]
    pub timestamps: Option<Timestamps>,
    /// Let at most this many processes be outside their remainder at once [default: N]
    #[arg(long, value_name = "C", value_parser = count)]
    pub contention: Option<usize>,
    /// The initial values of variables that the algorithm leaves open: all values, or only the smallest
    #[arg(long, value_enum, default_value_t = Start::All)]
    pub initial: Start,
}

/// Parses a number of processes or slots.
pub fn count(text: &str) -> Result<usize, String> {
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => {
            format!("it is too large: an algorithm has at most {MAX_PROCESSES} processes")
        }
        _ => "it is not a number".to_string(),
    })
}

impl Size {
    /// Returns the algorithm's identifier, with the timestamp system in it: `afek@linear`. If the algorithm is a file,
    /// loads it first.
    pub fn id(&self) -> Result<String, String> {
        load(&self.algorithm)?;
        Ok(with_timestamps(&self.algorithm, self.timestamps))
    }

    pub fn contention(&self) -> usize {
        self.contention.unwrap_or(self.n)
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Timestamps {
    /// Unbounded; the default
    Uctss,
    /// Bounded, Label and Scan in O(n)
    Linear,
    /// Bounded, Label and Scan in O(n^2), at most 4 processes
    Quadratic,
}

/// Inserts the timestamp system into an identifier, before `+names` and before the name of a wrong
/// variant.
pub fn with_timestamps(algorithm: &str, timestamps: Option<Timestamps>) -> String {
    let system = match timestamps {
        None | Some(Timestamps::Uctss) => return algorithm.to_string(),
        Some(Timestamps::Linear) => "@linear",
        Some(Timestamps::Quadratic) => "@quadratic",
    };
    let at = algorithm.find(['+', ':']).unwrap_or(algorithm.len());
    let (name, rest) = algorithm.split_at(at);
    format!("{name}{system}{rest}")
}

/// Loads `algorithm` if it is a file of the language, and prints its warnings. From then on, its path is an
/// identifier like those of the registry.
///
/// # Errors
/// Fails if the file has errors, or if no algorithm has this identifier.
pub fn load(algorithm: &str) -> Result<(), String> {
    let path = algorithm.strip_suffix(NAMES).unwrap_or(algorithm);
    if !path.ends_with(EXTENSION) {
        return check_known(algorithm);
    }
    load_as(path, path)
}

/// Loads the file at `path` with another identifier.
pub fn load_as(path: &str, id: &str) -> Result<(), String> {
    let color = std::io::stderr().is_terminal();
    match catalogue::load_as(path, id) {
        Ok(file) if file.warnings.is_empty() => Ok(()),
        Ok(file) => {
            eprint!("{}", file.render_warnings(color));
            Ok(())
        }
        Err(LoadError::Errors(errors)) => {
            let count = errors.diagnostics.iter().filter(|it| !it.is_warning).count();
            let plural = if count == 1 { "" } else { "s" };
            eprint!("{}", errors.render(color));
            Err(format!("{path} has {count} error{plural}"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The rules for counting remote references.
#[derive(Args, Clone)]
pub struct Counting {
    /// The effect of a write on the writer's own cached copy
    #[arg(long, value_enum, default_value_t = OwnCopy::AsItWas)]
    writer_copy: OwnCopy,
    /// How to count a read-modify-write that fails, such as a compare-and-swap that finds another value
    #[arg(long, value_enum, default_value_t = Failed::Write)]
    failed_rmw: Failed,
    /// The state of the cache when a passage begins
    #[arg(long, value_enum, default_value_t = Cache::Cold)]
    cache: Cache,
}

#[derive(Clone, Copy, ValueEnum)]
enum OwnCopy {
    AsItWas,
    Gained,
    Lost,
}

#[derive(Clone, Copy, ValueEnum)]
enum Failed {
    Write,
    Read,
}

#[derive(Clone, Copy, ValueEnum)]
enum Cache {
    Cold,
    Warm,
}

impl Counting {
    pub fn conventions(&self) -> Conventions {
        Conventions {
            writer_copy: match self.writer_copy {
                OwnCopy::AsItWas => WriterCopy::AsItWas,
                OwnCopy::Gained => WriterCopy::Gained,
                OwnCopy::Lost => WriterCopy::Lost,
            },
            failed_rmw: match self.failed_rmw {
                Failed::Write => FailedRmw::Write,
                Failed::Read => FailedRmw::Read,
            },
            cache: match self.cache {
                Cache::Cold => CacheAtStart::Cold,
                Cache::Warm => CacheAtStart::Warm,
            },
        }
    }
}

/// The cost model.
#[derive(Clone, Copy, ValueEnum)]
pub enum Machine {
    Cc,
    Dsm,
}

impl From<Machine> for CostModel {
    fn from(machine: Machine) -> Self {
        match machine {
            Machine::Cc => CostModel::Cc,
            Machine::Dsm => CostModel::Dsm,
        }
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

/// Limits on states, memory and threads.
#[derive(Args, Clone)]
pub struct Effort {
    /// Stop after this many states and report a partial result
    #[arg(long, value_name = "COUNT")]
    pub states: Option<u64>,
    /// Stop at this much memory, in MiB [default: 80 % of the available memory]
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// The number of threads [default: one per core]
    #[arg(long, value_name = "COUNT")]
    pub threads: Option<usize>,
}

impl Effort {
    /// Returns the memory limit in bytes.
    pub fn bytes(&self) -> u64 {
        self.memory.map_or_else(|| available_memory() / 5 * 4, |mib| mib.saturating_mul(1 << 20))
    }

    pub fn threads(&self) -> usize {
        self.threads
            .unwrap_or_else(|| thread::available_parallelism().map_or(1, |cores| cores.get()))
    }

    /// Runs `work` with these limits and a progress display. `states` is the default limit on
    /// states.
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

/// Returns the memory that can be used without swapping. If the system does not report it, returns a
/// guess.
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
