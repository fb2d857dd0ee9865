//! Finds the instructions at which invariants look at private variables. At these instructions, the variables keep
//! their values, even if no later line uses them.

use hallpass_algorithms::Section;

use crate::{
    code::{Binary, Ex, Instr, Place},
    flow,
};

/// Where the process of a bound variable is known to be: the bound variable, and the places.
type Known<'e> = (usize, &'e [Place]);

/// Returns for each instruction the private variables that some invariant may look at there, as bits.
///
/// `p at 3..5 and p.v = 1` looks at v only on lines 3 to 5, because `and` skips its second part if the first is false.
/// Without such a condition, an invariant looks at v everywhere. A condition on a section restricts the lines only if
/// the section is `critical`.
pub fn watched(instrs: &[Instr], invariants: &[(&'static str, Ex)]) -> Vec<u32> {
    let mut watch = Watch { instrs, watched: vec![0; instrs.len()] };
    for (_, ex) in invariants {
        watch.expression(ex, &[]);
    }
    watch.watched
}

struct Watch<'a> {
    instrs: &'a [Instr],
    watched: Vec<u32>,
}

impl Watch<'_> {
    fn expression(&mut self, ex: &Ex, known: &[Known<'_>]) {
        match ex {
            Ex::Of(process, index) => {
                self.look(process, *index, known);
                self.expression(process, known);
            }
            Ex::Binary(op @ (Binary::And | Binary::Or), a, b) => {
                self.expression(a, known);
                // b is evaluated only if a is true (`and`) or false (`or`).
                self.expression(b, &with(known, a, *op == Binary::And));
            }
            Ex::If(parts) => {
                let [condition, yes, no] = &**parts;
                self.expression(condition, known);
                self.expression(yes, &with(known, condition, true));
                self.expression(no, &with(known, condition, false));
            }
            _ => ex.visit_parts(&mut |part| self.expression(part, known)),
        }
    }

    /// Records a look at a private variable of `process`.
    fn look(&mut self, process: &Ex, index: usize, known: &[Known<'_>]) {
        let mut places = vec![true; self.instrs.len()];
        for (bound, at) in known {
            if matches!(process, Ex::Bound(looked) if looked == bound) {
                let there = self.instructions(at);
                places.iter_mut().zip(there).for_each(|(place, there)| *place &= there);
            }
        }
        for (watched, _) in self.watched.iter_mut().zip(places).filter(|(_, place)| *place) {
            *watched |= 1 << index;
        }
    }

    /// Returns for each instruction whether a process at this instruction may be at one of these places.
    fn instructions(&self, places: &[Place]) -> Vec<bool> {
        let enter = self.instrs.iter().position(|instr| matches!(instr, Instr::Enter));
        let mut there = vec![false; self.instrs.len()];
        let mut in_critical = false;
        for place in places {
            match place {
                Place::Lines(from, to) => {
                    let lines = usize::from(*from)..=usize::from(*to);
                    in_critical |= enter.is_some_and(|enter| lines.contains(&enter));
                    lines.for_each(|at| there[at] = true);
                }
                Place::Section(Section::Critical) => in_critical = true,
                Place::Section(_) => there.fill(true),
            }
        }
        if in_critical {
            flow::after_critical(self.instrs).into_iter().for_each(|at| there[at] = true);
        }
        there
    }
}

/// Adds the places at which processes must be if `condition` has this value.
fn with<'e>(known: &[Known<'e>], condition: &'e Ex, value: bool) -> Vec<Known<'e>> {
    let mut known = known.to_vec();
    add(&mut known, condition, value);
    known
}

fn add<'e>(known: &mut Vec<Known<'e>>, condition: &'e Ex, value: bool) {
    match (condition, value) {
        (Ex::At(process, places), true) => {
            if let Ex::Bound(index) = **process {
                known.push((index, places));
            }
        }
        (Ex::Not(inner), _) => add(known, inner, !value),
        (Ex::Binary(Binary::And, a, b), true) | (Ex::Binary(Binary::Or, a, b), false) => {
            add(known, a, value);
            add(known, b, value);
        }
        _ => {}
    }
}
