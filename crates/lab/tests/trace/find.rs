//! Schedules for tests: hand-made schedules, and a search that is as simple as possible.

use std::collections::{HashSet, VecDeque};

use hallpass_lab::{
    machine,
    schedule::{Conventions, Finding, MemoryModel, Schedule},
    trace::{self, Event, Interpreter},
};

/// Returns a sequentially consistent run from the first initial memory.
pub fn schedule(id: &str, (n, k): (usize, usize), stem: &[usize], cycle: &[usize]) -> Schedule {
    Schedule {
        algorithm: id.into(),
        n,
        k,
        memory: MemoryModel::Sequential,
        initial: machine::build(id, n, k).unwrap().layout().first_initial(),
        stem: stem.to_vec(),
        cycle: cycle.to_vec(),
        finding: Finding::Exclusion,
    }
}

pub fn with(schedule: Schedule, finding: Finding) -> Schedule {
    Schedule { finding, ..schedule }
}

/// Finds a shortest run that shows `finding`, breadth first. Each path is executed from the start.
pub fn shortest(id: &str, (n, k): (usize, usize), finding: Finding) -> Schedule {
    let base = with(schedule(id, (n, k), &[], &[]), finding);
    let mut seen = HashSet::new();
    let mut paths = VecDeque::from([Vec::new()]);
    while let Some(path) = paths.pop_front() {
        let run = Schedule { stem: path.clone(), ..base.clone() };
        if trace::confirm(&run).is_ok() {
            return run;
        }
        for p in 0..n {
            let mut interpreter = Interpreter::new(&base, &Conventions::default()).unwrap();
            let mut path = path.clone();
            path.push(p);
            if path.iter().all(|&p| interpreter.step(p).is_ok())
                && seen.insert(interpreter.state().clone())
            {
                paths.push_back(path);
            }
        }
    }
    panic!("{id} {n} {k}: nothing found in {} states", seen.len())
}

/// A small deterministic random number generator.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

/// Returns a run that starves process 1, which waits while process 0 has stopped in its critical section.
pub fn starved() -> Schedule {
    let finding = Finding::Starvation { victim: 1, stopped: vec![0] };
    with(schedule("am-fig3", (2, 1), &[0, 0, 1, 1, 1, 1], &[1]), finding)
}

/// Returns a random run that ends with a complete passage of process 0, and the remote references of
/// this passage in both cost models.
pub fn passage(id: &str, size: (usize, usize), random: &mut Random) -> (Schedule, [u32; 2]) {
    let mut run = schedule(id, size, &[], &[]);
    let mut interpreter = Interpreter::new(&run, &Conventions::default()).unwrap();
    for _ in 0..random.below(40) {
        let p = 1 + random.below(size.0 - 1);
        interpreter.step(p).unwrap();
        run.stem.push(p);
    }
    let mut counts = [0, 0];
    loop {
        let p = random.below(size.0);
        let step = interpreter.step(p).unwrap();
        run.stem.push(p);
        if p == 0 {
            counts[0] += u32::from(step.miss);
            counts[1] += u32::from(step.remote);
            if step.events.contains(&Event::Returns) {
                return (run, counts);
            }
        }
    }
}
