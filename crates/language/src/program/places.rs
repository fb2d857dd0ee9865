//! Prepares invariants for the evaluation in every state.
//!
//! Most conditions ask at which lines processes are. A process has few places. So for each place, the parts of a
//! condition that depend only on the place are evaluated in advance: `p at 3..5 and p.v = 1` becomes `p.v = 1` for a
//! process at line 4, and `false` for a process at line 7.

use hallpass_algorithms::{Loc, Section};

use super::{At, MOST_PRIVATE, Program};
use crate::{
    code::{Binary, Each, Ex, Over, Place},
    eval::Scope,
};

/// The most expressions that the preparation of the invariants may make.
const MOST_PARTS: usize = 200_000;

/// The place of the process that a bound variable stands for.
type Known<'a> = (usize, &'a Loc<At>);

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

    /// Returns whether a process there is at a place that an invariant names.
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
        let place = |process: &Ex| match process {
            Ex::Bound(index) => known.iter().find(|(known, _)| known == index).map(|(_, loc)| *loc),
            _ => None,
        };
        match ex {
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
        let cost = size(body).saturating_mul(self.places.len() + 1);
        let body = match is_process && asks_place(body, bound) && cost <= self.left {
            true => {
                self.left -= cost;
                let places = self.places;
                let case = |loc| {
                    let known: Vec<Known<'_>> =
                        known.iter().copied().chain([(bound, loc)]).collect();
                    self.expression(body, bound + 1, &known)
                };
                let mut cases: Vec<Ex> = places.iter().map(case).collect();
                // A process that has made a fault is at none of the places.
                cases.push(body.clone());
                Ex::ByPlace(bound, cases)
            }
            false => self.expression(body, bound + 1, known),
        };
        Ex::Each(kind, Box::new(over), Box::new(body))
    }

    /// Returns the value of an expression that depends on the size only, or else the expression.
    fn folded(&self, ex: Ex) -> Ex {
        let mut is_constant = true;
        ex.visit_parts(&mut |part| is_constant &= matches!(part, Ex::Number(_)));
        match is_constant.then(|| Scope::constant(self.program).value(&ex)) {
            Some(Ok(value)) => Ex::Number(value),
            _ => ex,
        }
    }
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
mod tests {
    use hallpass_algorithms::{Algorithm, Memory, Next, Op, Var, View, Word};

    use super::*;
    use crate::File;

    /// A lock for n processes, with invariants of every kind. Most of them are false in some states.
    const SOURCE: &str = "
        algorithm test
        constant most = n - k
        shared  level[i in process] : 0..n-1 = 0
                victim[l in 1..n-1] : process open
        private l : 0..n-1
        passage
          doorway
          l := 1
          while l < n do
            1: level[me] := l
            2: victim[l] := me
            waiting
            for j in others do
              loop
                3: if level[j] < l then break end
                4: if victim[l] <> me then break end
              end
            end
            doorway
            l := if l = n - 1 then 0 else l + 1
            if l = 0 then goto 6 end
          end
          6: level[me] := n - 1
          critical
          5: level[me] := 0
        end
        invariant A: all p in process : not p at 1..2 or p.l >= 1
        invariant B: size({p in process : p at waiting or p at {critical, exit} and p.l = 0}) <= most
        invariant C: exists p in process : p at remainder or p at 3..4 and level[p] = p.l
        invariant D: all p in process : all q in process : not (p at critical and q at critical) or p = q
        invariant E: all p in process : p at remainder or victim[p.l] = p
        invariant F: all j in 1..n-1 : size({p in process : p at 1..4 and p.l > j}) < n - j
        invariant G: size({p in process : p at doorway}) + most > size({p in process : p at remainder})";

    struct Values(Vec<Word>);

    impl Memory for Values {
        fn access(&mut self, var: Var, op: Op) -> Word {
            let value = &mut self.0[var.index()];
            let old = *value;
            *value = op.leaves(old);
            old
        }
    }

    #[test]
    fn a_prepared_invariant_has_the_value_of_the_original() {
        let file = File::parse("test.kx", SOURCE).unwrap_or_else(|errors| panic!("{errors}"));
        let program = file.at(3, 1).unwrap();
        let decls = program.layout().decls();
        let mut memory = Values(decls.iter().map(|decl| decl.initial()[0]).collect());
        let mut processes = vec![Loc::Remainder; 3];
        let (mut seed, mut values) = (1u64, vec![[0; 3]; program.conditions.len()]);
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let p = (seed >> 33) as usize % 3;
            processes[p] = match processes[p] {
                Loc::Remainder => Loc::Entry(program.begin(p)),
                Loc::Critical(at) => Loc::Exit(at),
                loc @ (Loc::Entry(at) | Loc::Exit(at)) => match program.step(&mut memory, p, at) {
                    Next::Goto(at) | Next::Spin(at) if matches!(loc, Loc::Exit(_)) => Loc::Exit(at),
                    Next::Goto(at) | Next::Spin(at) => Loc::Entry(at),
                    Next::Enter(at) => Loc::Critical(at),
                    Next::Leave => Loc::Remainder,
                },
            };
            let state = View { processes: &processes, memory: &memory.0 };
            let value =
                |ex: &Ex| Scope { state: Some(&state), ..Scope::constant(&program) }.holds(ex);
            for (index, prepared) in program.conditions.iter().enumerate() {
                let (name, original) = &file.code.invariants[index];
                assert_eq!(value(prepared), value(original), "{name} in {processes:?}");
                values[index][value(original).map_or(2, usize::from)] += 1;
            }
        }
        // The run has shown that B can be true and false, and that E can be false or have an index that does not exist.
        let seen: Vec<[bool; 3]> =
            values.iter().map(|counts| counts.map(|count| count > 0)).collect();
        assert_eq!(seen[0], [false, true, false]);
        assert_eq!(seen[1], [true, true, false]);
        assert_eq!(seen[3], [false, true, false]);
        assert!(seen[4][0] && seen[4][2], "{values:?}");
    }
}
