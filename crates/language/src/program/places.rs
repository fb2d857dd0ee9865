//! Prepares invariants for the evaluation in every state.
//!
//! Most conditions ask at which lines processes are. A process has few places. So for each place, the parts of a
//! condition that depend only on the place are evaluated in advance: `p at 3..5 and p.v = 1` becomes `p.v = 1` for a
//! process at line 4, and `false` for a process at line 7. A condition on one private variable, such as `p.v = 1`, is
//! then decided for every small value of v. A condition such as `p.v = j` can be decided in advance only if j is a
//! number. So if j is the variable of a quantifier over few numbers, the condition is prepared for each value of j.

use hallpass_algorithms::{Loc, Section, View};

use super::{At, MOST_PRIVATE, Program};
use crate::{
    code::{Binary, ByPrivate, Each, Ex, Over, Place, Value},
    eval::Scope,
};

/// The maximum number of expressions that the preparation of the invariants may make.
const MOST_PARTS: usize = 200_000;

/// The maximum number of values of a quantifier that are prepared one by one.
const MOST_CASES: Value = 32;

/// The known facts about a bound variable.
#[derive(Clone, Copy)]
enum Known<'a> {
    /// The place of the process that the variable stands for.
    Place(usize, &'a Loc<At>),
    /// The value of the variable.
    Value(usize, Value),
}

impl Program {
    /// Returns the number of a place: the remainder, the critical section, then the instructions.
    pub(crate) fn place(&self, loc: &Loc<At>) -> usize {
        match loc {
            Loc::Remainder => 0,
            Loc::Critical(_) => 1,
            Loc::Entry(at) | Loc::Exit(at) => 2 + usize::from(at.line),
        }
    }

    /// Returns one location for each place, in the order of their numbers.
    fn all_places(&self) -> Vec<Loc<At>> {
        let private = [0; MOST_PRIVATE];
        let instructions =
            (0..self.code.instrs.len() as u16).map(|line| match line <= self.critical {
                true => Loc::Entry(At { line, private }),
                false => Loc::Exit(At { line, private }),
            });
        let outside = [Loc::Remainder, Loc::Critical(At { line: self.critical, private })];
        outside.into_iter().chain(instructions).collect()
    }

    /// Returns whether a process at `loc` is at `place`, which an invariant names.
    pub(crate) fn is_at(&self, loc: &Loc<At>, place: &Place) -> bool {
        match *place {
            Place::Section(wanted) => wanted == self.section(loc),
            Place::Lines(from, to) => {
                let line = match loc {
                    Loc::Remainder => return false,
                    Loc::Entry(at) | Loc::Exit(at) => at.line,
                    Loc::Critical(_) => self.critical,
                };
                (from..=to).contains(&line)
            }
        }
    }

    fn section(&self, loc: &Loc<At>) -> Section {
        match loc {
            Loc::Remainder => Section::Remainder,
            Loc::Entry(at) if self.is_waiting(*at) => Section::Waiting,
            Loc::Entry(_) => Section::Doorway,
            Loc::Critical(_) => Section::Critical,
            Loc::Exit(_) => Section::Exit,
        }
    }

    /// Returns the conditions of the invariants. The parts that depend only on n, k and places are already evaluated.
    pub(super) fn conditions(&self) -> Vec<Ex> {
        let places = self.all_places();
        let mut preparation = Preparation { program: self, places: &places, left: MOST_PARTS };
        let invariants = self.code.invariants.iter();
        invariants.map(|(_, ex)| preparation.expression(ex, 0, &[])).collect()
    }
}

struct Preparation<'a> {
    program: &'a Program,
    places: &'a [Loc<At>],
    /// The number of expressions that may still be made.
    left: usize,
}

impl Preparation<'_> {
    /// Prepares an expression with `bound` bound variables around it.
    fn expression(&mut self, ex: &Ex, bound: usize, known: &[Known<'_>]) -> Ex {
        let place = |process: &Ex| {
            let Ex::Bound(index) = process else { return None };
            known.iter().find_map(|known| match known {
                Known::Place(bound, loc) if bound == index => Some(*loc),
                _ => None,
            })
        };
        match ex {
            Ex::Bound(index) => {
                let value = known.iter().find_map(|known| match known {
                    Known::Value(bound, value) if bound == index => Some(*value),
                    _ => None,
                });
                value.map_or_else(|| ex.clone(), Ex::Number)
            }
            Ex::At(process, places) => match place(process) {
                Some(loc) => truth(places.iter().any(|place| self.program.is_at(loc, place))),
                None => ex.clone(),
            },
            Ex::Of(process, _) if matches!(place(process), Some(Loc::Remainder)) => Ex::Number(0),
            Ex::Not(inner) => match self.expression(inner, bound, known) {
                Ex::Number(value) => truth(value == 0),
                inner => Ex::Not(Box::new(inner)),
            },
            Ex::Binary(op @ (Binary::And | Binary::Or), a, b) => {
                let a = self.expression(a, bound, known);
                match (a, *op == Binary::And) {
                    (Ex::Number(1), true) | (Ex::Number(0), false) => {
                        self.expression(b, bound, known)
                    }
                    (a @ Ex::Number(_), _) => a,
                    (a, _) => {
                        let b = self.expression(b, bound, known);
                        Ex::Binary(*op, Box::new(a), Box::new(b))
                    }
                }
            }
            Ex::Binary(op, a, b) => {
                let (a, b) = (self.expression(a, bound, known), self.expression(b, bound, known));
                self.folded(Ex::Binary(*op, Box::new(a), Box::new(b)))
            }
            Ex::Builtin(builtin, list) => {
                let list = list.iter().map(|ex| self.expression(ex, bound, known)).collect();
                self.folded(Ex::Builtin(*builtin, list))
            }
            Ex::Shared(variable, list) => {
                let list = list.iter().map(|ex| self.expression(ex, bound, known)).collect();
                Ex::Shared(*variable, list)
            }
            Ex::Each(kind, over, body) => self.each(*kind, over, body, bound, known),
            Ex::N | Ex::K | Ex::Constant(_) => self.folded(ex.clone()),
            _ => ex.clone(),
        }
    }

    fn each(
        &mut self,
        kind: Each,
        over: &Over,
        body: &Ex,
        bound: usize,
        known: &[Known<'_>],
    ) -> Ex {
        let is_process = matches!(over, Over::Set(Ex::Everyone));
        let over = match over {
            Over::Between(lo, hi) => {
                Over::Between(self.expression(lo, bound, known), self.expression(hi, bound, known))
            }
            Over::Set(set) => Over::Set(self.expression(set, bound, known)),
        };
        let body = match &over {
            _ if is_process && asks_place(body, bound) => self.by_place(body, bound, known),
            Over::Between(Ex::Number(lo), Ex::Number(hi)) if has_quantifier(body) => {
                self.by_value((*lo, *hi), body, bound, known)
            }
            _ => self.expression(body, bound + 1, known),
        };
        Ex::Each(kind, Box::new(over), Box::new(body))
    }

    /// Subtracts the cost of this number of copies of an expression from `left`. Returns `false`, and subtracts
    /// nothing, if the cost is too high.
    fn afford(&mut self, ex: &Ex, copies: usize) -> bool {
        let cost = size(ex).saturating_mul(copies);
        let is_left = cost <= self.left;
        if is_left {
            self.left -= cost;
        }
        is_left
    }

    /// Prepares the body of a quantifier over processes for each place that a process can be at.
    fn by_place(&mut self, body: &Ex, bound: usize, known: &[Known<'_>]) -> Ex {
        let places = self.places;
        if !self.afford(body, places.len() + 1) {
            return self.expression(body, bound + 1, known);
        }
        let case = |loc| {
            let case = self.expression(body, bound + 1, &with(known, Known::Place(bound, loc)));
            self.by_private(case, bound)
        };
        let mut cases: Vec<Ex> = places.iter().map(case).collect();
        // A process that has made a fault is at none of the places.
        cases.push(body.clone());
        Ex::ByPlace(bound, cases)
    }

    /// Prepares the body of a quantifier over the numbers from lo to hi for each of them, if they are few.
    fn by_value(
        &mut self,
        (lo, hi): (Value, Value),
        body: &Ex,
        bound: usize,
        known: &[Known<'_>],
    ) -> Ex {
        let count = hi - lo + 1;
        if !(1..=MOST_CASES).contains(&count) || !self.afford(body, count as usize) {
            return self.expression(body, bound + 1, known);
        }
        let case =
            |value| self.expression(body, bound + 1, &with(known, Known::Value(bound, value)));
        Ex::ByValue(bound, lo, (lo..=hi).map(case).collect())
    }

    /// Decides a condition in advance if it depends only on one private variable of the process that the bound variable
    /// stands for. Otherwise returns the condition as it is.
    fn by_private(&self, condition: Ex, bound: usize) -> Ex {
        let Some(variable) = only_variable(&condition, bound) else { return condition };
        let mut holds = 0;
        for bit in 0..u64::BITS {
            let mut private = [0; MOST_PRIVATE];
            private[variable] = ByPrivate::FIRST + bit as i32;
            let processes = [Loc::Entry(At { line: 0, private })];
            let state = View { processes: &processes, memory: &[] };
            let bound = vec![0; bound + 1];
            let scope = Scope { state: Some(&state), bound, ..Scope::constant(self.program) };
            match { scope }.holds(&condition) {
                Ok(true) => holds |= 1 << bit,
                Ok(false) => {}
                Err(_) => return condition,
            }
        }
        Ex::ByPrivate(Box::new(ByPrivate { process: bound, variable, holds, otherwise: condition }))
    }

    /// Returns the value of an expression whose parts are all numbers, or else the expression.
    fn folded(&self, ex: Ex) -> Ex {
        let mut is_constant = true;
        ex.visit_parts(&mut |part| is_constant &= matches!(part, Ex::Number(_)));
        match is_constant.then(|| Scope::constant(self.program).value(&ex)) {
            Some(Ok(value)) => Ex::Number(value),
            _ => ex,
        }
    }
}

/// Adds to what is known about bound variables.
fn with<'a>(known: &[Known<'a>], more: Known<'a>) -> Vec<Known<'a>> {
    known.iter().copied().chain([more]).collect()
}

/// Returns whether an expression has a quantifier.
fn has_quantifier(ex: &Ex) -> bool {
    let mut found = false;
    ex.visit(&mut |part| found |= matches!(part, Ex::Each(..)));
    found
}

/// Returns the private variable of the process that a bound variable stands for, if a condition depends only on it.
fn only_variable(condition: &Ex, bound: usize) -> Option<usize> {
    let (mut variable, mut is_only) = (None, true);
    let (mut looks, mut uses) = (0, 0);
    condition.visit(&mut |part| match part {
        Ex::Of(process, index) if matches!(**process, Ex::Bound(p) if p == bound) => {
            is_only &= variable.is_none_or(|variable| variable == *index);
            variable = Some(*index);
            looks += 1;
        }
        Ex::Bound(index) => {
            is_only &= *index == bound;
            uses += 1;
        }
        Ex::Number(_) | Ex::Set(_) | Ex::Not(_) | Ex::Binary(..) | Ex::If(_) | Ex::Builtin(..) => {}
        _ => is_only = false,
    });
    // Each use of the bound variable must be a look at its private variable.
    variable.filter(|_| is_only && looks == uses)
}

fn truth(holds: bool) -> Ex {
    Ex::Number(holds.into())
}

/// Returns the number of parts of an expression.
fn size(ex: &Ex) -> usize {
    let mut parts = 0;
    ex.visit(&mut |_| parts += 1);
    parts
}

/// Returns whether a condition asks for the place of the process that a bound variable stands for.
fn asks_place(condition: &Ex, bound: usize) -> bool {
    let mut asks = false;
    condition.visit(&mut |part| {
        asks |= matches!(part, Ex::At(process, _) if matches!(**process, Ex::Bound(index) if index == bound));
    });
    asks
}

#[cfg(test)]
mod tests;
