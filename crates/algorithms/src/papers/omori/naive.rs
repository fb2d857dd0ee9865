//! Peterson's algorithm for n processes, stopped k levels before the end.
//! Omori et al. 2002, procedure (n, k)-NAIVE. With k = 1 it is Peterson's algorithm.
//!
//! level(i), turn(s): as in EXCL.
//!
//! - Lemma 1, which the paper states for EXCL: at most n-s winners at level s.
//!
//! The waitfor of level s: no other process is at level s or above, or turn(s) /= i. A process that stops
//! outside its remainder stays at its level permanently, so a single crash can block the last process to
//! arrive. The algorithm guarantees exclusion, and that every process enters if none stops.
//!
//! Differs from the paper: it says that the waitfor of EXCL is not atomic, and says nothing about this one.
//! We read the condition as `check` does: the levels one by one, then turn(s).

use super::{excl::levels, ladder::Ladder};

/// Builds (n, k)-NAIVE.
pub fn naive(n: usize, k: usize) -> Ladder {
    levels(n, k, "naive", |_| 1)
}
