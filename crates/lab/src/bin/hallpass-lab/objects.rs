//! `hallpass-lab objects`.

use std::process::ExitCode;

use clap::{
    Args as ClapArgs,
    builder::{PossibleValuesParser, TypedValueParser},
};
use hallpass_lab::{
    check::Verdict,
    explore::MOST_STATES,
    objects::{
        Question, Report, check,
        normal::Reduction,
        object::ObjectKind,
        observe::Violation,
        suite::{Case, SUITE},
    },
    program::{self, HOLDS, PARTIAL, VIOLATED, output::outln},
};
use indicatif::HumanCount;

use crate::options::Effort;

#[derive(ClapArgs)]
pub struct Args {
    /// The shared object [default: a suite of models with expected results]
    #[arg(value_parser = kind())]
    object: Option<ObjectKind>,
    /// The number of processes that share the object
    #[arg(short, value_name = "K", default_value_t = 2, requires = "object")]
    k: usize,
    /// How many operations each process may begin: one number for all processes, or one for each. 0
    /// means no limit
    #[arg(long, value_name = "COUNT", value_delimiter = ',', requires = "object")]
    #[arg(default_value = "0")]
    operations: Vec<u8>,
    /// Use only these operations of the object, such as `add` or `put,take` [default: all]
    #[arg(long, value_name = "OPERATION", value_delimiter = ',', requires = "object")]
    only: Vec<String>,
    /// Check a wrong variant: hasty, unguarded, unpinned, careless, hurried, unmarked,
    /// untagged, selfish or forgetful
    #[arg(long, value_name = "VARIANT", requires = "object")]
    wrong: Option<String>,
    /// Print one JSON object; for the suite, one object on each line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    effort: Effort,
}

fn kind() -> impl TypedValueParser<Value = ObjectKind> {
    PossibleValuesParser::new(ObjectKind::ALL.map(ObjectKind::name)).map(|name| {
        let named = ObjectKind::ALL.into_iter().find(|kind| kind.name() == name);
        named.expect("the parser accepts only names of objects")
    })
}

pub fn run(args: Args) -> program::Result {
    let Some(kind) = args.object else {
        return suite(&args);
    };
    let mut only = if args.only.is_empty() { !0 } else { 0 };
    for name in &args.only {
        let which = kind.operations().iter().position(|operation| operation == name);
        let which = which.ok_or_else(|| {
            let all = kind.operations().join(", ");
            format!("a {} has no operation `{name}`; there are {all}", kind.name())
        })?;
        only |= 1 << which;
    }
    let question = Question {
        kind,
        k: args.k,
        operations: args.operations,
        only,
        wrong: args.wrong,
        reduction: Reduction::Full,
    };
    let report =
        args.effort.with_resources(MOST_STATES, |resources| check(&question, resources))?;
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

/// Describes the question.
fn name(question: &Question) -> String {
    let wrong = question.wrong.as_ref().map_or(String::new(), |wrong| format!(":{wrong}"));
    let operations: Vec<_> = question
        .operations
        .iter()
        .map(|&operations| if operations == 0 { "any".into() } else { operations.to_string() })
        .collect();
    format!(
        "{}{wrong} k={}, {} of {}",
        question.kind.name(),
        question.k,
        operations.join(" and "),
        question.chosen().join("/")
    )
}

fn most(report: &Report) -> [String; 2] {
    let (change, look) = report.max_steps.unwrap_or_default();
    [change, look].map(|most| most.map_or("-".into(), |most| most.to_string()))
}

fn print(report: &Report) {
    let verdict = match report.verdict() {
        Verdict::Violated => "VIOLATED",
        Verdict::Partial => "partial: no violation found, but not all states were explored",
        Verdict::Holds | Verdict::NotChecked => "holds",
    };
    outln!("{}: {verdict}", name(&report.question));
    let all = if report.complete { "all" } else { "not all" };
    let (states, transitions) = (HumanCount(report.states), HumanCount(report.transitions));
    outln!(
        "\n{states} states ({all}), {transitions} steps, depth {}, {:.1} s",
        report.depth,
        report.seconds
    );
    for violation in Violation::ALL {
        let word = match report.outcome(violation) {
            Verdict::Violated => "VIOLATED",
            Verdict::Holds => "holds",
            Verdict::Partial => "partial",
            Verdict::NotChecked => "-",
        };
        outln!("  {:<12} {word:<9} {}", violation.name(), violation.promise());
    }
    if report.max_steps.is_some() {
        let [change, look] = most(report);
        outln!(
            "\nown steps per operation: at most {change} to change the object, {look} to read it"
        );
        outln!(
            "(over all interleavings, including those in which all other processes have stopped permanently)"
        );
    }
    outln!("most copies in use at once: {} of {}", report.copies, 3 * report.question.k);
    if let Some(shown) = &report.violated {
        let steps = shown.lines.len();
        outln!("\n{} is violated by this run of {steps} steps:", shown.violation.name());
        for (index, line) in shown.lines.iter().enumerate() {
            if shown.cycle != 0 && index == steps - shown.cycle {
                outln!("  repeats forever from here:");
            }
            outln!("  {line}");
        }
    }
}

fn suite(args: &Args) -> program::Result {
    let mut code = HOLDS;
    if !args.json {
        let (steps, copies) = ("steps", "copies");
        outln!("{:<44} {:<17} {:>9} {steps:>9} {copies:>6} {:>6}", "model", "", "states", "s");
    }
    for case in SUITE {
        let question = case.question();
        let report =
            args.effort.with_resources(MOST_STATES, |resources| check(&question, resources))?;
        let is_met = case.expected.is_met(&report);
        match report.verdict() {
            _ if is_met => {}
            Verdict::Partial if code == HOLDS => code = PARTIAL,
            Verdict::Partial => {}
            _ => code = VIOLATED,
        }
        if args.json {
            let mut json = report.to_json();
            json["as_expected"] = is_met.into();
            outln!("{json}");
        } else {
            line(case, &report, is_met);
        }
    }
    if !args.json {
        outln!(
            "\nsteps: the most steps that a process takes in an operation that changes the object, and in one that reads it"
        );
    }
    Ok(ExitCode::from(code))
}

fn line(case: &Case, report: &Report, is_met: bool) {
    let found = match (&report.violated, report.verdict()) {
        (Some(shown), _) => format!("not {}", shown.violation.name()),
        (None, Verdict::Partial) => "partial".into(),
        (None, _) => "holds".into(),
    };
    let found = found.replace("not race", "race").replace("not answers", "lost answer");
    outln!(
        "{:<44} {found:<17} {:>9} {:>9} {:>4}/{} {:>6.1}{}",
        name(&report.question),
        HumanCount(report.states).to_string(),
        most(report).join(" "),
        report.copies,
        3 * case.k,
        report.seconds,
        if is_met { "" } else { "  NOT AS EXPECTED" }
    );
}
