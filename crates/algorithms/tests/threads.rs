//! Every algorithm on real atomics: the source that the lab checks, run by threads.
//!
//! The witness is independent of the algorithms: it counts who is in and who holds which name.

use std::{
    hint,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use hallpass_algorithms::{
    Algorithm, Memory, Next, Op, Pid, Var, Word,
    registry::{self, ENTRIES, Standing, Visitor},
};

/// Shared memory on atomics. Every access is sequentially consistent, as in the checker.
#[derive(Clone)]
struct Atomics(Arc<[AtomicI64]>);

impl Memory for Atomics {
    fn access(&mut self, var: Var, op: Op) -> Word {
        let word = &self.0[var.index()];
        match op {
            Op::Read => word.load(SeqCst),
            Op::Write(new) => word.swap(new, SeqCst),
            Op::FetchAdd(by) => word.fetch_add(by, SeqCst),
            Op::TestAndSet => word.swap(1, SeqCst),
            Op::CompareAndSwap { old, new } => {
                word.compare_exchange(old, new, SeqCst, SeqCst).unwrap_or_else(|found| found)
            }
            Op::Ideal(f, argument) => word
                .fetch_update(SeqCst, SeqCst, |old| Some(f(old, argument)))
                .unwrap_or_else(|found| found),
        }
    }
}

/// Sees at most k in at once, each with a name of its own.
struct Witness {
    k: usize,
    inside: AtomicUsize,
    names: Vec<AtomicBool>,
}

impl Witness {
    fn enter(&self, name: Option<usize>) {
        let before = self.inside.fetch_add(1, SeqCst);
        assert!(before < self.k, "{} are in", before + 1);
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

fn passage<A: Algorithm>(algorithm: &A, memory: &mut Atomics, p: Pid, witness: &Witness) {
    let mut at = algorithm.begin(p);
    loop {
        match algorithm.step(memory, p, at) {
            Next::Goto(next) => at = next,
            Next::Spin(next) => {
                thread::yield_now(); // more threads than cores
                at = next;
            }
            Next::Enter(exit) => {
                let name = algorithm.name(exit);
                witness.enter(name);
                hint::spin_loop();
                witness.leave(name);
                at = exit;
            }
            Next::Leave => return,
        }
    }
}

struct Stress {
    passages: usize,
}

impl Visitor for Stress {
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
                let (algorithm, witness, done) = (&algorithm, &witness, &done);
                let mut memory = memory.clone();
                scope.spawn(move || {
                    for _ in 0..self.passages {
                        passage(algorithm, &mut memory, p, witness);
                        done.fetch_add(1, SeqCst);
                    }
                });
            }
        });
        done.into_inner()
    }
}

#[test]
fn threads_keep_what_the_checker_found() {
    const PASSAGES: usize = 300;
    for entry in ENTRIES.iter().filter(|entry| entry.standing == Standing::Sound) {
        for id in [entry.id.to_string(), format!("{}+names", entry.id)] {
            for (n, k) in [(2, 1), (5, 2), (7, 3)] {
                let done = registry::visit(&id, n, k, Stress { passages: PASSAGES });
                assert_eq!(done, Ok(n * PASSAGES), "{id} n={n} k={k}");
            }
        }
    }
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    let size = |id: &str, n, k| registry::visit(id, n, k, Stress { passages: 0 });
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
