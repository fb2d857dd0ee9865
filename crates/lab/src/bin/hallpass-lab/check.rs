//! `hallpass-lab check`.

use std::{path::PathBuf, process::ExitCode};

use clap::{
    Args as ClapArgs,
    builder::{PossibleValuesParser, TypedValueParser},
};
use hallpass_lab::{
    catalogue::author,
    check::{Outcome, Property, Question, Report, Verdict, check},
    counted::counted,
    explore::MOST_STATES,
    graph::Bound,
    program::{
        self, HOLDS, PARTIAL, VIOLATED, files,
        output::{outln, say},
    },
    schedule::{MemoryModel, Schedule},
    space::Initial,
};
use indicatif::HumanCount;

use crate::{
    options::{Effort, Size, count},
    show,
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    size: Size,
    /// The properties to check. A violation of any of them fails the check [default: all properties, but bypass only if
    /// the paper or the file promises it; without this option, only the violation of a promise fails the check]
    #[arg(short, long = "property", value_name = "PROPERTY", value_delimiter = ',')]
    #[arg(value_parser = property())]
    properties: Vec<Property>,
    /// How many processes may stop permanently outside their remainder [default: the number that the
    /// paper or the file promises to survive, K-1 for most]
    #[arg(short = 'f', long, value_name = "F", value_parser = count)]
    crashes: Option<usize>,
    /// Let stores go through a buffer for each process, as on x86, instead of taking effect immediately
    #[arg(long)]
    tso: bool,
    /// Merge states that differ only by a renaming of processes. Works for exclusion, names and invariants, and with
    /// --compact also for starvation
    #[arg(long)]
    symmetry: bool,
    /// Use less memory and more time. Works for every property except bypass; most properties need at most 8 processes
    /// and no --tso. Exclusion, names and invariants work without these limits, and always use little memory if nothing
    /// else is asked for
    #[arg(long)]
    compact: bool,
    /// Merge states that differ only in values that are overwritten before any process reads them. Works for
    /// zehavi, for every property except invariants
    #[arg(long)]
    forget: bool,
    /// Make every step, even if another order of the same steps makes it superfluous. Takes more time, and the answers
    /// are the same
    #[arg(long)]
    every_step: bool,
    /// Show the run for this property step by step [default: the first violation of a promise]
    #[arg(long, value_name = "PROPERTY", value_parser = property())]
    show: Option<Property>,
    /// Write the run that is shown as an HTML page
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
    question.every_step = args.every_step;
    question.crashes = args.crashes.unwrap_or(question.crashes);
    if args.tso {
        question.memory = MemoryModel::StoreBuffers;
    }
    Ok(match args.properties.is_empty() {
        true => question.supported(),
        false => question.only(args.properties.clone()),
    })
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
        print(&report, &args, shown);
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

/// Returns the verdict in a few words.
fn headline(report: &Report, args: &Args) -> String {
    match report.verdict() {
        Verdict::Violated => "VIOLATED".into(),
        Verdict::Partial => {
            let mut reasons = Vec::new();
            if !report.covers_all_runs() {
                reasons.push("not every state was explored".to_string());
            }
            reasons.extend(report.not_checked().map(|text| format!("not checked: {text}")));
            format!("partial: no violation found, but {}", reasons.join("; "))
        }
        Verdict::Holds | Verdict::NotChecked => {
            let mut words = "holds".to_string();
            if !args.properties.is_empty() {
                let was_checked = |outcome: &Outcome| outcome.verdict != Verdict::NotChecked;
                let checked = outcomes(report).filter(|(_, outcome)| was_checked(outcome));
                let names: Vec<&str> = checked.map(|(name, _)| name).collect();
                words += &format!(" for {}", names.join(", "));
            }
            match conditions(report, args) {
                conditions if conditions.is_empty() => words,
                conditions => format!("{words} with {}", conditions.join(" ")),
            }
        }
    }
}

/// Returns the options because of which the check does not cover all runs that the promises are about.
fn conditions(report: &Report, args: &Args) -> Vec<String> {
    let Question { algorithm, n, k, contention, initial, crashes, .. } = &report.question;
    let mut conditions = Vec::new();
    if contention < n {
        conditions.push(format!("--contention {contention}"));
    }
    let is_about_crashes = report.question.properties.contains(&Property::Starvation);
    if is_about_crashes && *crashes < Question::everything(algorithm, *n, *k).crashes {
        conditions.push(format!("--crashes {crashes}"));
    }
    if *initial == Initial::Smallest {
        conditions.push("--initial smallest".into());
    }
    if args.tso {
        conditions.push("--tso".into());
    }
    conditions
}

fn print(report: &Report, args: &Args, shown: Option<&Schedule>) {
    let question = &report.question;
    let verdict = headline(report, args);
    outln!("{}, n = {}, k = {}: {verdict}", question.algorithm, question.n, question.k);
    let bytes = report.typical_bytes_per_state();
    outln!(
        "{} states, {} transitions, depth {}{}; {:.2} s\n",
        HumanCount(report.states),
        HumanCount(report.transitions),
        report.depth,
        bytes.map(|bytes| format!("; {bytes:.1} bytes per state")).unwrap_or_default(),
        report.seconds
    );
    for (name, outcome) in outcomes(report) {
        outln!("  {name:<12} {:<9} {}", word(outcome.verdict), remark(report, name, outcome));
    }
    outln!("\nScope of this result:");
    for limit in report.limits() {
        outln!("  - {limit}");
    }
    print_runs(report, args);
    match shown {
        Some(run) => {
            outln!("");
            show::print(run);
        }
        None => outln!("\n{}: {verdict}", question.algorithm),
    }
}

/// Prints the replay strings of all runs.
fn print_runs(report: &Report, args: &Args) {
    let runs: Vec<(String, &Schedule)> = outcomes(report)
        .filter_map(|(name, outcome)| {
            Some((run_label(report, args, name, outcome), outcome.run.as_ref()?))
        })
        .collect();
    let Some(width) = runs.iter().map(|(label, _)| label.len()).max() else { return };
    outln!("\nRuns (`hallpass-lab replay STRING` steps through one):");
    for (label, run) in runs {
        outln!("  {label:<width$}  {}", show::string(run));
    }
}

/// Describes the run of a property in a few words. The run of a property that holds shows no violation.
fn run_label(report: &Report, args: &Args, name: &str, outcome: &Outcome) -> String {
    let unpromised = |is_unpromised: bool| if is_unpromised { " (not promised)" } else { "" };
    match (outcome.verdict, outcome.resilience, outcome.bound) {
        (Verdict::Violated, ..) => format!("{name}{}", unpromised(!report.is_promised(name))),
        (_, Some(stopped), _) => {
            // With --crashes, the user can ask for fewer crashes than the algorithm promises to survive. Then
            // starvation after one more crash can break a promise.
            let is_deadlock = name == Property::Deadlock.name();
            let is_unpromised = is_deadlock || args.crashes.is_none();
            format!("{name} with {stopped} stopped{}", unpromised(is_unpromised))
        }
        (_, _, Some(_)) if name == Property::Bypass.name() => format!("{name}: most overtakings"),
        (_, _, Some(_)) => format!("{name}: most steps of a process"),
        _ => name.to_string(),
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
        let at_most = if report.covers_all_runs() { "" } else { "at most " };
        let stopped = format!("{at_most}{}", counted(resilience, "stopped process"));
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
            let overtakings = counted(times as usize, "overtaking");
            remarks.push(format!("{qualifier} {overtakings} of one process"));
        }
        Some(Bound::Most(steps)) => {
            remarks.push(format!("{qualifier} {}", counted(steps as usize, "own step")));
        }
        Some(Bound::Unbounded) => remarks.push("no bound".into()),
        None => {}
    }
    remarks.extend(outcome.note.clone());
    let is_left_out = |property: &&Property| property.name() == name;
    if let Some(&property) = report.question.left_out.iter().find(is_left_out) {
        let options = report.question.options_against(property).join(" and ");
        remarks.push(format!("promised, but not checked: leave out {options}"));
    }
    if outcome.verdict == Verdict::Violated && !report.is_promised(name) {
        remarks.push(format!("{} does not promise it", author(&report.question.algorithm)));
    }
    remarks.join("; ")
}
