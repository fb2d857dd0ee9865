//! `hallpass-lab check`.

use std::{path::PathBuf, process::ExitCode};

use clap::{
    Args as ClapArgs,
    builder::{PossibleValuesParser, TypedValueParser},
};
use hallpass_lab::{
    catalogue::author,
    check::{Outcome, Property, Question, Report, Verdict, check},
    explore::MOST_STATES,
    graph::Bound,
    program::{
        self, HOLDS, PARTIAL, VIOLATED, files,
        output::{outln, say},
    },
    schedule::{MemoryModel, Schedule},
};
use indicatif::HumanCount;

use crate::{
    options::{Effort, Size},
    show,
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    size: Size,
    /// The properties to check. A violation of any of them fails the check [default: all properties; then
    /// only a violation of what the paper or the file promises fails the check]
    #[arg(short, long = "property", value_name = "PROPERTY", value_delimiter = ',')]
    #[arg(value_parser = property())]
    properties: Vec<Property>,
    /// How many processes may stop permanently outside their remainder [default: the number that the
    /// paper or the file promises to survive, K-1 for most]
    #[arg(short = 'f', long, value_name = "F")]
    crashes: Option<usize>,
    /// Let stores go through a buffer for each process, as on x86, instead of taking effect immediately
    #[arg(long)]
    tso: bool,
    /// Merge states that differ only by a renaming of processes. Works for exclusion, names and invariants, and with
    /// --compact also for starvation
    #[arg(long)]
    symmetry: bool,
    /// Use less memory and more time. Works for every property except bypass, with at most 8 processes; exclusion, names
    /// and invariants always use little memory if nothing else is asked for
    #[arg(long)]
    compact: bool,
    /// Merge states that differ only in values that are overwritten before any process reads them. Works for
    /// zehavi, for every property except invariants
    #[arg(long)]
    forget: bool,
    /// Show the run for this property step by step [default: the first violation of a promise]
    #[arg(long, value_name = "PROPERTY", value_parser = property())]
    show: Option<Property>,
    /// Write that run as an HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    effort: Effort,
}

/// Parses the name of a property.
fn property() -> impl TypedValueParser<Value = Property> {
    let names = Property::ALL.map(Property::name);
    PossibleValuesParser::new(names).map(|name| {
        Property::from_name(&name).expect("the parser accepts only names of properties")
    })
}

fn question(args: &Args) -> Result<Question, String> {
    let size = &args.size;
    let mut question = Question::everything(&size.id()?, size.n, size.k);
    question.contention = size.contention();
    question.initial = size.initial.into();
    question.symmetry = args.symmetry;
    question.compact = args.compact;
    question.forget = args.forget;
    question.crashes = args.crashes.unwrap_or(question.crashes);
    if args.tso {
        question.memory = MemoryModel::StoreBuffers;
    }
    if !args.properties.is_empty() {
        question = question.only(args.properties.clone());
    } else {
        question.properties.retain(|property| {
            let starvation = args.compact && *property == Property::Starvation;
            (!args.symmetry || property.is_safety() || starvation)
                && (!args.compact || property.is_compact())
                && (!args.forget || *property != Property::Invariants)
        });
    }
    Ok(question)
}

pub fn run(args: Args) -> program::Result {
    args.html.as_deref().map_or(Ok(()), files::check)?;
    let question = question(&args)?;
    let report =
        args.effort.with_resources(MOST_STATES, |resources| check(&question, resources))?;
    let shown = shown(&report, args.show);
    if args.json {
        outln!("{}", report.to_json());
    } else {
        print(&report, shown);
    }
    if let (Some(property), None) = (args.show, shown) {
        say(format_args!("there is no run to show for {}", property.name()));
    }
    if let Some(path) = &args.html {
        match shown {
            Some(run) => show::save_page(run, path)?,
            None => say(format_args!("no page is written: there is no run to show (see --show)")),
        }
    }
    Ok(ExitCode::from(match report.verdict() {
        Verdict::Violated => VIOLATED,
        Verdict::Partial => PARTIAL,
        Verdict::Holds | Verdict::NotChecked => HOLDS,
    }))
}

/// Returns the outcomes of the properties, in the order in which they are printed.
fn outcomes(report: &Report) -> impl Iterator<Item = (&str, &Outcome)> {
    let listed = Property::ALL.iter().map(|property| property.name());
    let order = ["range"].into_iter().chain(listed);
    order.filter_map(|name| report.properties.get(name).map(|outcome| (name, outcome)))
}

/// Returns the run to show step by step: the requested run, or the first violation of a promise.
fn shown(report: &Report, wanted: Option<Property>) -> Option<&Schedule> {
    if let Some(property) = wanted {
        return report.outcome(property).run.as_ref();
    }
    let broken_promise = outcomes(report)
        .find(|(name, outcome)| outcome.verdict == Verdict::Violated && report.is_promised(name));
    broken_promise?.1.run.as_ref()
}

fn print(report: &Report, shown: Option<&Schedule>) {
    let question = &report.question;
    let verdict = match report.verdict() {
        Verdict::Violated => "VIOLATED",
        Verdict::Partial => "partial: no violation found, but not every state was explored",
        Verdict::Holds | Verdict::NotChecked => "holds",
    };
    outln!("{}, n = {}, k = {}: {verdict}", question.algorithm, question.n, question.k);
    outln!(
        "{} states, {} transitions, depth {}; {:.1} bytes per state; {:.2} s\n",
        HumanCount(report.states),
        HumanCount(report.transitions),
        report.depth,
        report.bytes_per_state,
        report.seconds
    );
    for (name, outcome) in outcomes(report) {
        outln!("  {name:<12} {:<9} {}", word(outcome.verdict), remark(report, name, outcome));
    }
    outln!("\nScope of this result:");
    for limit in report.limits() {
        outln!("  - {limit}");
    }
    let mut runs =
        outcomes(report).filter_map(|(name, outcome)| Some((name, outcome.run.as_ref()?)));
    if let Some(first) = runs.next() {
        outln!("\nRuns (`hallpass-lab replay STRING` steps through one):");
        for (name, run) in std::iter::once(first).chain(runs) {
            outln!("  {name:<12} {}", show::string(run));
        }
    }
    match shown {
        Some(run) => {
            outln!("");
            show::print(run);
        }
        None => outln!("\n{}: {verdict}", question.algorithm),
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "VIOLATED",
        Verdict::Partial => "partial",
        Verdict::NotChecked => "-",
    }
}

fn remark(report: &Report, name: &str, outcome: &Outcome) -> String {
    let mut remarks = Vec::new();
    if let Some(resilience) = outcome.resilience {
        let at_most = if report.is_complete() { "" } else { "at most " };
        let plural = if resilience == 1 { "" } else { "es" };
        let stopped = format!("{at_most}{resilience} stopped process{plural}");
        remarks.push(match (name, resilience) {
            ("deadlock", 0) => "all processes can block even if none has stopped".into(),
            ("deadlock", _) => format!("{stopped} can block all others"),
            (_, 0) => "resilience 0: a process can starve even if none has stopped".into(),
            _ => format!("resilience {at_most}{resilience}: {stopped} can starve another"),
        });
    }
    // If only some states were explored, the bound that was found is a lower bound.
    let qualifier = if outcome.verdict == Verdict::Partial { "at least" } else { "at most" };
    match outcome.bound {
        Some(Bound::Most(times)) if name == Property::Bypass.name() => {
            remarks.push(format!("{qualifier} {times} overtakings of one process"));
        }
        Some(Bound::Most(steps)) => remarks.push(format!("{qualifier} {steps} own steps")),
        Some(Bound::Unbounded) => remarks.push("no bound".into()),
        None => {}
    }
    remarks.extend(outcome.note.clone());
    if outcome.verdict == Verdict::Violated && !report.is_promised(name) {
        remarks.push(format!("{} does not promise it", author(&report.question.algorithm)));
    }
    remarks.join("; ")
}
