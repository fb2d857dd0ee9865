//! Formats a run as text, one line for each step.

use hallpass_algorithms::Op;

use super::{
    observe::Observer,
    space::Runs,
    subject::{Happened, Procedure, Seen, Subject},
};
use crate::space::Agent;

fn order(seen: &Seen) -> String {
    match seen.permutation() {
        Some(order) => order.iter().map(usize::to_string).collect::<Vec<_>>().join(" < "),
        None => "no order".into(),
    }
}

/// Describes one step of `p`.
pub fn step(subject: &dyn Subject, p: usize, inside: Procedure, happened: &Happened) -> String {
    let mut line = match happened.began {
        Some(_) => format!("{p} begins {:<5}", inside.name()),
        None => format!("{p}        {:<5}", inside.name()),
    };
    line += &format!(" {:<9}", happened.line);
    for &(var, op, old) in &happened.accesses {
        let decl = subject.layout().decl(var);
        line += &match op {
            Op::Read => format!(" {} = {}", decl.name, decl.show(old)),
            _ => format!(" {} := {}", decl.name, decl.show(op.leaves(old))),
        };
    }
    if let Some(seen) = &happened.decided {
        line += &format!("  sees {}", order(seen));
    }
    if let Some(seen) = &happened.scanned {
        line += &format!("  returns {}", order(seen));
    }
    if happened.ended == Some(Procedure::Label) {
        line += "  ends";
    }
    line
}

/// Describes a run from the initial state.
pub fn steps<O: Observer>(runs: &Runs<'_, O>, agents: &[Agent]) -> Vec<String> {
    let (mut state, mut observer) = (runs.subject.initial(), O::new(runs.subject));
    let mut inside = vec![Procedure::Label; runs.subject.n()];
    let mut lines = Vec::new();
    for &agent in agents {
        let p = runs.agent(agent).0;
        if let Some((happened, _)) = runs.step(agent, &mut state, &mut observer) {
            inside[p] = happened.began.unwrap_or(inside[p]);
            lines.push(step(runs.subject, p, inside[p], &happened));
        }
    }
    lines
}
