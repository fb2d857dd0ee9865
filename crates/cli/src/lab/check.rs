//! `hallpass lab check`.

use std::process::ExitCode;

use clap::{Args as ClapArgs, ValueEnum};
use hallpass_lab::{
    check::{Property, Question, Report, Steps, Verdict, check},
    schedule::MemoryModel,
    trace,
};

use super::{
    HOLDS, PARTIAL, VIOLATED,
    options::{Effort, Size},
};

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    size: Size,
    /// What to check [default: everything the algorithm has]
    #[arg(short, long = "property", value_name = "PROPERTY", value_delimiter = ',')]
    properties: Vec<PropertyName>,
    /// How many processes may stop for ever outside their remainder [default: K-1]
    #[arg(short = 'f', long, value_name = "F")]
    crashes: Option<usize>,
    /// Stores go through a buffer per process, as on x86, instead of taking effect at once
    #[arg(long)]
    tso: bool,
    /// Take states together that differ in the names of processes only
    #[arg(long)]
    symmetry: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    effort: Effort,
}

#[derive(Clone, Copy, ValueEnum)]
enum PropertyName {
    Exclusion,
    Names,
    Deadlock,
    Starvation,
    Exit,
    Doorway,
    Fife,
    FifeStrong,
    Invariants,
}

impl From<PropertyName> for Property {
    fn from(name: PropertyName) -> Self {
        Property::ALL[name as usize]
    }
}

pub fn run(args: Args) -> super::Result {
    let Args { size, properties, crashes, tso, symmetry, json, effort } = args;
    let mut question = Question::everything(&size.algorithm, size.n, size.k);
    question.contention = size.contention();
    question.initial = size.initial.into();
    question.symmetry = symmetry;
    question.crashes = crashes.unwrap_or(question.crashes);
    if tso {
        question.memory = MemoryModel::StoreBuffers;
    }
    if !properties.is_empty() {
        question.properties = properties.into_iter().map(Property::from).collect();
    } else if symmetry {
        question.properties.retain(|property| property.is_safety());
    }
    let report = effort.with_resources(|resources| check(&question, resources))?;
    if json {
        println!("{}", report.to_json());
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
    let question = &report.question;
    println!("{} n={} k={}", question.algorithm, question.n, question.k);
    println!(
        "{} states, {} transitions, depth {}, {:.1} bytes a state, {:.2} s",
        report.states, report.transitions, report.depth, report.bytes_per_state, report.seconds
    );
    for (name, outcome) in &report.properties {
        let verdict = match outcome.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated => "VIOLATED",
            Verdict::Partial => "partial",
            Verdict::NotChecked => "not checked",
        };
        print!("  {name:<12} {verdict}");
        if let Some(resilience) = outcome.resilience {
            print!(", resilience {resilience}");
        }
        match outcome.bound {
            Some(Steps::Most(steps)) => print!(", at most {steps} steps"),
            Some(Steps::Unbounded) => print!(", no bound"),
            None => {}
        }
        if let Some(note) = &outcome.note {
            print!(" ({note})");
        }
        println!();
        if let (Verdict::Violated, Some(run)) = (outcome.verdict, &outcome.run) {
            println!("    {}", trace::encode(run));
        }
    }
    for limit in report.limits() {
        println!("  note: {limit}");
    }
}
