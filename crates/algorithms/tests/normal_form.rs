//! Compares states with their normal forms. One test follows random schedules in lockstep, with and
//! without normal forms. Another test compares every state near the initial state.

use std::{
    collections::HashSet,
    fmt::{self, Debug},
    iter,
    sync::Mutex,
    thread,
};

use hallpass_algorithms::{
    Algorithm, Label, Loc, Memory, Next, Op, Var, View, Word,
    registry::{self, ENTRIES, Entry, Visitor},
};

/// A state of the algorithm.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Run<S> {
    processes: Vec<Loc<S>>,
    memory: Vec<Word>,
}

/// A memory that records the only access made to it.
struct Words<'a> {
    memory: &'a mut [Word],
    seen: Option<(Var, &'static str, bool)>,
}

impl Memory for Words<'_> {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let old = self.memory[var.index()];
        self.memory[var.index()] = op.leaves(old);
        let kind = match op {
            Op::Read => "read",
            Op::Write(_) => "write",
            _ => "read-modify-write",
        };
        self.seen = Some((var, kind, op.fails_on(old)));
        old
    }
}

/// The observable result of a step.
#[derive(PartialEq, Debug)]
struct Seen {
    access: Option<(Var, &'static str, bool)>,
    waits: bool,
    section: &'static str,
    label: Option<Label>,
    name: Option<usize>,
}

impl<S: Copy> Run<S> {
    fn new(algorithm: &impl Algorithm<State = S>) -> Self {
        Run {
            processes: vec![Loc::Remainder; algorithm.n()],
            memory: algorithm.layout().first_initial(),
        }
    }

    /// Makes a step of process `p`. From `n` on, `p` stands for the mishap of process `p - n`: an event that hits this
    /// process, such as its death.
    fn step(&mut self, algorithm: &impl Algorithm<State = S>, p: usize) -> Seen {
        if p >= algorithm.n() {
            return self.mishap(algorithm, p - algorithm.n());
        }
        let mut words = Words { memory: &mut self.memory, seen: None };
        let before = self.processes[p];
        let next = match before {
            Loc::Remainder => Next::Goto(algorithm.begin(p)),
            Loc::Critical(exit) => Next::Goto(exit),
            Loc::Entry(state) | Loc::Exit(state) => algorithm.step(&mut words, p, state),
        };
        let access = words.seen;
        let leaves = matches!(before, Loc::Exit(_) | Loc::Critical(_));
        self.processes[p] = match next {
            Next::Goto(at) | Next::Spin(at) if leaves => Loc::Exit(at),
            Next::Goto(at) | Next::Spin(at) => Loc::Entry(at),
            Next::Enter(at) => Loc::Critical(at),
            Next::Leave => Loc::Remainder,
        };
        let (section, label, name) = match self.processes[p] {
            Loc::Remainder => ("remainder", None, None),
            Loc::Entry(at) => ("entry", Some(algorithm.label(p, at)), None),
            Loc::Critical(at) => ("critical", None, algorithm.name(at)),
            Loc::Exit(at) => ("exit", Some(algorithm.label(p, at)), None),
        };
        Seen { access, waits: matches!(next, Next::Spin(_)), section, label, name }
    }

    fn mishap(&mut self, algorithm: &impl Algorithm<State = S>, p: usize) -> Seen {
        let mishap = algorithm.mishap(p).expect("only processes with mishaps have this agent");
        let mut words = Words { memory: &mut self.memory, seen: None };
        words.access(mishap.var, mishap.op);
        let access = words.seen;
        if mishap.kills {
            self.processes[p] = Loc::Remainder;
        }
        Seen { access, waits: false, section: "mishap", label: None, name: None }
    }
}

impl<S: Copy + PartialEq + Debug> Run<S> {
    /// Brings the state after a step into its normal form. If `counts` is `false`, the state must have this form
    /// already: then `Algorithm::counts` is `false` for both ends of the step.
    fn normalize(
        &mut self,
        algorithm: &impl Algorithm<State = S>,
        counts: bool,
        what: fmt::Arguments<'_>,
    ) {
        let (processes, memory) = (self.processes.clone(), self.memory.clone());
        algorithm.normalize(&mut self.processes, &mut self.memory);
        if !counts {
            assert_eq!(processes, self.processes, "`counts` is false: {what}");
            assert_eq!(memory, self.memory, "`counts` is false: {what}");
        }
    }
}

/// Returns the processes, and the numbers from `n` on that stand for mishaps.
fn agents(algorithm: &impl Algorithm) -> Vec<usize> {
    let n = algorithm.n();
    (0..n).chain((0..n).filter(|&p| algorithm.mishap(p).is_some()).map(|p| n + p)).collect()
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

struct Lockstep {
    runs: usize,
    steps: usize,
    /// Whether the algorithm is sound. If it is, its invariants must hold in both forms.
    sound: bool,
}

impl Visitor for Lockstep {
    type Output = ();

    fn visit<A: Algorithm + Send + Sync + 'static>(self, algorithm: A) {
        if !algorithm.is_unbounded() {
            return;
        }
        let n = algorithm.n();
        let agents = agents(&algorithm);
        for seed in 1..=self.runs as u64 {
            let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            for _ in 0..8 {
                random.below(2);
            }
            let (mut plain, mut normal) = (Run::new(&algorithm), Run::new(&algorithm));
            algorithm.normalize(&mut normal.processes, &mut normal.memory);
            // Some processes pause for a long time. The others continue, in bursts or interleaved.
            let mut asleep = vec![0; n];
            for step in 0..self.steps {
                if random.below(12) == 0 {
                    let p = random.below(n);
                    asleep[p] = step + random.below(self.steps / 2);
                }
                let awake: Vec<usize> = (0..n).filter(|&p| asleep[p] <= step).collect();
                let Some(&process) = awake.get(random.below(awake.len().max(1))) else {
                    asleep[random.below(n)] = 0;
                    continue;
                };
                let has_mishap = agents.contains(&(n + process)) && random.below(10) == 0;
                let p = if has_mishap { n + process } else { process };
                let burst = if random.below(4) == 0 { random.below(40) } else { 1 };
                for _ in 0..burst {
                    let what = format_args!("run {seed}, step {step}, agent {p}");
                    let before = normal.processes[process];
                    assert_eq!(plain.step(&algorithm, p), normal.step(&algorithm, p), "{what}");
                    let counts = [before, normal.processes[process]];
                    let counts = counts.iter().any(|at| algorithm.counts(at));
                    normal.normalize(&algorithm, counts, what);
                    let (mut processes, mut memory) =
                        (plain.processes.clone(), plain.memory.clone());
                    algorithm.normalize(&mut processes, &mut memory);
                    assert_eq!(processes, normal.processes, "{what}");
                    assert_eq!(memory, normal.memory, "{what}");
                    algorithm.normalize(&mut processes, &mut memory);
                    assert_eq!(processes, normal.processes, "twice: {what}");
                    assert_eq!(memory, normal.memory, "twice: {what}");
                    for (decl, value) in algorithm.layout().decls().iter().zip(&memory) {
                        assert!(decl.domain.contains(*value), "{} = {value}: {what}", decl.name);
                    }
                    if self.sound {
                        let view = View { processes: &plain.processes, memory: &plain.memory };
                        assert_eq!(algorithm.broken_invariant(&view), None, "{what}");
                        let view = View { processes: &processes, memory: &memory };
                        assert_eq!(algorithm.broken_invariant(&view), None, "normal: {what}");
                    }
                }
            }
        }
    }
}

/// Calls `test` with every entry of the registry, on two threads.
fn for_each_entry(test: fn(&Entry)) {
    let entries = Mutex::new(ENTRIES.iter());
    let next = || entries.lock().expect("no panic while held").next();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| iter::from_fn(next).for_each(test));
        }
    });
}

/// Returns whether the algorithm exists at this size and has a normal form there.
fn has_normal_form(entry: &Entry, n: usize, k: usize) -> bool {
    // The Bakery algorithm has a normal form for two processes only.
    n - k >= entry.min_gap && k <= entry.max_k && (entry.id != "bakery" || n == 2)
}

#[test]
fn a_normal_form_behaves_like_its_state() {
    for_each_entry(in_lockstep);
}

/// Compares every state near the initial state: random walks rarely meet the few schedules on which a wrong normal form
/// differs.
#[test]
fn every_state_near_the_initial_state_behaves_like_its_normal_form() {
    for_each_entry(|entry| {
        for (n, k, states) in [(2, 1, 10_000), (3, 1, 4_000), (3, 2, 4_000)] {
            if has_normal_form(entry, n, k) && n <= entry.max_processes {
                registry::visit(entry.id, n, k, EveryState { states }).expect("the size exists");
            }
        }
    });
}

/// Searches breadth first, without normal forms. Compares every step of a state with the same step of
/// its normal form.
struct EveryState {
    /// The number of states to expand.
    states: usize,
}

impl Visitor for EveryState {
    type Output = ();

    fn visit<A: Algorithm + Send + Sync + 'static>(self, algorithm: A) {
        if !algorithm.is_unbounded() {
            return;
        }
        let normal_form = |state: &Run<A::State>| {
            let mut form = state.clone();
            algorithm.normalize(&mut form.processes, &mut form.memory);
            form
        };
        let agents = agents(&algorithm);
        let mut seen = HashSet::from([Run::new(&algorithm)]);
        let mut level: Vec<Run<A::State>> = seen.iter().cloned().collect();
        let mut depth = 0;
        while !level.is_empty() && seen.len() < self.states {
            let mut next_level = Vec::new();
            for state in &level {
                for &p in &agents {
                    let (mut plain, mut normal) = (state.clone(), normal_form(state));
                    let what = format_args!("depth {depth}, agent {p}");
                    assert_eq!(plain.step(&algorithm, p), normal.step(&algorithm, p), "{what}");
                    let (expected, found) = (normal_form(&plain), normal_form(&normal));
                    assert_eq!(found.processes, expected.processes, "{what}");
                    assert_eq!(found.memory, expected.memory, "{what}");
                    if seen.insert(plain.clone()) {
                        next_level.push(plain);
                    }
                }
            }
            level = next_level;
            depth += 1;
        }
    }
}

fn in_lockstep(entry: &Entry) {
    let sound = entry.standing == registry::Standing::Sound;
    for (n, k) in [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3), (5, 1), (5, 2), (5, 3)] {
        if !has_normal_form(entry, n, k) {
            continue;
        }
        for id in [entry.id.to_string(), format!("{}+names", entry.id)] {
            let runs = match sound {
                _ if id.ends_with("+names") => 3,
                true => 10,
                false => 4,
            };
            let lockstep = Lockstep { runs, steps: 400, sound };
            let result = registry::visit(&id, n, k, lockstep);
            assert!(result.is_ok() || !entry.nameable || n > entry.max_processes, "{id}");
        }
    }
}
