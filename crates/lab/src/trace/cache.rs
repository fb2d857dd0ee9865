//! The valid copies in the caches, for cache-coherent memory.

use hallpass_algorithms::{Op, Pid, Word};

use crate::schedule::{CacheAtStart, Conventions, FailedRmw, WriterCopy};

/// The valid copies of every process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Caches {
    rules: Conventions,
    /// `valid[p][var]` says whether process `p` has a valid copy of `var`.
    valid: Vec<Vec<bool>>,
}

impl Caches {
    /// Creates empty caches.
    pub(super) fn empty(rules: Conventions, n: usize, vars: usize) -> Self {
        Caches { rules, valid: vec![vec![false; vars]; n] }
    }

    /// Returns whether `p` has a valid copy of `var`.
    pub(super) fn has_copy(&self, p: Pid, var: usize) -> bool {
        self.valid[p][var]
    }

    /// Records that `p` leaves its remainder.
    pub(super) fn begin_passage(&mut self, p: Pid) {
        if self.rules.cache == CacheAtStart::Cold {
            self.valid[p].fill(false);
        }
    }

    /// Removes the copies of `var` from all caches.
    pub(super) fn invalidate(&mut self, var: usize) {
        self.valid.iter_mut().for_each(|copies| copies[var] = false);
    }

    /// Records that `p` performs `op` on `var` and finds `found`. Returns whether this is a remote
    /// reference.
    pub(super) fn access(&mut self, p: Pid, var: usize, op: Op, found: Word) -> bool {
        let harmless = self.rules.failed_rmw == FailedRmw::Read && op.fails_on(found);
        if matches!(op, Op::Read) || harmless {
            return !std::mem::replace(&mut self.valid[p][var], true);
        }
        let own = match self.rules.writer_copy {
            WriterCopy::AsItWas => self.valid[p][var],
            WriterCopy::Gained => true,
            WriterCopy::Lost => false,
        };
        self.invalidate(var);
        self.valid[p][var] = own;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_and_set_of_a_set_bit_is_a_write_or_a_read() {
        for (failed_rmw, second, other) in
            [(FailedRmw::Write, true, true), (FailedRmw::Read, false, false)]
        {
            let rules = Conventions { failed_rmw, ..Conventions::default() };
            let mut caches = Caches::empty(rules, 2, 1);
            assert!(caches.access(1, 0, Op::Read, 1));
            assert!(caches.access(0, 0, Op::TestAndSet, 1));
            assert_eq!(caches.access(0, 0, Op::TestAndSet, 1), second);
            assert_eq!(caches.access(1, 0, Op::Read, 1), other, "the copy was invalidated");
            // A read-modify-write that changes the value is a write under both rules.
            assert!(caches.access(0, 0, Op::TestAndSet, 0));
            assert!(caches.access(1, 0, Op::Read, 1));
        }
    }
}
