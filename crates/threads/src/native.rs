//! Any step machine on real memory.

use hallpass_algorithms::{Algorithm, Memory, Next, Op, Pid, Var, Word};

use crate::{
    patience::Pause,
    seat::Apart,
    sync::{AtomicI64, access},
};

/// An algorithm and its shared variables, each on cache lines of its own, as the papers count. Every
/// access is sequentially consistent, as in the checker; who waits spins, and lets others run.
pub(crate) struct Native<A> {
    algorithm: A,
    variables: Box<[Apart<AtomicI64>]>,
}

struct Variables<'a>(&'a [Apart<AtomicI64>]);

impl Memory for Variables<'_> {
    #[inline]
    fn access(&mut self, var: Var, op: Op) -> Word {
        access(&self.0[var.index()].0, op)
    }
}

impl<A: Algorithm> Native<A> {
    /// With its variables as they are at first.
    pub(crate) fn new(algorithm: A) -> Self {
        let initial = algorithm.layout().first_initial();
        let variables = initial.into_iter().map(|word| Apart(AtomicI64::new(word))).collect();
        Native { algorithm, variables }
    }

    /// The algorithm.
    pub(crate) fn algorithm(&self) -> &A {
        &self.algorithm
    }

    /// Gets `p` in: where its exit section begins comes back. Each process is one thread's at a time.
    ///
    /// # Panics
    /// If the algorithm has no such process.
    pub(crate) fn enter(&self, p: Pid) -> A::State {
        self.steps(p, self.algorithm.begin(p)).expect("a passage enters before it leaves")
    }

    /// Gets it out again.
    pub(crate) fn leave(&self, p: Pid, exit: A::State) {
        self.steps(p, exit);
    }

    /// Steps from `at` until the process is in, or back in its remainder.
    fn steps(&self, p: Pid, mut at: A::State) -> Option<A::State> {
        let mut pause = Pause::new();
        loop {
            match self.algorithm.step(&mut Variables(&self.variables), p, at) {
                Next::Goto(next) => at = next,
                Next::Spin(next) => {
                    pause.rest();
                    at = next;
                }
                Next::Enter(exit) => return Some(exit),
                Next::Leave => return None,
            }
        }
    }
}
