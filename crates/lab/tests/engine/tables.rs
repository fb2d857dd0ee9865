//! Checks that the lab refuses to compile a step that makes two accesses, or a write that uses the value it replaces,
//! and that the error names the line. Also checks that no model of the registry has too many values.

use hallpass_algorithms::{Layout, Memory, Op, Pid, Var, Word, registry};
use hallpass_lab::{
    Machine,
    buffers::{Buffers, CAPACITY},
    machine::{Local, Position, build},
    tables::{CannotCompile, Tables},
};

/// A step machine whose steps a test changes.
struct Altered {
    machine: Box<dyn Machine>,
    step: fn(&dyn Machine, Pid, Local, &mut dyn Memory) -> Local,
}

impl Machine for Altered {
    fn n(&self) -> usize {
        self.machine.n()
    }

    fn k(&self) -> usize {
        self.machine.k()
    }

    fn layout(&self) -> &Layout {
        self.machine.layout()
    }

    fn is_symmetric(&self) -> bool {
        self.machine.is_symmetric()
    }

    fn invariants(&self) -> &'static [&'static str] {
        self.machine.invariants()
    }

    fn step(&self, p: Pid, at: Local, memory: &mut dyn Memory) -> Local {
        (self.step)(&*self.machine, p, at, memory)
    }

    fn position(&self, p: Pid, at: Local) -> Position {
        self.machine.position(p, at)
    }

    fn broken_invariant(&self, processes: &[Local], memory: &[Word]) -> Option<&'static str> {
        self.machine.broken_invariant(processes, memory)
    }
}

#[test]
fn a_step_with_two_accesses_is_refused_and_its_line_is_named() {
    let machine = Altered {
        machine: build("am-fig3", 2, 1).unwrap(),
        step: |machine, p, at, memory| {
            machine.step(p, at, memory);
            machine.step(p, at, memory)
        },
    };
    match Tables::new(&machine).map(|tables| tables.n) {
        Err(CannotCompile::TwoAccesses { process: 0, line }) => {
            assert!(line.starts_with("fig3:2"), "{line}");
        }
        other => panic!("{other:?}"),
    }
}

/// Turns every read-modify-write into a plain write that still returns the old value.
struct Plain<'a>(&'a mut dyn Memory);

impl Memory for Plain<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        self.0.access(var, if op.is_read_modify_write() { Op::Write(0) } else { op })
    }
}

#[test]
fn a_write_that_uses_the_value_it_replaces_is_refused_and_its_line_is_named() {
    let machine = Altered {
        machine: build("am-fig3", 2, 1).unwrap(),
        step: |machine, p, at, memory| machine.step(p, at, &mut Plain(memory)),
    };
    match Buffers::compile(&machine, CAPACITY).map(|(tables, _)| tables.n) {
        Err(CannotCompile::WriteThatReads { process: 0, line }) => {
            assert!(line.starts_with("fig3:2"), "{line}");
        }
        other => panic!("{other:?}"),
    }
}

/// The tests build models of these sizes, so a model that lists all values of a large variable would take the memory of
/// the whole machine.
#[test]
fn no_model_lists_more_values_than_a_table_can_have() {
    for entry in registry::ENTRIES {
        for (n, k) in [(4, 3), (5, 2)] {
            let Ok(machine) = build(entry.id, n, k) else { continue };
            for decl in machine.layout().decls() {
                let values = decl.domain.listed().len();
                assert!(values <= 1 << 22, "{} n={n} k={k}: {} has {values}", entry.id, decl.name);
            }
        }
    }
}
