//! Models of the hall for threads with several kinds of events. One process, the manager, resizes and closes the hall.
//! The tests check which sizes and closed halls are reachable.

use std::collections::HashSet;

use hallpass_algorithms::{
    Algorithm, Loc, Memory, Next, Op, Var, Word,
    halls::threads::{Cast, Fair, Sleep, Terms, model},
};

struct Words<'a>(&'a mut [Word]);

impl Memory for Words<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let old = self.0[var.index()];
        self.0[var.index()] = op.leaves(old);
        old
    }
}

/// Searches breadth first for a state with these properties. `wanted` gets the terms of the hall, and the number of
/// processes in their critical sections.
fn reaches(algorithm: &impl Algorithm, wanted: impl Fn(Terms, usize) -> bool) -> bool {
    let decls = algorithm.layout().decls();
    let terms = decls.iter().position(|decl| decl.name == "terms").expect("a hall has terms");
    let start = (vec![Loc::Remainder; algorithm.n()], algorithm.layout().first_initial());
    let mut seen = HashSet::from([start.clone()]);
    let mut level = vec![start];
    while !level.is_empty() {
        let mut next_level = Vec::new();
        for (processes, memory) in &level {
            let inside = processes.iter().filter(|at| matches!(at, Loc::Critical(_))).count();
            if wanted(Terms::unpack(memory[terms]), inside) {
                return true;
            }
            for p in 0..algorithm.n() {
                let (mut processes, mut memory) = (processes.clone(), memory.clone());
                let next = match processes[p] {
                    Loc::Remainder => Next::Goto(algorithm.begin(p)),
                    Loc::Critical(exit) => Next::Goto(exit),
                    Loc::Entry(at) | Loc::Exit(at) => {
                        algorithm.step(&mut Words(&mut memory), p, at)
                    }
                };
                let leaves = matches!(processes[p], Loc::Exit(_) | Loc::Critical(_));
                processes[p] = match next {
                    Next::Goto(at) | Next::Spin(at) if leaves => Loc::Exit(at),
                    Next::Goto(at) | Next::Spin(at) => Loc::Entry(at),
                    Next::Enter(at) => Loc::Critical(at),
                    Next::Leave => Loc::Remainder,
                };
                let state = (processes, memory);
                if seen.insert(state.clone()) {
                    next_level.push(state);
                }
            }
        }
        level = next_level;
    }
    false
}

#[test]
fn a_hall_that_is_resized_and_closed_is_both() {
    let hall = model(Fair, Cast::Resize | Cast::Close, Sleep::Light, 2, 2);
    assert!(reaches(&hall, |terms, _| terms.k == 1 && !terms.closed), "shrunk and open");
    assert!(reaches(&hall, |terms, _| terms.k == 1 && terms.closed), "shrunk and closed");
    assert!(reaches(&hall, |terms, _| terms.k == 2 && terms.closed), "grown again and closed");
}

#[test]
fn a_hall_never_shrinks_below_the_number_of_slots_that_a_process_takes() {
    let hall = |k| model(Fair, Cast::Many | Cast::Resize, Sleep::Light, 3, k);
    assert!(!reaches(&hall(2), |terms, _| terms.k < 2));
    assert!(reaches(&hall(3), |terms, inside| terms.k == 2 && inside == 2));
    assert!(!reaches(&hall(3), |terms, _| terms.k < 2));
}
