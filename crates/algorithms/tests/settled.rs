//! The reduced model of the halls of processes makes *settled* steps at once: steps whose moment makes no difference.
//! It also forgets rings and followers, which only wake sleeping waiters. With these reductions, it has every run that
//! it would have without them. (`halls/processes/ahead.rs` explains both.)
//!
//! Call the model without these reductions the *plain* model. The tests check that the reduced model *simulates* the
//! plain one: for each step of a process from a state of the plain model, the reduced model follows with at most two
//! steps of the same process, and spurious wake-ups of this process. Then the sections of all processes are the same
//! again. So for each run of the plain model, the reduced model has a run in which the same processes enter and leave
//! in the same order.
//!
//! A process that moves forever in a run of the plain model also moves forever in the corresponding run of the reduced
//! model. To show this, the tests follow pairs: a state of each model. They check that no cycle of pairs consists only
//! of steps that the reduced model does not make. (A step that waits in both models counts as made by both.) So a
//! property of all runs that the reduced model has, such as starvation freedom, holds in the plain model, too.

use std::{
    collections::{HashMap, HashSet},
    env,
};

use hallpass_algorithms::{
    Algorithm, Loc, Memory, Next, Op, Var, View, Word,
    halls::processes::{Casts, ProcessesModel},
};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    processes: Vec<Loc<<ProcessesModel as Algorithm>::State>>,
    memory: Vec<Word>,
}

struct Words<'a>(&'a mut [Word]);

impl Memory for Words<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let old = self.0[var.index()];
        self.0[var.index()] = op.leaves(old);
        old
    }
}

impl State {
    fn new(model: &ProcessesModel) -> Self {
        let (processes, memory) = (vec![Loc::Remainder; model.n()], model.layout().first_initial());
        State { processes, memory }
    }

    /// Returns the state after a step of process `p`, in the plain model.
    fn step(&self, model: &ProcessesModel, p: usize) -> Self {
        let mut state = self.clone();
        let before = state.processes[p];
        let next = match before {
            Loc::Remainder => Next::Goto(model.begin(p)),
            Loc::Critical(exit) => Next::Goto(exit),
            Loc::Entry(at) | Loc::Exit(at) => model.step(&mut Words(&mut state.memory), p, at),
        };
        let leaves = matches!(before, Loc::Exit(_) | Loc::Critical(_));
        state.processes[p] = match next {
            Next::Goto(at) | Next::Spin(at) if leaves => Loc::Exit(at),
            Next::Goto(at) | Next::Spin(at) => Loc::Entry(at),
            Next::Enter(at) => Loc::Critical(at),
            Next::Leave => Loc::Remainder,
        };
        model.normalize(&mut state.processes, &mut state.memory);
        state
    }

    /// Returns the state of the reduced model to which this state is mapped.
    fn image(mut self, model: &ProcessesModel) -> Self {
        model.advance(&mut self.processes, &mut self.memory);
        model.normalize(&mut self.processes, &mut self.memory);
        self
    }

    /// Returns the state after a spurious wake-up of process `p`, in the reduced model.
    fn woken(&self, model: &ProcessesModel, p: usize) -> Self {
        let mishap = model.mishap(p).expect("a process may wake up at any time");
        let mut state = self.clone();
        Words(&mut state.memory).access(mishap.var, mishap.op);
        state.image(model)
    }

    /// Returns the section of each process.
    fn sections(&self, model: &ProcessesModel) -> Vec<&'static str> {
        let section = |(p, loc): (usize, &Loc<_>)| match *loc {
            Loc::Remainder => "remainder",
            Loc::Entry(at) if model.waits(p, at) => "waiting room",
            Loc::Entry(_) => "doorway",
            Loc::Critical(_) => "critical",
            Loc::Exit(_) => "exit",
        };
        self.processes.iter().enumerate().map(section).collect()
    }

    /// Returns the number of processes and variables in which two states differ.
    fn differences(&self, other: &State) -> usize {
        let processes = self.processes.iter().zip(&other.processes).filter(|(a, b)| a != b);
        let variables = self.memory.iter().zip(&other.memory).filter(|(a, b)| a != b);
        processes.count() + variables.count()
    }

    fn broken_invariant(&self, model: &ProcessesModel) -> Option<&'static str> {
        model.broken_invariant(&View { processes: &self.processes, memory: &self.memory })
    }
}

/// A state of the plain model, and a state of the reduced model that can do the same.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Pair {
    plain: State,
    reduced: State,
}

impl Pair {
    fn new(model: &ProcessesModel) -> Self {
        Pair { plain: State::new(model), reduced: State::new(model) }
    }

    /// Returns the pair after a step of process `p` of the plain model, and whether the reduced model has made a step.
    fn step(&self, model: &ProcessesModel, p: usize) -> (Self, bool) {
        let plain = self.plain.step(model, p);
        let (image, sections) = (plain.clone().image(model), plain.sections(model));
        let reduced = (self.follow(model, p, &image).into_iter())
            .filter(|(state, _)| state.sections(model) == sections)
            .min_by_key(|(state, _)| {
                let is_elsewhere = state.processes[p] != image.processes[p];
                (is_elsewhere, state.differences(&image))
            });
        let Some((reduced, has_moved)) = reduced else {
            panic!("the reduced model cannot follow process {p}: {self:#?} -> {plain:#?}")
        };
        let waits = plain == self.plain && self.reduced.step(model, p) == self.reduced;
        assert_eq!(plain.broken_invariant(model), reduced.broken_invariant(model), "{plain:?}");
        (Pair { plain, reduced }, has_moved || waits)
    }

    /// Returns the states that the reduced model can reach by steps and wake-ups of process `p`. For each state, says
    /// whether the reduced model has made a step.
    fn follow(&self, model: &ProcessesModel, p: usize, image: &State) -> Vec<(State, bool)> {
        // Usually, the reduced model makes the same step, or none.
        if self.reduced == *image {
            return vec![(self.reduced.clone(), false)];
        }
        let next = self.reduced.step(model, p).image(model);
        if next == *image {
            return vec![(next, true)];
        }
        let mut reached = vec![(self.reduced.clone(), false)];
        let mut first = 0;
        for _ in 0..2 {
            let last = reached.len();
            for at in first..last {
                reached.push((reached[at].0.woken(model, p), reached[at].1));
            }
            for at in first..reached.len() {
                reached.push((reached[at].0.step(model, p).image(model), true));
            }
            first = last;
        }
        let last = reached.len();
        for at in first..last {
            reached.push((reached[at].0.woken(model, p), reached[at].1));
        }
        reached
    }
}

/// Compares every step of the plain model while at most `contention` processes compete. Returns the numbers of states
/// of the plain and of the reduced model.
fn compare(n: usize, k: usize, contention: usize) -> [usize; 2] {
    let model = ProcessesModel::reduced(Casts::PLAIN, n, k);
    let mut numbers = HashMap::from([(Pair::new(&model), 0)]);
    let mut pairs = vec![Pair::new(&model)];
    // For each pair: the pairs after the steps that the reduced model does not make.
    let mut unseen: Vec<Vec<usize>> = Vec::new();
    while unseen.len() < pairs.len() {
        let pair = pairs[unseen.len()].clone();
        let locs = &pair.plain.processes;
        let competing = locs.iter().filter(|loc| **loc != Loc::Remainder).count();
        let mut unseen_here = Vec::new();
        for (p, loc) in locs.iter().enumerate() {
            if competing == contention && *loc == Loc::Remainder {
                continue;
            }
            let (next, is_seen) = pair.step(&model, p);
            let number = *numbers.entry(next).or_insert_with_key(|next| {
                pairs.push(next.clone());
                pairs.len() - 1
            });
            if !is_seen {
                unseen_here.push(number);
            }
        }
        unseen.push(unseen_here);
    }
    assert_no_cycle(&unseen);
    let plain: HashSet<&State> = pairs.iter().map(|pair| &pair.plain).collect();
    let reduced: HashSet<&State> = pairs.iter().map(|pair| &pair.reduced).collect();
    [plain.len(), reduced.len()]
}

/// Panics if some states form a cycle. To find out, removes states without successors, one after another: the states on
/// a cycle remain.
fn assert_no_cycle(successors: &[Vec<usize>]) {
    let mut before = vec![Vec::new(); successors.len()];
    let mut left: Vec<usize> = successors.iter().map(Vec::len).collect();
    for (state, next) in successors.iter().enumerate() {
        next.iter().for_each(|&next| before[next].push(state));
    }
    let mut ready: Vec<usize> = (0..left.len()).filter(|&state| left[state] == 0).collect();
    let mut removed = 0;
    while let Some(state) = ready.pop() {
        removed += 1;
        for &earlier in &before[state] {
            left[earlier] -= 1;
            if left[earlier] == 0 {
                ready.push(earlier);
            }
        }
    }
    assert_eq!(removed, successors.len(), "a process moves forever, and its image does not");
}

#[test]
fn every_step_of_two_processes_is_a_step_of_the_reduced_model() {
    assert_eq!(compare(2, 1, 2), [31_082, 2_429]);
}

#[test]
fn every_step_of_two_of_three_processes_is_a_step_of_the_reduced_model() {
    assert_eq!(compare(3, 1, 2), [296_170, 11_771]);
}

/// `HALLPASS_WALKS` sets the number of walks.
#[test]
fn steps_of_three_processes_are_steps_of_the_reduced_model() {
    let walks = env::var("HALLPASS_WALKS").map_or(4, |walks| walks.parse().expect("a number"));
    for k in [1, 2] {
        let model = ProcessesModel::reduced(Casts::PLAIN, 3, k);
        for seed in 1..=walks {
            let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
            let mut pair = Pair::new(&model);
            for _ in 0..1_000 {
                let p = random.below(3);
                let burst = if random.below(6) == 0 { random.below(30) } else { 1 };
                for _ in 0..burst {
                    pair = pair.step(&model, p).0;
                }
            }
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
