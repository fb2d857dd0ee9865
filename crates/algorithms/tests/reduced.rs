//! The reduced model of the halls of processes makes the same steps as the full model, except that it does not stop at
//! lines that have no effect. The test runs both in lockstep, without normal forms. `normal_form.rs` compares the
//! reduced model with its normal form. The lab also lets the reduced model make some steps at once
//! (`Algorithm::advance`): `settled.rs` tests this.

use hallpass_algorithms::{
    Algorithm, Loc, Memory, Next, Op, Var, Word,
    halls::processes::{Cast, Casts, ProcessesModel},
};

/// The lines at which the reduced model does not stop.
const WITHOUT_EFFECT: [&str; 5] = ["W5", "W6", "W7", "W9", "W10"];

struct Words<'a>(&'a mut [Word]);

impl Memory for Words<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let old = self.0[var.index()];
        self.0[var.index()] = op.leaves(old);
        old
    }
}

/// A run of a model.
struct Run<'a> {
    model: &'a ProcessesModel,
    processes: Vec<Loc<<ProcessesModel as Algorithm>::State>>,
    memory: Vec<Word>,
}

impl<'a> Run<'a> {
    fn new(model: &'a ProcessesModel) -> Self {
        let processes = vec![Loc::Remainder; model.n()];
        Run { model, processes, memory: model.layout().first_initial() }
    }

    fn step(&mut self, p: usize) {
        let before = self.processes[p];
        let next = match before {
            Loc::Remainder => Next::Goto(self.model.begin(p)),
            Loc::Critical(exit) => Next::Goto(exit),
            Loc::Entry(at) | Loc::Exit(at) => self.model.step(&mut Words(&mut self.memory), p, at),
        };
        let leaves = matches!(before, Loc::Exit(_) | Loc::Critical(_));
        self.processes[p] = match next {
            Next::Goto(at) | Next::Spin(at) if leaves => Loc::Exit(at),
            Next::Goto(at) | Next::Spin(at) => Loc::Entry(at),
            Next::Enter(at) => Loc::Critical(at),
            Next::Leave => Loc::Remainder,
        };
    }

    /// Returns the section of process `p` and its line.
    fn place(&self, p: usize) -> (&'static str, String) {
        let line = |at| self.model.label(p, at).line;
        match self.processes[p] {
            Loc::Remainder => ("remainder", String::new()),
            Loc::Entry(at) => ("entry", line(at)),
            Loc::Critical(at) => ("critical", line(at)),
            Loc::Exit(at) => ("exit", line(at)),
        }
    }

    /// Returns whether the reduced model does not stop at the line of process `p`.
    fn is_without_effect(&self, p: usize) -> bool {
        let at = format!("{:?}", self.processes[p]);
        match self.place(p).1.as_str() {
            // The process reads its own card or link.
            "W2" | "G4" => at.contains(&format!(" i: {p}")),
            line => WITHOUT_EFFECT.contains(&line),
        }
    }
}

/// A small random number generator for the schedule.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

#[test]
fn the_reduced_model_makes_the_same_steps() {
    let plain: Casts = Casts::PLAIN;
    let mut skipped = 0;
    for (casts, n, k) in [(plain, 2, 1), (plain, 3, 1), (plain, 3, 2), (Cast::Once.into(), 3, 1)] {
        let (full, reduced) =
            (ProcessesModel::new(casts, n, k), ProcessesModel::reduced(casts, n, k));
        for seed in 1..=40 {
            let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
            let (mut one, mut other) = (Run::new(&full), Run::new(&reduced));
            for step in 0..3_000 {
                let p = random.below(n);
                let burst = if random.below(6) == 0 { random.below(30) } else { 1 };
                for _ in 0..burst {
                    one.step(p);
                    while one.is_without_effect(p) {
                        one.step(p);
                        skipped += 1;
                    }
                    other.step(p);
                    assert_eq!(one.place(p), other.place(p), "seed {seed}, step {step}");
                    assert_eq!(one.memory, other.memory, "seed {seed}, step {step}");
                }
            }
        }
    }
    assert!(skipped > 10_000, "only {skipped} lines were skipped");
}
