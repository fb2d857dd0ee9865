//! Runs any step machine on atomics.

use crossbeam_utils::CachePadded;
use hallpass_algorithms::{Algorithm, Memory, Next, Op, Pid, Var, Word};

use crate::{parking::Backoff, sync::AtomicI64};

/// An algorithm and its shared variables. Each variable is on a separate cache line, as the papers assume when they
/// count accesses. Every access is sequentially consistent, as in the checker. A waiter spins and yields.
pub(super) struct Native<A> {
    algorithm: A,
    variables: Box<[CachePadded<AtomicI64>]>,
}

struct Variables<'a>(&'a [CachePadded<AtomicI64>]);

impl Memory for Variables<'_> {
    #[inline]
    fn access(&mut self, var: Var, op: Op) -> Word {
        op.apply(&*self.0[var.index()])
    }
}

impl<A: Algorithm> Native<A> {
    /// Makes the variables, with their initial values.
    pub(super) fn new(algorithm: A) -> Self {
        let initial = algorithm.layout().first_initial();
        let variables =
            initial.into_iter().map(|word| CachePadded::new(AtomicI64::new(word))).collect();
        Native { algorithm, variables }
    }

    /// Returns the algorithm that runs on the atomics.
    pub(super) fn algorithm(&self) -> &A {
        &self.algorithm
    }

    /// Runs the entry section of `p`, and returns the line at which its exit section begins. At most one thread
    /// may run as `p` at a time.
    ///
    /// # Panics
    /// Panics if the algorithm has no such process.
    pub(super) fn enter(&self, p: Pid) -> A::State {
        self.steps(p, self.algorithm.begin(p)).expect("a passage enters before it leaves")
    }

    /// Runs the exit section of `p`.
    pub(super) fn leave(&self, p: Pid, exit: A::State) {
        self.steps(p, exit);
    }

    /// Executes lines from `at` until the process is in its critical section or back in its remainder. Returns the line
    /// at which the exit section begins, or `None` in the remainder.
    fn steps(&self, p: Pid, mut at: A::State) -> Option<A::State> {
        let mut backoff = Backoff::new();
        loop {
            match self.algorithm.step(&mut Variables(&self.variables), p, at) {
                Next::Goto(next) => at = next,
                Next::Spin(next) => {
                    backoff.rest();
                    at = next;
                }
                Next::Enter(exit) => return Some(exit),
                Next::Leave => return None,
            }
        }
    }
}
