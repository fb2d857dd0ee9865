//! Makes random runs, for sizes at which not all runs can be explored. Processes take their steps in bursts, and
//! some pause for a long time, because such runs are the hardest for a timestamp system.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Instant,
};

use super::{
    check::{Outcome, PROPERTIES, Part, Register, Values},
    observe::{Observer, Violation},
    properties::Properties,
    refinement::Refinement,
    subject::{IDLE, Procedure},
    systems::Entry,
    text,
};
use crate::check::Resources;

/// The number of steps after which a new run begins. Each run has a new [`Subject`](super::subject::Subject), because
/// a subject keeps a table of all positions (lines and private values) that its processes have reached. So the table
/// stays small.
const RUN: u64 = 50_000;
/// The number of steps shown from the end of a run.
const SHOWN: usize = 60;

/// Chooses the process that takes the next step.
struct Turns {
    random: fastrand::Rng,
    n: usize,
    awake: Vec<usize>,
    now: usize,
    left: u32,
}

impl Turns {
    fn next(&mut self) -> usize {
        if self.left == 0 {
            if self.random.u32(..32) == 0 || self.awake.is_empty() {
                let awake = |_: &usize| self.random.u32(..3) > 0;
                self.awake = (0..self.n).filter(awake).collect();
            }
            self.now = match self.awake.len() {
                0 => self.random.usize(..self.n),
                awake => self.awake[self.random.usize(..awake)],
            };
            let burst = [1, 4, 40][self.random.usize(..3)];
            self.left = 1 + self.random.u32(..burst);
        }
        self.left -= 1;
        self.now
    }
}

/// Makes random runs with `steps` steps in total.
pub fn run(
    entry: &Entry,
    n: usize,
    parts: &[Part],
    steps: u64,
    seed: u64,
    resources: &Resources<'_>,
) -> (Outcome, Vec<Register>) {
    match entry.marked {
        Some(build) if parts.contains(&Part::Refinement) => {
            let mut promises = vec![
                Violation::NoOrder,
                Violation::Stale,
                Violation::Contradiction,
                Violation::Kept,
            ];
            promises.extend(PROPERTIES);
            runs::<(Refinement, Properties)>(build, n, steps, seed, promises, resources)
        }
        _ => runs::<Properties>(entry.plain, n, steps, seed, PROPERTIES.to_vec(), resources),
    }
}

fn runs<O: Observer>(
    build: fn(usize) -> Box<dyn super::subject::Subject>,
    n: usize,
    steps: u64,
    seed: u64,
    promises: Vec<Violation>,
    resources: &Resources<'_>,
) -> (Outcome, Vec<Register>) {
    let begun = Instant::now();
    let mut violated = BTreeMap::new();
    let mut values = Values::new(&*build(n));
    let mut done = 0;
    let mut random = fastrand::Rng::with_seed(seed);
    'runs: while done < steps && !resources.stop.load(std::sync::atomic::Ordering::Relaxed) {
        let subject = build(n);
        let mut turns = Turns { random: random.fork(), n, awake: Vec::new(), now: 0, left: 0 };
        let (mut state, mut observer) = (subject.initial(), O::new(&*subject));
        let mut last = VecDeque::new();
        let mut inside = vec![Procedure::Label; n];
        for _ in 0..RUN.min(steps - done) {
            let p = turns.next();
            let start = if random.bool() { Procedure::Label } else { Procedure::Scan };
            if state.positions[p] == IDLE {
                inside[p] = start;
            }
            let coin = random.i64(..subject.coins());
            let happened = subject.step(p, start, coin, &mut state);
            let violation = observer.observe(&*subject, p, &happened, &mut state);
            values.add(&*subject, state.memory.clone());
            last.push_back(text::step(&*subject, p, inside[p], &happened));
            if last.len() > SHOWN {
                last.pop_front();
            }
            done += 1;
            if let Some(violation) = violation {
                violated.insert(violation.name(), last.into());
                break 'runs;
            }
        }
    }
    let outcome = Outcome {
        part: if promises.contains(&Violation::Stale) {
            Part::Refinement
        } else {
            Part::Properties
        },
        what: format!("{n} processes label and scan, random steps, seed {seed}"),
        states: done,
        depth: 0,
        complete: false,
        seconds: begun.elapsed().as_secs_f64(),
        promises,
        violated,
    };
    (outcome, values.registers(&*build(n)))
}
