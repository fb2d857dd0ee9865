//! `hallpass-lab rmr`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args as ClapArgs;
use hallpass_lab::{
    catalogue::author,
    graph::Bound,
    machine,
    program::{self, HOLDS, PARTIAL, VIOLATED, files, output::outln},
    rmr::{self, Comparison, Figure, Question, Report, SearchBudget},
    schedule::{CacheAtStart, Conventions, FailedRmw, Schedule, WriterCopy},
};
use indicatif::HumanCount;

use crate::{
    options::{Counting, Effort, Machine, Size},
    show,
};

/// The default limit on states of the exhaustive exploration. If there are more states, a search
/// finds bad schedules sooner.
const MOST_STATES: u64 = 30_000_000;

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    size: Size,
    #[command(flatten)]
    counting: Counting,
    /// How many steps the search may take if there are too many schedules to explore
    #[arg(long, value_name = "COUNT", default_value_t = 20_000_000)]
    search_steps: u64,
    /// Only search for bad schedules; do not try to explore all schedules
    #[arg(long)]
    search_only: bool,
    /// Show the worst passage under this cost model step by step
    #[arg(long, value_enum)]
    show: Option<Machine>,
    /// Write the passage of --show as an HTML page
    #[arg(long, value_name = "FILE", requires = "show")]
    html: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    effort: Effort,
}

pub fn run(args: Args) -> program::Result {
    args.html.as_deref().map_or(Ok(()), files::check)?;
    let size = &args.size;
    let question = Question {
        algorithm: size.id()?,
        n: size.n,
        k: size.k,
        contention: size.contention(),
        conventions: args.counting.conventions(),
        initial: size.initial.into(),
    };
    let budget = SearchBudget { steps: args.search_steps, ..SearchBudget::default() };
    let report = args.effort.with_resources(MOST_STATES, |resources| {
        if args.search_only {
            rmr::search(&question, &budget, resources.stop)
        } else {
            rmr::measure(&question, resources, &budget)
        }
    })?;
    let shown: Option<&Schedule> = args.show.and_then(|machine| match machine {
        Machine::Cc => report.cc.run.as_ref(),
        Machine::Dsm => report.dsm.run.as_ref(),
    });
    if args.json {
        outln!("{}", report.to_json());
    } else {
        print(&report);
    }
    show::requested(shown, args.json, args.html.as_deref())?;
    Ok(ExitCode::from(status(&report)))
}

/// Returns the exit status. A run that exceeds the paper's bound is a violation.
fn status(report: &Report) -> u8 {
    let figures = [&report.cc, &report.dsm];
    let exceeded = |figure: &&Figure| {
        matches!(figure.comparison(), Some(Comparison::Exceeded(_) | Comparison::Unbounded))
    };
    if figures.iter().any(exceeded) {
        VIOLATED
    } else if figures.iter().any(|figure| !figure.exact) {
        PARTIAL
    } else {
        HOLDS
    }
}

fn print(report: &Report) {
    let question = &report.question;
    outln!(
        "{}, n = {}, k = {}, contention {}: worst passage in remote references",
        question.algorithm,
        question.n,
        question.k,
        question.contention
    );
    let states = HumanCount(report.states);
    let all = if report.is_exact() { "exhaustively" } else { "(not all schedules)" };
    outln!("{states} states explored {all}, {:.2} s\n", report.seconds);
    for (name, figure) in [("CC", &report.cc), ("DSM", &report.dsm)] {
        let worst = match figure.worst {
            Bound::Most(count) if figure.exact => format!("{count}"),
            Bound::Most(count) => format!("at least {count}"),
            Bound::Unbounded => "unbounded".into(),
        };
        outln!("  {name:<4} {worst:<12} {}", against_bound(figure, author(&question.algorithm)));
        if let Some(run) = &figure.run {
            outln!("       {}", show::string(run));
        }
    }
    outln!("\nScope of this result:");
    let mishap = machine::build(&question.algorithm, question.n, question.k)
        .ok()
        .and_then(|machine| (0..machine.n()).find_map(|p| machine.mishap(p)));
    if report.is_exact() {
        outln!("  - every schedule of this size, sequentially consistent");
        if let Some(mishap) = mishap {
            outln!(
                "  - a mishap ({}) may hit any process at any time, any number of times",
                mishap.name
            );
        }
    } else {
        outln!("  - sequentially consistent");
        outln!(
            "  - \"at least\" is a LOWER BOUND: not all schedules were explored for that figure"
        );
    }
    outln!("  - a passage lasts from leaving the remainder until returning to it");
    outln!("  - CC: write-through, write-invalidate; {}", rules(question.conventions));
    outln!("  - DSM: an access is remote unless the variable is in the memory of the process");
}

fn rules(conventions: Conventions) -> String {
    format!(
        "a write leaves the writer's own copy {}; a failed read-modify-write counts \
         as a {}; the cache is {} when a passage begins",
        match conventions.writer_copy {
            WriterCopy::AsItWas => "as it was",
            WriterCopy::Gained => "valid",
            WriterCopy::Lost => "invalid",
        },
        match conventions.failed_rmw {
            FailedRmw::Write => "write",
            FailedRmw::Read => "read",
        },
        match conventions.cache {
            CacheAtStart::Cold => "cold",
            CacheAtStart::Warm => "warm",
        },
    )
}

/// Compares a figure with its stated bound. `author` says who states bounds: "the paper" or "the
/// file", for example.
fn against_bound(figure: &Figure, author: &str) -> String {
    let (Some(claim), Some(comparison)) = (&figure.claim, figure.comparison()) else {
        return format!("({author} states no bound)");
    };
    let comparison = match comparison {
        Comparison::Tight => "tight".into(),
        Comparison::Loose(by) => format!("loose by {by}"),
        Comparison::NotReached(by) => format!("not reached so far, {by} below"),
        Comparison::Reached => "reached".into(),
        Comparison::Exceeded(by) => format!("EXCEEDED by {by}"),
        Comparison::Unbounded => "EXCEEDED without bound".into(),
    };
    format!("{} states {} = {}: {comparison}", claim.source, claim.formula, claim.bound)
}
