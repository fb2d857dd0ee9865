//! Formats a run as text, one line for each step.

use hallpass_algorithms::{
    Word,
    objects::universal::{Answer, Mark, NONE, Request},
};

use super::{environment::Access, space::Runs};
use crate::space::Agent;

/// Formats the value of a word.
fn show(what: &str, value: Word) -> String {
    if what.starts_with("request") {
        let request = Request::unpack(value);
        let answer = match request.answer {
            Answer::None => "no answer yet".into(),
            Answer::In(copy) => format!("answer in copy {copy}"),
            Answer::Fetched => "answered".into(),
        };
        return format!("(number {}, buffer {}, {answer})", request.number, request.buffer);
    }
    if what.starts_with("guard") {
        return if value == NONE { "none".into() } else { format!("copy {}", value - 1) };
    }
    if what.starts_with("mark") {
        return Mark::unpack(value).map_or("none".into(), |Mark { owner, buffer }| {
            format!("(process {owner}, buffer {buffer})")
        });
    }
    if what.starts_with("flips") || what.ends_with("served") {
        return format!("{value:b}");
    }
    value.to_string()
}

fn access(Access { what, old, new }: &Access) -> String {
    if old == new {
        format!(" {what} = {}", show(what, *old))
    } else {
        format!(" {what} := {} (was {})", show(what, *new), show(what, *old))
    }
}

/// Formats the run that starts in the initial state and in which these agents take one step each, in this order.
pub fn steps(runs: &Runs, agents: &[Agent]) -> Vec<String> {
    let mut monitored = runs.start();
    let mut lines = Vec::new();
    for &agent in agents {
        let (me, _) = runs.agent(agent);
        let Some(record) = runs.step(agent, &mut monitored, true) else { continue };
        let mut line = match record.began {
            Some(operation) => format!("{me} begins {:<9}", runs.object.show(operation)),
            None => format!("{me}                 "),
        };
        // A line that accesses words is shown as its label and its accesses. Any other line is shown in
        // full.
        let label = record.line.split(' ').next().unwrap_or_default();
        line += if record.accesses.is_empty() { &record.line } else { label };
        if !record.accesses.is_empty() {
            line += " ";
        }
        record.accesses.iter().for_each(|seen| line += &access(seen));
        if let Some(ret) = record.returned {
            line += &format!("  returns {ret}");
        }
        if let Some(violation) = monitored.2 {
            line += &format!("  violates: {}", violation.name());
        }
        lines.push(line);
    }
    lines
}
