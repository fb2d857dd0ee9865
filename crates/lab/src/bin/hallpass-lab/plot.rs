//! `hallpass-lab plot`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args as ClapArgs;
use hallpass_algorithms::registry::MAX_PROCESSES;
use hallpass_lab::{
    program::{self, HOLDS, files, output::say},
    rmr::{self, Over, Range, SearchBudget},
    space::Initial,
};

use crate::options::{Counting, Effort, Machine, count, load};

/// A point with at most this many states is exact. For a larger point, a search finds a lower bound. The limit is small
/// enough that a plot takes seconds.
const MOST_STATES: u64 = 500_000;

#[derive(ClapArgs)]
pub struct Args {
    /// The algorithms to draw: identifiers or files
    #[arg(required = true)]
    algorithms: Vec<String>,
    /// The number of slots. Leave it out with --gap
    #[arg(short, value_name = "K", value_parser = count)]
    k: Option<usize>,
    /// Draw against k, for n = k + GAP processes, instead of against n
    #[arg(long, value_name = "GAP", conflicts_with = "k", value_parser = count)]
    gap: Option<usize>,
    /// The largest number of processes
    #[arg(short, long = "to", value_name = "N", default_value_t = 16, value_parser = count)]
    to: usize,
    /// The cost model
    #[arg(long, value_enum, default_value_t = Machine::Cc)]
    machine: Machine,
    /// Let at most this many processes be outside their remainder at once [default: all]
    #[arg(long, value_name = "C")]
    contention: Option<usize>,
    /// How many steps the search may take for each point
    #[arg(long, value_name = "COUNT", default_value_t = 5_000_000)]
    search_steps: u64,
    /// The SVG file to write. An existing file is replaced
    #[arg(short, long, value_name = "FILE", default_value = "rmr.svg")]
    out: PathBuf,
    #[command(flatten)]
    counting: Counting,
    #[command(flatten)]
    effort: Effort,
}

impl Args {
    fn over(&self) -> Result<Over, String> {
        let to = self.to;
        if to > MAX_PROCESSES {
            return Err(format!("--to must be at most {MAX_PROCESSES}"));
        }
        match (self.k, self.gap) {
            (_, Some(gap)) if gap == 0 || gap >= to => {
                Err(format!("--gap must be at least 1 and less than --to = {to}, for n > k >= 1"))
            }
            (_, Some(gap)) => Ok(Over::K { gap, ks: (1..=to - gap).collect() }),
            (Some(k), None) if k < to => Ok(Over::N { k, ns: (k + 1..=to).collect() }),
            (Some(k), None) => Err(format!("--to must be larger than k = {k}")),
            (None, None) => Err("which sizes? Add -k K to draw against n, or --gap GAP to draw \
                                 against k, for n = k + GAP"
                .into()),
        }
    }
}

pub fn run(args: Args) -> program::Result {
    let over = args.over()?;
    if args.contention.is_some_and(|contention| contention == 0 || contention > args.to) {
        return Err(format!("contention must be from 1 to {}", args.to).into());
    }
    files::check(&args.out)?;
    args.algorithms.iter().try_for_each(|algorithm| load(algorithm))?;
    let budget = SearchBudget { steps: args.search_steps, ..SearchBudget::default() };
    let curves = args.effort.with_resources(MOST_STATES, |resources| {
        let curve = |algorithm: &String| {
            let range = Range {
                algorithm: algorithm.clone(),
                model: args.machine.into(),
                over: over.clone(),
                contention: args.contention,
                conventions: args.counting.conventions(),
                initial: Initial::All,
            };
            let points = rmr::curve(&range, resources, &budget)?;
            Ok((range, points))
        };
        args.algorithms.iter().map(curve).collect::<Result<Vec<_>, hallpass_lab::check::Error>>()
    })?;
    if program::is_stopped() {
        return Err(format!("stopped: {} is not written", args.out.display()).into());
    }
    let svg = rmr::plot(&rmr::plot_of(&curves)).map_err(|error| error.to_string())?;
    files::save(&args.out, &svg)?;
    say(format_args!("wrote {}", args.out.display()));
    Ok(ExitCode::from(HOLDS))
}
