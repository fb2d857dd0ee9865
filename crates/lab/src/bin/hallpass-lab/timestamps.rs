//! `hallpass-lab timestamps`.

use std::process::ExitCode;

use clap::{
    Args as ClapArgs,
    builder::{PossibleValuesParser, TypedValueParser},
};
use hallpass_lab::{
    check::Verdict,
    explore::MOST_STATES,
    program::{self, HOLDS, PARTIAL, VIOLATED, output::outln},
    timestamps::{Part, Question, Report, check},
};
use indicatif::HumanCount;

use crate::options::Effort;

#[derive(ClapArgs)]
pub struct Args {
    /// The timestamp system: uctss, linear, quadratic, labels-weak, labels-atomic, or a variant
    /// such as linear:no-copy
    system: String,
    /// The number of processes
    #[arg(short, value_name = "N")]
    n: usize,
    /// The parts to check
    #[arg(long = "part", value_name = "PART", value_delimiter = ',', value_parser = part())]
    #[arg(default_value = "snapshot,refinement,properties")]
    parts: Vec<Part>,
    /// Make random runs of this many steps in total, instead of all runs
    #[arg(long, value_name = "STEPS")]
    random: Option<u64>,
    /// The seed of random runs
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    effort: Effort,
}

fn part() -> impl TypedValueParser<Value = Part> {
    PossibleValuesParser::new(Part::ALL.map(Part::name)).map(|name| {
        let named = Part::ALL.into_iter().find(|part| part.name() == name);
        named.expect("the parser accepts only names of parts")
    })
}

pub fn run(args: Args) -> program::Result {
    let question = Question {
        system: args.system,
        n: args.n,
        parts: args.parts,
        random: args.random.map(|steps| (steps, args.seed)),
    };
    // Unbounded timestamps have infinitely many states. To explore a million takes seconds.
    let states = if question.system.starts_with("uctss") { 1_000_000 } else { MOST_STATES };
    let report = args.effort.with_resources(states, |resources| check(&question, resources))?;
    if args.json {
        outln!("{}", report.to_json());
    } else {
        print(&report);
    }
    Ok(ExitCode::from(match report.verdict() {
        Verdict::Violated => VIOLATED,
        Verdict::Partial => PARTIAL,
        Verdict::Holds | Verdict::NotChecked => HOLDS,
    }))
}

fn print(report: &Report) {
    let verdict = match report.verdict() {
        Verdict::Violated => "VIOLATED",
        Verdict::Partial => "partial: no violation found, but not every state was explored",
        Verdict::Holds | Verdict::NotChecked => "holds",
    };
    outln!("{}, n = {}: {verdict}", report.question.system, report.question.n);
    for outcome in &report.outcomes {
        let all = if outcome.complete { "all" } else { "not all" };
        let unit = if report.question.random.is_some() { "steps" } else { "states" };
        outln!(
            "\n{}: {}; {} {unit} ({all}), depth {}, {:.1} s",
            outcome.part.name(),
            outcome.what,
            HumanCount(outcome.states),
            outcome.depth,
            outcome.seconds
        );
        for promise in &outcome.promises {
            let word = match (outcome.violated.contains_key(promise.name()), outcome.complete) {
                (true, _) => "VIOLATED",
                (false, true) => "holds",
                (false, false) => "partial",
            };
            outln!("  {:<11} {word:<9} {}", promise.name(), promise.promise());
        }
    }
    if let Some((label, scan)) = report.max_steps {
        let show = |most: Option<u32>| most.map_or("without bound".into(), |most| most.to_string());
        let seen =
            if report.outcomes.iter().all(|outcome| outcome.complete) { "" } else { " seen" };
        outln!("\nmax. own steps{seen}: Label {}, Scan {}", show(label), show(scan));
    }
    if !report.registers.is_empty() {
        outln!("\nregister      values  bits  declared");
        for register in &report.registers {
            let declared = register.declared.map_or("no bound".into(), |bits| bits.to_string());
            let (values, bits) = (register.values, register.bits());
            outln!("{:<12} {values:>7}  {bits:>4}  {declared:>8}", register.name);
        }
    }
    let violated = report.outcomes.iter().flat_map(|outcome| &outcome.violated);
    if let Some((name, run)) = violated.min_by_key(|(_, run)| run.len()) {
        outln!("\n{name} is violated by this run of {} steps:", run.len());
        run.iter().for_each(|line| outln!("  {line}"));
    }
}
