//! The kinds of halls that the lab and the tests explore.

use alloc::vec::Vec;

use super::{
    casts::{Cast, Casts},
    words::Size,
};
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
    /// `k` slots. Before, the hall had `k + 1` slots, and process 0 has held slot `k` since then. The other
    /// processes arrive later.
    Shrunk,
}
use HallKind::*;

impl HallKind {
    /// Returns the number of slots that processes may hold. A hall that will be resized begins with one slot more.
    pub(super) fn slots(self, casts: Casts, k: usize) -> usize {
        let slots = match self {
            Plain | Mixed { .. } => k,
            Many => 2 * k,
            Spare | Shrunk => k + 1,
        };
        slots + usize::from(casts.has(Cast::Resize))
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

    /// Returns the largest number of processes that are in the critical section at once.
    pub(super) fn max_holders(self, casts: Casts, k: usize) -> usize {
        match self {
            Many => k, // every process wants two slots, so one more slot admits no further process
            _ => k + usize::from(casts.has(Cast::Resize)),
        }
    }

    /// Returns the sizes of the hall, in the order in which it has them. Returns no size if the size is a constant.
    pub(super) fn sizes(self, casts: Casts, k: usize) -> Vec<Size> {
        let slots = self.slots(casts, k);
        let first = Size::new(slots);
        if casts.has(Cast::Close) {
            return Vec::from([first, Size::new(0)]);
        }
        let shrunk = first.resized(slots - 1);
        match self {
            _ if casts.has(Cast::Resize) => {
                Vec::from([first, shrunk, shrunk.settled(), shrunk.resized(slots)])
            }
            Shrunk => Vec::from([shrunk, shrunk.settled()]),
            Plain | Many | Mixed { .. } | Spare => Vec::new(),
        }
    }
}

/// Returns the next size of a hall that has `slots` slots at first. The first resize removes a slot, and the second
/// one adds it again.
pub(super) fn resize(size: Word, slots: Word) -> Word {
    let (size, slots) = (Size::unpack(size), slots as usize);
    match size.epoch {
        0 => size.resized(slots - 1).pack(),
        1 => size.resized(slots).pack(),
        _ => size.pack(),
    }
}

/// Returns the packed size of a closed hall. Used as an atomic update.
pub(super) fn close(_: Word, _: Word) -> Word {
    0
}
