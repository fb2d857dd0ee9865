//! A run, a line a step.

use hallpass_algorithms::{
    Word,
    objects::universal::{Answer, Asked, NOBODY},
};

use super::{shop::Access, space::Runs};
use crate::space::Agent;

/// What a word holds, in words.
fn show(what: &str, value: Word) -> String {
    if what.starts_with("request") {
        let asked = Asked::unpack(value);
        let answer = match asked.answer {
            Answer::None => "no answer yet".into(),
            Answer::In(copy) => format!("answer in copy {copy}"),
            Answer::Fetched => "answered".into(),
        };
        return format!("(number {}, place {}, {answer})", asked.number, asked.place);
    }
    if what.starts_with("guard") {
        return if value == NOBODY { "none".into() } else { format!("copy {}", value - 1) };
    }
    if what.starts_with("mark") {
        let (name, place) = ((value - 1) >> 6, (value - 1) & 63);
        return if value == NOBODY { "none".into() } else { format!("({name}, place {place})") };
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

/// A run from the start.
pub fn steps(runs: &Runs, agents: &[Agent]) -> Vec<String> {
    let mut watched = runs.start();
    let mut lines = Vec::new();
    for &agent in agents {
        let (me, _) = runs.agent(agent);
        let Some(happened) = runs.step(agent, &mut watched, true) else { continue };
        let mut line = match happened.began {
            Some(deed) => format!("{me} begins {:<9}", runs.toy.show(deed)),
            None => format!("{me}                 "),
        };
        // What is accessed says enough; of goods, the line's own words do.
        let label = happened.line.split(' ').next().unwrap_or_default();
        line += if happened.accesses.is_empty() { &happened.line } else { label };
        if !happened.accesses.is_empty() {
            line += " ";
        }
        happened.accesses.iter().for_each(|seen| line += &access(seen));
        if let Some(ret) = happened.returned {
            line += &format!("  returns {ret}");
        }
        if let Some(fault) = watched.2 {
            line += &format!("  violates: {}", fault.name());
        }
        lines.push(line);
    }
    lines
}
