//! Claims: k-exclusion among computers that share a store such as etcd. The store has transactions,
//! revisions and leases.
//!
//! The protocol is not from a paper. A process that needs a slot creates a *claim*: a record in the store by which the
//! process waits for a slot or holds one. The store has these records for a hall:
//!
//! - `door`: the number of slots, or a mark that says that the hall is closed.
//! - `queue/ID`: a claim that waits. The revision that created it determines its position in the queue.
//! - `inside/ID`: a claim that has a slot.
//! - `slots/J`: the claim to which slot J is assigned. The revision that wrote this record is the
//!   holder's *token*.
//!
//! A claim may take several slots. It gets all of them in one transaction, so it has one token. While the head of the
//! queue takes more slots than are free, the free slots stay free.
//!
//! The records in `queue` and `inside` are bound to a lease, so they vanish some time after their owner has stopped
//! renewing it. A record in `slots` is not bound to a lease. When the holder of the slot leaves, it removes the record,
//! or assigns the slot to another claim. As long as the claim named in the record exists, only that claim's process
//! changes the record. A record whose claim is gone is *stale*, and so is its slot: the owner has crashed, or was cut
//! off from the store.
//!
//! The end of a lease does not prove that the owner has stopped, because store and owner have no common
//! clock, and etcd is known to end leases early. So no process relies on the end of a lease. The owner
//! measures the time since it last saw its claim in the store, and stops using its slot in time. A process
//! that finds the claim gone waits until the owner must have stopped.
//!
//! A holder that leaves while others wait gives its slot to the head of the queue, in the transaction
//! that removes its own claim. So no slot is free while a claim waits, with these exceptions:
//!
//! - The holder or the head of the queue takes several slots. Then the holder frees its slots and wakes all waiters.
//! - A stale slot was freed for a head of the queue that takes several slots.
//! - A process asked for a slot that was not the smallest free one, and joined the queue instead.
//! - The hall was made larger, or closed.
//! - A holder tried to give its slot to a claim that had left the queue. The holder does not try the
//!   next claim. It frees the slot and wakes all waiters.
//!
//! A waiter that sees a free slot, or a slot that has been stale for long enough, gives that slot to the
//! head of the queue.
//!
//! Line | what it asks for
//! -----|-----------------
//! E1   | a slot, if nobody waits and it is the smallest free one; otherwise a position in the queue
//! E2   | (waiting room) to be woken when something has changed
//! E3   | to give a slot that is free or stale to the head of the queue
//! E4   | (gives up) to leave the queue
//! T1   | a slot, if nobody waits and it is the smallest free one; never a position in the queue
//! T2   | to free a slot that has been stale for long enough, if nobody waits; then T1 again
//! X1   | which claim is the head of the queue
//! X2   | to give its slot to the head of the queue
//! X3   | to free its slot: if nobody waits, or unconditionally if X2 failed or is impossible
//!
//! X2 is impossible if the hall was closed, if `resize` has removed the slot, or if one of the two claims takes several
//! slots.
//!
//! These events wake a waiter: it is given a slot, it loses its claim, the claim before it goes away, or
//! `door` is written. Two more events wake the head of the queue: the claim of a holder goes away, or
//! has been gone for long enough.
//!
//! Invariants:
//!
//! - I1: if a process is in its critical section with slot J, then slot J is assigned to this process, even if its
//!   claim is gone. If the process takes two slots, two slots are assigned to it.
//! - I2: a process in its remainder has no claim and no slot.
//! - I3: if enough slots for the head of the queue are free, or a slot has been stale for long enough, then the head
//!   is awake.
//! - I4: if enough slots for the head of the queue are free, all waiters are awake.
//! - I5: no process has two claims.
//!
//! By I4, a waiter that stops blocks at most the slots that it is given. Stale slots are an
//! exception, because only the head of the queue reassigns them. If the head stops, the waiters behind
//! it get the stale slots only after the head's lease has ended. So a process must stop renewing its lease
//! when it stops executing these lines.
//!
//! Doorway: E1. Each line is one transaction, and every transaction returns the state of the hall after it. A
//! process may send every request again. It does so if it loses its connection before the answer, because it then
//! cannot find out whether the request took effect.
//!
//! The driver in the crate `hallpass-cluster` runs these lines on a real store. It makes a few
//! transitions that the model does not have. These are **not checked**:
//!
//! - X1 may be answered from an old view of the hall. If X2 or X3 then has no effect, the driver
//!   continues from the state that X2 or X3 returned, as if X1 had returned that state. In each
//!   exit section, it does so at most once.
//! - A process that gets a slot after it has lost its claim starts over with a new claim.
//! - A process that finds a claim gone records the time in the store, for the other processes of its machine.
//! - If an owner gives up before a request was answered, its claim may have got a slot. The owner then
//!   ends the lease of the claim, and gives the slot to the next claim immediately.
//! - A request to create a claim again, or to end a lease, hangs in the network and arrives later.
//! - A request that was sent before the store was restored from a backup arrives after the restore. The model drops
//!   such a request. In a real store, the request may create a claim that its owner no longer uses, like the claims
//!   in the backup.
//! - A process that has seen nothing since the backup was made continues after a restore as if nothing had happened. In
//!   the model, every process notices a restore.
//!
//! Of the events that the driver handles, the model has these:
//!
//! - leases that end, processes that die, answers that get lost, requests that arrive late;
//! - waiters that give up, processes that do not wait, processes that take two slots at once;
//! - `resize` and `reap`, and the slots that they hand over;
//! - holders that create their claims again;
//! - a hall that is closed, or removed by force and created again;
//! - a store that loses its history or is restored from a backup.
//!
//! [`Casts`] selects one of these events or a combination of them. The model does not measure time. It assumes that a
//! process leaves in time, which the driver has to ensure.

mod effects;
mod events;
mod hall;
mod halls;
mod lines;
mod model;
mod register;
mod words;

pub mod entries;
pub mod wrong;

pub use hall::{MAX_PROCESSES, MAX_SLOTS};
pub use lines::{Ask, ClaimState, Line, Picture, Was};
pub use model::{Cast, Casts, ClusterModel};
