//! The algorithms of the papers on real atomics: the source that the lab checks.
//!
//! Each shared variable has its own cache lines, as the papers count; every access is sequentially
//! consistent, as in the checker; who waits yields.

use std::{
    sync::atomic::{AtomicI64, Ordering::SeqCst},
    thread,
};

use hallpass_algorithms::{
    Algorithm, Memory, Next, Op, Pid, Var, Word,
    registry::{self, Entry, Visitor},
};

use crate::{
    Semaphore,
    race::{self, Load, Sample, Watch},
    semaphore::Padded,
};

/// An algorithm and its shared variables.
struct Native<A> {
    algorithm: A,
    variables: Box<[Padded<AtomicI64>]>,
}

struct Atomics<'a>(&'a [Padded<AtomicI64>]);

impl Memory for Atomics<'_> {
    #[inline]
    fn access(&mut self, var: Var, op: Op) -> Word {
        let word = &self.0[var.index()].0;
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

/// Where a process is that is in; goes through its exit section when dropped.
struct Guard<'a, A: Algorithm> {
    native: &'a Native<A>,
    p: Pid,
    exit: A::State,
}

impl<A: Algorithm> Native<A> {
    /// Steps from `at` until the process is in, or back in its remainder.
    fn steps(&self, p: Pid, mut at: A::State) -> Option<A::State> {
        let mut memory = Atomics(&self.variables);
        loop {
            match self.algorithm.step(&mut memory, p, at) {
                Next::Goto(next) => at = next,
                Next::Spin(next) => {
                    thread::yield_now();
                    at = next;
                }
                Next::Enter(exit) => return Some(exit),
                Next::Leave => return None,
            }
        }
    }
}

impl<A: Algorithm + Send + Sync + 'static> Semaphore for Native<A> {
    type Guard<'a> = Guard<'a, A>;

    fn enter(&self, p: usize) -> Guard<'_, A> {
        let exit = self.steps(p, self.algorithm.begin(p));
        Guard { native: self, p, exit: exit.expect("a passage enters before it leaves") }
    }

    fn slot(guard: &Guard<'_, A>) -> Option<usize> {
        guard.native.algorithm.name(guard.exit)
    }
}

impl<A: Algorithm> Drop for Guard<'_, A> {
    fn drop(&mut self) {
        self.native.steps(self.p, self.exit);
    }
}

struct Run<'a> {
    load: &'a Load,
    watch: Watch<'a>,
}

impl Visitor for Run<'_> {
    type Output = Sample;

    fn visit<A: Algorithm + Send + Sync + 'static>(self, algorithm: A) -> Sample {
        let initial = algorithm.layout().first_initial();
        let variables = initial.into_iter().map(|value| Padded(AtomicI64::new(value))).collect();
        race::run(Native { algorithm, variables }, self.load, self.watch)
    }
}

/// Runs an algorithm, unless it does not exist for so many threads or that k.
///
/// Where all threads could be in at once no paper has an algorithm: it is then built for as many
/// processes as it can be, and some of them never compete.
pub fn run(entry: &Entry, load: &Load, watch: Watch<'_>) -> Result<Sample, String> {
    let n = if load.threads > load.k { load.threads } else { entry.most_processes };
    if n <= load.k {
        return Err(format!("built for at most n = {n} processes"));
    }
    registry::visit(entry.id, n, load.k, Run { load, watch }).map_err(|error| {
        // Without the name, those with the same reason are listed together.
        let why = error.to_string();
        let why = why.strip_prefix(entry.id).unwrap_or(&why).trim_start();
        why.strip_prefix("is ").unwrap_or(why).to_string()
    })
}
