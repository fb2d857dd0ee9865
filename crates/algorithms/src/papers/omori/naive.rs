//! Peterson's algorithm for n processes, stopped k levels before the end.
//! Omori et al. 2002, procedure (n, k)-NAIVE; with k = 1 it is Peterson's.
//!
//! level(i), turn(s): as in EXCL.
//!
//! - Lemma 1, which the paper states for EXCL: at most n-s winners at level s.
//!
//! The waitfor of level s: nobody else is at level s or above, or turn(s) /= i. Whoever stops
//! anywhere outside its remainder is at some level for ever, so one crash is enough to keep the
//! last to come out: exclusion is promised, and that everybody gets in if nobody stops.
//!
//! Differs from the paper: it says that EXCL's waitfor is not atomic, and nothing of this one's. We
//! read it as `check` does: the levels one by one, then turn(s).

use super::{excl::levels, ladder::Ladder};

/// (n, k)-NAIVE.
pub fn naive(n: usize, k: usize) -> Ladder {
    levels(n, k, "naive", |_| 1)
}
