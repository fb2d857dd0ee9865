//! A set of processes that is small enough for a private state.

use core::fmt;

use crate::framework::memory::Pid;

/// A set of processes with numbers below 32.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Pids(u32);

impl fmt::Debug for Pids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries((0..u32::BITS).filter(|bit| self.0 >> bit & 1 == 1)).finish()
    }
}

impl Pids {
    /// The empty set.
    pub const NONE: Pids = Pids(0);

    /// Returns all processes of `0..n` except `p`.
    pub fn others(n: usize, p: Pid) -> Self {
        Pids(((1u64 << n) - 1) as u32).without(p)
    }

    /// Returns whether `p` is in the set.
    pub fn contains(self, p: Pid) -> bool {
        self.0 >> p & 1 != 0
    }

    /// Returns this set plus `p`.
    #[must_use]
    pub fn with(self, p: Pid) -> Self {
        Pids(self.0 | 1 << p)
    }

    /// Returns this set minus `p`.
    #[must_use]
    pub fn without(self, p: Pid) -> Self {
        Pids(self.0 & !(1 << p))
    }

    /// Returns the intersection of both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Pids(self.0 & other.0)
    }

    /// Returns the number of processes in the set.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the smallest process, or `None` if the set is empty.
    pub fn first(self) -> Option<Pid> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as Pid)
    }

    /// Returns the smallest process that is larger than `p`, or `None` if there is none.
    pub fn after(self, p: Pid) -> Option<Pid> {
        Pids(self.0 & (u64::MAX << (p + 1)) as u32).first()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_the_last_of_32_processes() {
        let all = Pids::others(32, 31).with(31);
        assert_eq!(
            (all.len(), all.first(), all.after(30), all.after(31)),
            (32, Some(0), Some(31), None)
        );
        let some = Pids::NONE.with(3).with(5).without(3);
        assert!(some.contains(5) && !some.contains(3) && !some.is_empty());
        assert_eq!((some.first(), some.after(4), some.after(5)), (Some(5), Some(5), None));
        assert_eq!(some.and(Pids::others(6, 5)), Pids::NONE);
    }
}
