//! Peterson's algorithm for n processes, which has n-1 levels, without its last k-1 levels. Omori et al. 2002,
//! procedure (n, k)-NAIVE. For k = 1, this is Peterson's algorithm.
//!
//! - level(i): 0, or the level that i has reached.
//! - turn(s): the last process that has reached level s; initially any process.
//!
//! - Lemma 1, which the paper states for EXCL: there are at most n-s winners at level s.
//!
//! The paper's `waitfor` at level s ends when no other process is at level s or above, or when turn(s) /= i. A
//! process that stops outside its remainder stays at its level permanently, so a single crash can block
//! the last process that arrives. The algorithm guarantees exclusion. It also guarantees that every
//! process enters its critical section, provided that none stops.
//!
//! Interpretation of the paper: the paper says that the `waitfor` of EXCL is not atomic, but does not say
//! this about NAIVE. This code reads the condition like `check`: first the levels one by one, then
//! turn(s).

use super::{excl::levels, ladder::Ladder};

/// Builds (n, k)-NAIVE.
pub fn naive(n: usize, k: usize) -> Ladder {
    levels(n, k, "naive", |_| 1)
}
