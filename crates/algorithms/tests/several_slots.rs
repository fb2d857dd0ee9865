//! Random runs of the hall for processes, in which some processes want several slots, or another process resizes or
//! closes the hall. If three processes want several slots, they have more private states than the tables of the lab can
//! number, so the lab explores two. `halls/processes/mod.rs` explains the lines, and the words *card*, *ticket* and
//! *set aside*.
//!
//! A run has two parts. First, processes make steps in a random order. Some of them pause, and some are killed. In the
//! second part, no process is killed, the processes take turns, and all of them must finish. `HALLPASS_RUNS` is the
//! number of runs of each model. (Two tests make runs with fixed steps instead: the test of a late card, and the test
//! of a closed hall.)

use std::env;

use hallpass_algorithms::{
    Algorithm, Loc, Memory, Next, Op, Var, View, Word,
    framework::changed::Changed,
    halls::processes::{Cast, ProcessesModel, wrong},
};

/// The number of steps in the first part of a run.
const STEPS: usize = 250;
/// The number of turns of each process in the second part. A passage takes fewer than 200 steps.
const TURNS: usize = 2_000;

struct Words<'a>(&'a mut [Word]);

impl Memory for Words<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let old = self.0[var.index()];
        self.0[var.index()] = op.leaves(old);
        old
    }
}

/// A hall and its processes.
struct Run<'a, A: Algorithm> {
    algorithm: &'a A,
    processes: Vec<Loc<A::State>>,
    memory: Vec<Word>,
}

impl<'a, A: Algorithm> Run<'a, A> {
    fn new(algorithm: &'a A) -> Self {
        let processes = vec![Loc::Remainder; algorithm.n()];
        Run { algorithm, processes, memory: algorithm.layout().first_initial() }
    }

    /// Lets process `p` make a step. Returns the property that does not hold afterwards, if any.
    fn step(&mut self, p: usize) -> Option<&'static str> {
        let before = self.processes[p];
        let next = match before {
            Loc::Remainder => Next::Goto(self.algorithm.begin(p)),
            Loc::Critical(exit) => Next::Goto(exit),
            Loc::Entry(at) | Loc::Exit(at) => {
                self.algorithm.step(&mut Words(&mut self.memory), p, at)
            }
        };
        let leaves = matches!(before, Loc::Exit(_) | Loc::Critical(_));
        self.processes[p] = match next {
            Next::Goto(at) | Next::Spin(at) if leaves => Loc::Exit(at),
            Next::Goto(at) | Next::Spin(at) => Loc::Entry(at),
            Next::Enter(at) => Loc::Critical(at),
            Next::Leave => Loc::Remainder,
        };
        let inside = self.processes.iter().filter(|at| matches!(at, Loc::Critical(_))).count();
        let view = View { processes: &self.processes, memory: &self.memory };
        match inside > self.algorithm.k() {
            true => Some("exclusion"),
            false => self.algorithm.broken_invariant(&view),
        }
    }

    /// Kills process `p` if it can be killed.
    fn kill(&mut self, p: usize) {
        if let Some(mishap) = self.algorithm.mishap(p) {
            let life = &mut self.memory[mishap.var.index()];
            if mishap.op.leaves(*life) != *life {
                *life = mishap.op.leaves(*life);
                self.processes[p] = Loc::Remainder;
            }
        }
    }

    /// Returns whether process `p` has made its only passage. If so, it leaves within two steps when it starts again.
    fn is_done(&self, p: usize) -> bool {
        let mut memory = self.memory.clone();
        let mut step = |at| self.algorithm.step(&mut Words(&mut memory), p, at);
        self.processes[p] == Loc::Remainder
            && match step(self.algorithm.begin(p)) {
                Next::Goto(second) => matches!(step(second), Next::Leave),
                first => matches!(first, Next::Leave),
            }
    }

    /// Lets process `p` make steps until it is at the line with this label.
    fn step_to(&mut self, p: usize, line: &str) {
        for _ in 0..TURNS {
            if let Loc::Entry(at) | Loc::Critical(at) | Loc::Exit(at) = self.processes[p]
                && self.algorithm.label(p, at).line == line
            {
                return;
            }
            assert_eq!(self.step(p), None);
        }
        panic!("process {p} does not reach line {line}");
    }

    /// Makes the first part of a run. Returns the first property that does not hold after a step, if any.
    fn disturb(&mut self, random: &mut fastrand::Rng) -> Option<&'static str> {
        let n = self.algorithm.n();
        let mut paused = vec![0; n];
        let steps = random.usize(..STEPS);
        for step in 0..steps {
            let p = random.usize(..n);
            match random.usize(..100) {
                0 => self.kill(p),
                1..10 => paused[p] = step + random.usize(..STEPS / 2),
                _ => {}
            }
            if paused[p] > step {
                continue;
            }
            let burst = if random.usize(..4) == 0 { random.usize(..30) } else { 1 };
            for _ in 0..burst {
                if let Some(broken) = self.step(p) {
                    return Some(broken);
                }
            }
        }
        None
    }

    /// Makes the second part of a run, without process `stopped`. Returns the first property that does not hold, or
    /// `progress` if a process does not finish.
    fn finish(&mut self, stopped: Option<usize>) -> Option<&'static str> {
        let others: Vec<usize> = (0..self.algorithm.n()).filter(|&p| Some(p) != stopped).collect();
        for _ in 0..TURNS {
            let busy: Vec<usize> = others.iter().copied().filter(|&p| !self.is_done(p)).collect();
            if busy.is_empty() {
                return None;
            }
            for p in busy {
                if let Some(broken) = self.step(p) {
                    return Some(broken);
                }
            }
        }
        Some("progress")
    }
}

fn runs() -> u64 {
    env::var("HALLPASS_RUNS").map_or(2_000, |runs| runs.parse().expect("a number of runs"))
}

/// Returns the first run in which a property does not hold, and the name of the property.
fn fault(algorithm: &impl Algorithm) -> Option<(u64, &'static str)> {
    (0..runs()).find_map(|seed| {
        let mut run = Run::new(algorithm);
        let broken = run.disturb(&mut fastrand::Rng::with_seed(seed));
        broken.or_else(|| run.finish(None)).map(|broken| (seed, broken))
    })
}

#[test]
fn requests_for_one_slot_and_for_several_slots_do_not_block_each_other() {
    for (n, k) in [(3, 2), (4, 2), (4, 3)] {
        for large in [0, n - 1] {
            let hall = ProcessesModel::mixed(Cast::Mortal | Cast::Once, n, k, large);
            assert_eq!(fault(&hall), None, "n = {n}, k = {k}, process {large} wants two");
        }
        assert_eq!(
            fault(&ProcessesModel::spare(Cast::Mortal | Cast::Once, n, k)),
            None,
            "{n}, {k}"
        );
        assert_eq!(fault(&ProcessesModel::spare(Cast::Mortal | Cast::Once, n, 1)), None, "{n}, 1");
        assert_eq!(fault(&ProcessesModel::many(Cast::Mortal | Cast::Once, n, k)), None, "{n}, {k}");
    }
}

/// Two slots. Process 0 wants one, and the others want two.
///
/// Process 1 holds both slots. Process 0 draws a ticket, and has not yet written it on its card. Process 2 draws the
/// next ticket, and is chosen. Process 1 leaves, sets both slots aside for process 2, and is killed before it settles
/// the offer on the card of process 2.
fn all_slots_are_set_aside_behind_a_late_card(hall: &impl Algorithm) -> Option<&'static str> {
    let mut run = Run::new(hall);
    run.step_to(1, "X7");
    run.step_to(0, "E8");
    run.step_to(2, "W10");
    run.step_to(1, "S10");
    run.kill(1);
    run.finish(None)
}

#[test]
fn slots_that_are_set_aside_behind_a_late_card_do_not_stay_free_forever() {
    let hall = || ProcessesModel::spare(Cast::Mortal | Cast::Once, 3, 1);
    assert_eq!(all_slots_are_set_aside_behind_a_late_card(&hall()), None);
    let wrong = Changed::<_, wrong::PassesOver>::new(hall());
    assert_eq!(all_slots_are_set_aside_behind_a_late_card(&wrong), Some("progress"));
}

#[test]
fn in_a_hall_that_is_resized_every_holder_has_a_slot_of_the_hall() {
    for (n, k) in [(3, 1), (4, 1), (4, 2)] {
        assert_eq!(
            fault(&ProcessesModel::new(Cast::Once | Cast::Resize, n, k)),
            None,
            "n = {n}, k = {k}"
        );
        assert_eq!(
            fault(&ProcessesModel::shrunk(Cast::Mortal | Cast::Once, n, k)),
            None,
            "{n}, {k}"
        );
    }
}

#[test]
fn a_process_that_read_the_size_before_the_hall_shrank_takes_a_slot_that_is_not_sealed() {
    let found = fault(&Changed::<_, wrong::Unsealed>::new(ProcessesModel::new(
        Cast::Once | Cast::Resize,
        3,
        1,
    )));
    assert!(matches!(found, Some((_, "I3"))), "{found:?}");
}

#[test]
fn deaths_and_time_outs_do_not_disturb_a_hall_that_is_resized_or_closed() {
    for change in [Cast::Resize, Cast::Close] {
        for event in [Cast::Mortal, Cast::Timeout] {
            let casts = event | Cast::Once | change;
            for (n, k) in [(3, 1), (4, 1), (4, 2)] {
                assert_eq!(fault(&ProcessesModel::new(casts, n, k)), None, "{casts:?}, {n}, {k}");
            }
            assert_eq!(
                fault(&ProcessesModel::many(casts, 4, 1)),
                None,
                "two slots each, {casts:?}"
            );
            assert_eq!(fault(&ProcessesModel::spare(casts, 4, 2)), None, "one or two, {casts:?}");
        }
    }
}

/// Returns whether a process that arrives after the hall was closed enters. `is_held` says whether process 1 holds a
/// slot when the hall is closed.
fn enters_a_closed_hall(hall: &impl Algorithm, is_held: bool) -> bool {
    let mut run = Run::new(hall);
    if is_held {
        run.step_to(1, "X1");
    }
    run.step(2);
    while run.processes[2] != Loc::Remainder {
        assert_eq!(run.step(2), None, "process 2 closes the hall");
    }
    run.finish(Some(0));
    (0..TURNS).any(|_| {
        assert_eq!(run.step(0), None);
        matches!(run.processes[0], Loc::Critical(_))
    })
}

#[test]
fn a_process_that_arrives_at_a_closed_hall_does_not_enter() {
    let hall = || ProcessesModel::new(Cast::Once | Cast::Close, 3, 1);
    for is_held in [false, true] {
        assert!(!enters_a_closed_hall(&hall(), is_held));
        let wrong = Changed::<_, wrong::DeafWaiter>::new(hall());
        assert!(enters_a_closed_hall(&wrong, is_held));
    }
}

/// Three slots. Processes 0 and 1 want one, and process 2 wants two.
#[test]
fn only_a_process_that_stops_while_it_waits_for_several_slots_may_block_all_slots() {
    let hall = ProcessesModel::spare(Cast::Once, 3, 2);
    let mut blocked_by_large = 0;
    for seed in 0..runs() {
        for stopped in 0..3 {
            let mut run = Run::new(&hall);
            assert_eq!(run.disturb(&mut fastrand::Rng::with_seed(seed)), None);
            let waits = matches!(run.processes[stopped], Loc::Entry(_));
            let fault = run.finish(Some(stopped));
            match stopped == 2 && waits {
                true => blocked_by_large += usize::from(fault.is_some()),
                false => assert_eq!(fault, None, "run {seed}, process {stopped} stops"),
            }
        }
    }
    assert!(
        blocked_by_large > 0,
        "process 2 never blocks the hall, so the documentation can promise more"
    );
}
