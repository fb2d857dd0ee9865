//! The records of a hall in the lab's model.

use alloc::vec::Vec;

use super::lines::Line;
use crate::framework::memory::Pid;

/// The maximum number of processes. The model packs a hall into one word, which has no room for more.
pub const MAX_PROCESSES: usize = 4;
/// The maximum number of slots. The word has no room for more.
pub const MAX_SLOTS: usize = 3;

/// A slot, and the claim to which it is assigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    /// Assigned to no claim.
    Free,
    /// Assigned to this process, which does not use the slot. Either the process has not seen yet that it has the slot,
    /// or it has left its critical section.
    Given(Pid),
    /// Assigned to this process, which uses the slot.
    Held(Pid),
    /// The claim is gone, but its owner, this process, still uses the slot.
    Stale(Pid),
    /// The claim is gone, and its owner no longer uses the slot.
    Left,
}

/// The knowledge that a process keeps from its last transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Knowledge {
    /// The process remembers nothing that matters.
    Nothing,
    /// The process sleeps, and nothing that it watches has changed since it fell asleep.
    Asleep,
    /// The process remembers the head of the queue, which has not changed since that transaction.
    Head,
}

/// A request that hangs in the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Late {
    /// No request hangs.
    Nothing,
    /// The next request of this process that can hang will do so.
    Next(Pid),
    /// This request was sent and has not arrived. Its sender has sent it again, or has given up.
    Sent {
        /// The process that sent the request.
        from: Pid,
        /// The line that sent the request.
        line: Line<Pid>,
        /// Whether the records on which the request depends may still be the same: the claim for which it was sent, the
        /// claim that gets a slot, and a stale slot. A real request names the lease of its claim, the revision of the
        /// other claim, and the version of the slot. It has no effect if one of them no longer exists.
        is_bound: bool,
    },
}

/// The part of a backup that matters after a restore. After the restore, no process uses a claim from the backup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Backup {
    /// Which slots are assigned to a claim.
    pub taken: [bool; MAX_SLOTS],
    /// Whether a claim waits. If several claims wait, the model keeps one of them.
    pub waits: bool,
}

/// The records of a hall in the store, and the request on the way to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Hall {
    pub queue: Vec<Pid>,
    pub slots: [Slot; MAX_SLOTS],
    pub known: [Knowledge; MAX_PROCESSES],
    pub size: usize,
    pub closed: bool,
    /// Whether waiters should give up.
    pub clock: bool,
    /// The process that will not get the answer to its next transaction.
    pub unheard: Option<Pid>,
    /// The request that hangs.
    pub late: Late,
    /// The backup that the next restore uses.
    pub backup: Option<Backup>,
    /// Whether each of the first two processes takes two slots at once.
    pub pairs: bool,
}
