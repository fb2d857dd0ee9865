//! `hallpass lab plot`.

use std::{path::PathBuf, process::ExitCode};

use clap::{Args as ClapArgs, ValueEnum};
use hallpass_algorithms::registry::{MOST_PROCESSES, Model};
use hallpass_lab::{
    rmr::{self, Range, SearchBudget},
    schedule::Conventions,
    space::Initial,
};

use super::{HOLDS, options::Effort};

/// Exact up to this many states a point, so that a plot takes seconds and not hours.
const MOST_STATES: u64 = 500_000;

#[derive(ClapArgs)]
pub struct Args {
    /// The algorithms to draw
    #[arg(required = true)]
    algorithms: Vec<String>,
    /// How many may be in at once
    #[arg(short, value_name = "K")]
    k: usize,
    /// The largest number of processes
    #[arg(short, long = "to", value_name = "N", default_value_t = 16)]
    to: usize,
    /// Which remote references
    #[arg(long, value_enum, default_value_t = Machine::Cc)]
    machine: Machine,
    /// At most this many processes outside their remainder at once [default: all]
    #[arg(long, value_name = "C")]
    contention: Option<usize>,
    /// How many steps the search may take for each point
    #[arg(long, value_name = "COUNT", default_value_t = 5_000_000)]
    search_steps: u64,
    /// Where to write the picture, an SVG
    #[arg(short, long, value_name = "FILE", default_value = "rmr.svg")]
    out: PathBuf,
    #[command(flatten)]
    effort: Effort,
}

#[derive(Clone, Copy, ValueEnum)]
enum Machine {
    Cc,
    Dsm,
}

pub fn run(args: Args) -> super::Result {
    if args.to <= args.k || args.to > MOST_PROCESSES {
        let k = args.k;
        return Err(
            format!("--to must be larger than k = {k}, and {MOST_PROCESSES} at most").into()
        );
    }
    if args.contention.is_some_and(|contention| contention == 0 || contention > args.to) {
        return Err(format!("contention must be from 1 to {}", args.to).into());
    }
    crate::files::check(&args.out)?;
    let budget = SearchBudget { steps: args.search_steps, ..SearchBudget::default() };
    let curves = args.effort.with_resources(MOST_STATES, |resources| {
        let curve = |algorithm: &String| {
            let range = Range {
                algorithm: algorithm.clone(),
                k: args.k,
                model: match args.machine {
                    Machine::Cc => Model::Cc,
                    Machine::Dsm => Model::Dsm,
                },
                ns: (args.k + 1..=args.to).collect(),
                contention: args.contention,
                conventions: Conventions::default(),
                initial: Initial::All,
            };
            let points = rmr::curve(&range, resources, &budget)?;
            Ok((range, points))
        };
        args.algorithms.iter().map(curve).collect::<Result<Vec<_>, hallpass_lab::check::Error>>()
    })?;
    let svg = rmr::plot(&rmr::plot_of(&curves)).map_err(|error| error.to_string())?;
    crate::files::save(&args.out, &svg)?;
    crate::output::say(format_args!("wrote {}", args.out.display()));
    Ok(ExitCode::from(HOLDS))
}
