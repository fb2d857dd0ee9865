//! The kinds of halls that the lab and the tests explore.

use alloc::vec::Vec;

use super::words::Size;
use crate::framework::memory::{Pid, Word};

/// The slots of a hall, and the number of slots that its processes want.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HallKind {
    /// `k` slots. Every process wants one.
    Plain,
    /// `2 k` slots. Every process wants two.
    Many,
    /// `k` slots, at least two. Process `large` wants two, and every other process wants one.
    Mixed {
        /// The process that wants two slots.
        large: Pid,
    },
    /// `k + 1` slots. The first `k` processes want one, and the others two.
    Spare,
    /// `k` slots, of `k + 1` that the hall had before. Process 0 has held slot `k` since then. The others arrive later.
    Shrunk,
    /// `k + 1` slots. The last process does not use the hall: it removes the last slot at some time, and later adds it
    /// again.
    Resized,
}
use HallKind::*;

impl HallKind {
    /// Returns the number of slots that processes may hold.
    pub(super) fn slots(self, k: usize) -> usize {
        match self {
            Plain | Mixed { .. } => k,
            Many => 2 * k,
            Spare | Shrunk | Resized => k + 1,
        }
    }

    /// Returns the number of slots that process `p` wants.
    pub(super) fn wants(self, k: usize, p: Pid) -> usize {
        match self {
            Mixed { large } if p == large => 2,
            Spare if p >= k => 2,
            Many => 2,
            _ => 1,
        }
    }

    /// Returns `true` if some process wants several slots.
    pub(super) fn has_large_requests(self) -> bool {
        matches!(self, Many | Mixed { .. } | Spare)
    }

    /// Returns the number of processes that may be in the critical section at once.
    pub(super) fn max_holders(self, k: usize) -> usize {
        if self == Resized { k + 1 } else { k }
    }

    /// Returns the sizes that the hall has one after the other, or nothing if its size is a constant.
    pub(super) fn sizes(self, k: usize) -> Vec<Size> {
        let shrunk = Size::new(k + 1).resized(k);
        match self {
            Plain | Many | Mixed { .. } | Spare => Vec::new(),
            Shrunk => Vec::from([shrunk, shrunk.settled()]),
            Resized => {
                Vec::from([Size::new(k + 1), shrunk, shrunk.settled(), shrunk.resized(k + 1)])
            }
        }
    }
}

/// Returns the size of a hall of kind [`Resized`] after it was resized once more.
pub(super) fn resize(size: Word, k: Word) -> Word {
    let (size, k) = (Size::unpack(size), k as usize);
    match size.epoch {
        0 => size.resized(k).pack(),
        1 => size.resized(k + 1).pack(),
        _ => size.pack(),
    }
}
