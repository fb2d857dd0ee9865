//! Claims: k-exclusion among machines, on a store such as etcd that has transactions, revisions and
//! leases.
//!
//! Ours. Whoever comes puts down a claim. What the store has of a hall:
//!
//! - `door`: how many slots there are, or that it is closed.
//! - `queue/ID`: a claim that waits. The revision in which it was made is its place.
//! - `inside/ID`: a claim that has got its slot.
//! - `slots/J`: whose slot J is. The revision in which this was written is the holder's *token*.
//!
//! Claims, in the queue or inside, hang on a lease, so they vanish some time after their owner has. A
//! record in `slots` hangs on none: it is removed, or given to somebody else, by whoever leaves, and by
//! nobody else as long as there is the claim inside that it names. A record whose claim is gone is
//! *stale*: its owner has crashed, or was cut off from the store. When a lease ends is the store's word
//! against the owner's: they have no clock in common, and etcd is known to end leases early. So nobody
//! believes it. The owner counts from the last time when it saw its claim in the store, and stops in
//! time; who finds the claim gone waits as long as the owner may still be inside, and longer.
//!
//! A slot that is given back while somebody waits goes to the first in line in the same transaction, so
//! no slot is ever free, clean, and waited for, but for those that a claim found free after it had
//! guessed wrong, for those that a larger door has brought, and for those whose owner was not quick enough:
//! who finds that the one it wanted to give its slot to waits no longer does not go on with the next, but
//! frees it, and has all who wait look. These slots, and stale ones, are given to the first in line by
//! whoever sees them while it waits.
//!
//! Line | what it asks for
//! -----|-----------------
//! E1   | a slot, if nobody waits and it is the smallest that is free; else a place in the queue
//! E2   | (waiting room) to be told when something has changed
//! E3   | that a slot that is free or stale be given to the first in line
//! E4   | (gives up) to be struck off the queue
//! T1   | as E1, without a place in the queue
//! X1   | who is the first in line
//! X2   | that its slot be given to the first in line
//! X3   | that its slot be free, if nobody waits or there is no such slot any more; or free anyway
//!
//! Who waits is told when it is given a slot or has lost its claim, when the claim before it is gone, and
//! when the door changes; the first in line also when a claim inside is gone, and when one has been gone for
//! long enough.
//!
//! I1: who is in has its slot, though perhaps no claim any more. I2: who is outside has left nothing behind.
//! I3: where a slot is free, or stale for long enough, the first in line is awake. I4: where one is free, all
//! in line are. I5: nobody has two claims.
//!
//! By I4, one that stops while it waits is given a slot, and keeps nothing else from those behind it. That is
//! not so of slots that are stale, which only the first in line looks after: those behind it rely on its
//! lease. So whatever keeps a lease alive must not outlive what looks after the hall.
//!
//! Doorway: E1. Each line is one transaction, and every transaction tells how things are after it. Each
//! asks in a way that may be repeated, for who has lost the connection cannot know whether it happened.

mod halls;
mod lines;
mod model;
mod register;
mod words;

pub mod entries;
pub mod wrong;

pub use lines::{Ask, ClaimState, Line, Picture, Was};
pub use model::{Cast, ClusterModel};
pub use register::{MAX_PROCESSES, MAX_SLOTS};
