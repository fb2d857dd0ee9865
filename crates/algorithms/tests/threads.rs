//! Runs every sound algorithm on real atomics: threads execute the same source that the lab checks.
//!
//! The witness does not depend on the algorithms: it counts the threads in the critical section and the holders of each
//! name. In one test, fewer than k threads stop permanently, each after a random number of steps, and the others must
//! continue.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use hallpass_algorithms::{
    Algorithm, Memory, Next, Op, Pid, Var, Word,
    registry::{self, ENTRIES, Entry, Scope, Standing, Visitor},
};

/// Shared memory on atomics. Every access is sequentially consistent, as in the checker.
#[derive(Clone)]
struct Atomics(Arc<[AtomicI64]>);

impl Memory for Atomics {
    fn access(&mut self, var: Var, op: Op) -> Word {
        op.apply(&self.0[var.index()])
    }
}

/// Asserts that at most k threads are in the critical section at the same time, each with a distinct name.
struct Witness {
    k: usize,
    inside: AtomicUsize,
    names: Vec<AtomicBool>,
}

impl Witness {
    fn enter(&self, name: Option<usize>) {
        let before = self.inside.fetch_add(1, SeqCst);
        assert!(before < self.k, "{} threads are in the critical section", before + 1);
        if let Some(name) = name {
            assert!(!self.names[name].swap(true, SeqCst), "name {name} is held twice");
        }
    }

    fn leave(&self, name: Option<usize>) {
        if let Some(name) = name {
            self.names[name].store(false, SeqCst);
        }
        self.inside.fetch_sub(1, SeqCst);
    }
}

/// A time limit that no correct run reaches. A process that waits longer counts as starving.
const LONG_ENOUGH: Duration = Duration::from_secs(120);

/// A process, and the number of steps after which it stops permanently (if it stops at all).
struct Runner<'a, A> {
    algorithm: &'a A,
    memory: Atomics,
    witness: &'a Witness,
    p: Pid,
    steps_left: Option<usize>,
    begun: Instant,
}

impl<A: Algorithm> Runner<'_, A> {
    /// Returns whether the process stops at this step. If not, counts the step.
    fn stops(&mut self) -> bool {
        match &mut self.steps_left {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        }
    }

    /// Makes a passage. Returns `None` if the process has stopped during the passage.
    fn passage(&mut self) -> Option<()> {
        let mut at = self.algorithm.begin(self.p);
        loop {
            if self.stops() {
                return None;
            }
            match self.algorithm.step(&mut self.memory, self.p, at) {
                Next::Goto(next) => at = next,
                Next::Spin(next) => {
                    assert!(self.begun.elapsed() < LONG_ENOUGH, "process {} starves", self.p);
                    thread::yield_now(); // there may be more threads than cores
                    at = next;
                }
                Next::Enter(exit) => {
                    let name = self.algorithm.name(exit);
                    self.witness.enter(name);
                    thread::yield_now();
                    if self.stops() {
                        return None; // the process stays in the critical section, and the witness still counts it
                    }
                    self.witness.leave(name);
                    at = exit;
                }
                Next::Leave => return Some(()),
            }
        }
    }
}

/// Lets every process make this many passages, except the processes that stop permanently.
struct Stress<'a> {
    passages: usize,
    stop_after: &'a [usize],
}

impl Visitor for Stress<'_> {
    const SCOPE: Scope = Scope::Sound;
    type Output = usize;

    fn visit<A: Algorithm + Send + Sync + 'static>(self, algorithm: A) -> usize {
        let initial = algorithm.layout().first_initial();
        let memory = Atomics(initial.into_iter().map(AtomicI64::new).collect());
        let k = algorithm.k();
        let names = (0..k).map(|_| AtomicBool::new(false)).collect();
        let witness = Witness { k, inside: AtomicUsize::new(0), names };
        let done = AtomicUsize::new(0);
        thread::scope(|scope| {
            for p in 0..algorithm.n() {
                let mut runner = Runner {
                    algorithm: &algorithm,
                    memory: memory.clone(),
                    witness: &witness,
                    p,
                    steps_left: self.stop_after.get(p).copied(),
                    begun: Instant::now(),
                };
                let done = &done;
                scope.spawn(move || {
                    // A process that has to stop continues until it stops.
                    let passages =
                        if runner.steps_left.is_some() { usize::MAX } else { self.passages };
                    for _ in 0..passages {
                        if runner.passage().is_none() {
                            return;
                        }
                        if passages == self.passages {
                            done.fetch_add(1, SeqCst);
                        }
                    }
                });
            }
        });
        done.into_inner()
    }
}

/// Returns every sound algorithm, both plain and with names.
fn sound() -> impl Iterator<Item = (&'static Entry, String)> {
    ENTRIES.iter().filter(|entry| entry.standing == Standing::Sound).flat_map(|entry| {
        let named = entry.nameable.then(|| format!("{}+names", entry.id));
        std::iter::once(entry.id.to_string()).chain(named).map(move |id| (entry, id))
    })
}

fn exists(entry: &Entry, n: usize, k: usize) -> bool {
    n <= entry.max_processes && k <= entry.max_k && n - k >= entry.min_gap
}

#[test]
fn threads_keep_exclusion_and_names() {
    const PASSAGES: usize = 100;
    for (entry, id) in sound() {
        for (n, k) in [(2, 1), (4, 2), (7, 3), (16, 4)] {
            if exists(entry, n, k) {
                let stress = Stress { passages: PASSAGES, stop_after: &[] };
                let done = registry::visit(&id, n, k, stress);
                assert_eq!(done, Ok(n * PASSAGES), "{id} n={n} k={k}");
            }
        }
    }
}

#[test]
fn the_other_threads_continue_while_fewer_than_k_have_stopped() {
    const PASSAGES: usize = 30;
    let mut rng = fastrand::Rng::with_seed(3);
    for (entry, id) in sound() {
        for (n, k) in [(3, 2), (4, 3), (7, 3), (16, 4)] {
            let stopped = entry.crashes(k);
            if !exists(entry, n, k) || stopped == 0 {
                continue;
            }
            for _ in 0..3 {
                // A process may stop at its first line, or late enough to have reached every line.
                let stop_after: Vec<usize> = (0..stopped).map(|_| rng.usize(1..40 * n)).collect();
                let stress = Stress { passages: PASSAGES, stop_after: &stop_after };
                let done = registry::visit(&id, n, k, stress);
                assert_eq!(done, Ok((n - stopped) * PASSAGES), "{id} n={n} k={k} {stop_after:?}");
            }
        }
    }
}

#[test]
fn invalid_sizes_are_refused() {
    let size = |id: &str, n, k| registry::visit(id, n, k, Stress { passages: 0, stop_after: &[] });
    for (n, k, word) in [(3, 0, "at least 1"), (3, 3, "larger than k"), (2, 5, "larger than k")] {
        let error = size("am-fig3", n, k).expect_err("refused").to_string();
        assert!(error.contains(word), "{error}");
    }
    let error = size("am-fig3:no-outer", 3, 2).expect_err("refused").to_string();
    assert!(error.contains("n >= k + 2"), "{error}");
    let error = size("am-fig2", 8, 2).expect_err("refused").to_string();
    assert!(error.contains("at most n = 7"), "{error}");
    for unknown in ["am-fig4", "am-fig3+names+names", "am-fig3:no-outer+names", ""] {
        let error = size(unknown, 3, 1).expect_err("refused").to_string();
        assert!(error.contains("no algorithm is called"), "{unknown}: {error}");
    }
}
