//! Helpers for hand-made runs and for limits of explorations.

use std::sync::atomic::AtomicBool;

use hallpass_algorithms::{Pid, Section};
use hallpass_lab::{
    check::Resources,
    machine,
    schedule::{Conventions, Finding, MemoryModel, Schedule},
    trace::{Interpreter, Stand},
};

/// Moves processes to chosen lines and records the schedule.
pub struct Director {
    pub interpreter: Interpreter,
    pub schedule: Schedule,
}

impl Director {
    pub fn new(id: &str, n: usize, k: usize) -> Self {
        let schedule = Schedule {
            algorithm: id.into(),
            n,
            k,
            memory: MemoryModel::Sequential,
            initial: machine::build(id, n, k).unwrap().layout().first_initial(),
            stem: vec![],
            cycle: vec![],
            finding: Finding::Exclusion,
        };
        let interpreter = Interpreter::new(&schedule, &Conventions::default()).unwrap();
        Director { interpreter, schedule }
    }

    pub fn step(&mut self, p: Pid) {
        self.interpreter.step(p).unwrap();
        self.schedule.stem.push(p);
    }

    pub fn section(&self, p: Pid) -> Section {
        self.interpreter.stand(p).section
    }

    /// Moves `p` until `there` holds for its position.
    pub fn until(&mut self, p: Pid, there: impl Fn(&Stand) -> bool) {
        while !there(&self.interpreter.stand(p)) {
            self.step(p);
            assert!(
                self.schedule.stem.len() < 1000,
                "process {p} does not reach the expected position"
            );
        }
    }
}

/// Returns resources with these limits and one thread. Progress is not reported.
pub fn resources(states: u64, bytes: u64, stop: &AtomicBool) -> Resources<'_> {
    Resources { states, bytes, threads: 1, stop, phase: &|_| (), progress: &|_| () }
}
