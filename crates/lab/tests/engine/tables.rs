//! Machines that cannot be compiled into tables.

use hallpass_algorithms::{Layout, Memory, Pid, Word};
use hallpass_lab::{
    Machine,
    machine::{Local, Position, build},
    tables::{CannotCompile, Tables},
};

/// A machine that executes every line twice in one step.
struct Hasty(Box<dyn Machine>);

impl Machine for Hasty {
    fn n(&self) -> usize {
        self.0.n()
    }

    fn k(&self) -> usize {
        self.0.k()
    }

    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn is_symmetric(&self) -> bool {
        self.0.is_symmetric()
    }

    fn invariants(&self) -> &'static [&'static str] {
        self.0.invariants()
    }

    fn step(&self, p: Pid, at: Local, memory: &mut dyn Memory) -> Local {
        self.0.step(p, at, memory);
        self.0.step(p, at, memory)
    }

    fn position(&self, p: Pid, at: Local) -> Position {
        self.0.position(p, at)
    }

    fn broken_invariant(&self, processes: &[Local], memory: &[Word]) -> Option<&'static str> {
        self.0.broken_invariant(processes, memory)
    }
}

#[test]
fn two_accesses_in_a_step_are_refused_and_named() {
    let machine = Hasty(build("am-fig3", 2, 1).unwrap());
    match Tables::new(&machine).map(|tables| tables.n) {
        Err(CannotCompile::TwoAccesses { process: 0, line }) => {
            assert!(line.starts_with("fig3:2"), "{line}");
        }
        other => panic!("{other:?}"),
    }
}
