//! `hallpass-lab ask`.

use std::{path::PathBuf, process::ExitCode};

use clap::Args as ClapArgs;
use hallpass_lab::{
    catalogue::author,
    check,
    program::{self, HOLDS, PARTIAL, VIOLATED, files, output::outln},
    questions::{self, Answer, Asked, Questions, Report},
    space::Initial,
};
use indicatif::HumanCount;

use crate::{
    options::{Counting, Effort, Size},
    show,
};

/// The default limit on states.
const MOST_STATES: u64 = 30_000_000;

#[derive(ClapArgs)]
pub struct Args {
    #[command(flatten)]
    size: Size,
    /// The questions, separated by commas: names of statements of the paper, fcfs, rounds, sections,
    /// amortised-cc, amortised-dsm, exit-steps, doorway-steps, and super-cc-F, where F is how often processes may
    /// be killed, as in super-cc-2 [default: all questions that apply, except super-cc-F]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    question: Vec<String>,
    /// For the questions `rounds` and `sections`: how many processes may stop permanently outside their remainder
    /// [default: the number that the paper promises to survive]
    #[arg(long, value_name = "COUNT")]
    crashes: Option<usize>,
    #[command(flatten)]
    counting: Counting,
    /// Show the run behind the answer to this question, step by step
    #[arg(long, value_name = "NAME")]
    show: Option<String>,
    /// Write the run of --show as an HTML page
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
    let algorithm = size.id()?;
    let promised = check::Question::everything(&algorithm, size.n, size.k).crashes;
    let questions = Questions {
        algorithm,
        n: size.n,
        k: size.k,
        contention: size.contention(),
        initial: size.initial.into(),
        crashes: args.crashes.unwrap_or(promised),
        conventions: args.counting.conventions(),
        asked: args.question.iter().map(|name| Asked::from_name(name)).collect(),
    };
    let report = args
        .effort
        .with_resources(MOST_STATES, |resources| questions::ask(&questions, resources))?;
    let shown = match &args.show {
        None => None,
        Some(name) => {
            let answered = report.answers.get(name);
            let run = answered.and_then(|answered| answered.run.as_ref());
            Some(run.ok_or_else(|| format!("there is no run for the question `{name}`"))?)
        }
    };
    if args.json {
        outln!("{}", report.to_json());
    } else {
        print(&report);
    }
    show::requested(shown, args.json, args.html.as_deref())?;
    Ok(ExitCode::from(status(&report)))
}

/// Returns the exit status. Only a violated statement of the paper counts as a violation: the other
/// questions are about properties that the paper need not promise.
fn status(report: &Report) -> u8 {
    let violated = |(name, answered): (&String, &questions::Answered)| {
        answered.answer == Answer::Violated && matches!(Asked::from_name(name), Asked::Statement(_))
    };
    if report.answers.iter().any(violated) {
        VIOLATED
    } else if !report.is_complete() {
        PARTIAL
    } else {
        HOLDS
    }
}

fn print(report: &Report) {
    let Questions { algorithm, n, k, contention, crashes, .. } = &report.questions;
    outln!("{algorithm}, n = {n}, k = {k}, contention {contention}");
    outln!("{} states, {:.2} s\n", HumanCount(report.states), report.seconds);
    for (name, answered) in &report.answers {
        let why = match &answered.answer {
            Answer::Partial(why) => Some(why),
            _ => answered.note.as_ref(),
        };
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        outln!("  {name:<14} {}{why}", answered.answer);
        if let Some(run) = &answered.run {
            outln!("                 {}", show::string(run));
        }
    }
    outln!("\nScope of this result:");
    match report.is_complete() {
        true => outln!("  - every schedule of this size, sequentially consistent"),
        false => outln!(
            "  - every schedule of this size, except where an answer is partial; sequentially consistent"
        ),
    }
    if report.questions.initial == Initial::Smallest {
        let author = author(algorithm);
        outln!("  - variables that {author} leaves open start at their smallest value only");
    }
    let answered = |part: &str| report.answers.keys().any(|name| name.starts_with(part));
    let timed: Vec<&str> =
        ["rounds", "sections"].into_iter().filter(|name| answered(name)).collect();
    if !timed.is_empty() {
        let timed = timed.join(", ");
        outln!("  - {timed}: processes stopped outside their remainder: at most {crashes}");
    }
    if answered("amortised-") {
        outln!("  - amortised: all remote references divided by all passages, over a long run");
    }
}
