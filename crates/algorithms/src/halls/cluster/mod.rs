//! Claims: k-exclusion among machines, on a store such as etcd that has transactions, revisions and leases.
//!
//! The protocol is not from a paper. A process that needs a slot makes a claim. The store has these records of a hall:
//!
//! - `door`: the number of slots, or that the hall is closed.
//! - `queue/ID`: a claim that waits. The revision in which it was made is its position.
//! - `inside/ID`: a claim that has a slot.
//! - `slots/J`: the claim that slot J is assigned to. The revision in which this was written is the holder's
//!   *token*.
//!
//! Claims, in the queue and inside, are bound to a lease, so they vanish some time after their owner. A record in
//! `slots` is not bound to a lease. Its holder removes it or assigns it to another claim when it leaves. No other
//! process may change it as long as the claim that it names exists. A record whose claim is gone is *stale*: the owner
//! has crashed, or was cut off from the store. The end of a lease does not prove that the owner has stopped, because
//! store and owner have no common clock, and etcd is known to end leases early. So no process relies on it. The owner
//! counts from the last time at which it saw its claim in the store, and stops in time. A process that finds the claim
//! gone waits until the owner must have stopped.
//!
//! A slot that is released while others wait goes to the head of the queue in the same transaction. So no slot is free
//! while a claim waits, with three exceptions: a process asked for a slot that was not the smallest free one, and
//! joined the queue instead; the hall was made larger; or a holder tried to give its slot to a claim that had left the
//! queue. In the last case the holder does not try the next claim, but frees the slot and wakes all waiters. Any waiter
//! that sees a free slot, or one that has been stale for long enough, gives it to the head of the queue.
//!
//! Line | what it asks for
//! -----|-----------------
//! E1   | a slot, if nobody waits and it is the smallest free one; otherwise a position in the queue
//! E2   | (waiting room) to be woken when something has changed
//! E3   | to give a slot that is free or stale to the head of the queue
//! E4   | (gives up) to leave the queue
//! T1   | as E1, but without a position in the queue
//! X1   | which claim is the head of the queue
//! X2   | to give its slot to the head of the queue
//! X3   | to free its slot: if nobody waits, or unconditionally if X2 failed or `resize` has removed the slot
//!
//! A waiter is woken when it is given a slot or has lost its claim, when the claim before it is gone, and when the
//! door is written. The head of the queue is also woken when a claim inside is gone, and when one has been gone for
//! long enough.
//!
//! - I1: a process inside has its slot, but may have lost its claim.
//! - I2: a process outside has left nothing behind.
//! - I3: if a slot is free, or has been stale for long enough, the head of the queue is awake.
//! - I4: if a slot is free, all waiters are awake.
//! - I5: no process has two claims.
//!
//! By I4, a waiter that stops blocks at most the one slot that it is given. This does not hold for stale slots: only
//! the head of the queue reassigns them. If it stops, the waiters behind it get these slots only after its lease has
//! ended. So a process must stop renewing its lease when it stops executing these lines.
//!
//! Doorway: E1. Each line is one transaction, and every transaction returns the state of the hall after it. Each
//! request may be repeated, because a process that has lost its connection cannot know whether the request took effect.
//!
//! The driver in the crate `hallpass-cluster` runs these lines on a real store, and makes a few transitions that the
//! model does not have. They are **not checked**:
//!
//! - `try_acquire` frees a slot that has been stale for long enough and that nobody waits for, and starts over.
//! - X1 may be answered from an old view of the hall. If X2 or X3 then has no effect, the driver continues from the
//!   state that this line returned, as if X1 had returned it. It does so only once.
//! - A process that gets a slot after it has lost its claim starts over with a new claim.
//! - `resize` and `reap` give free and stale slots to waiters.
//! - A process that finds a claim gone records the time in the store, for the other processes of its machine.
//! - If an owner gives up before a request was answered, its claim may have got a slot. The owner ends the lease of
//!   the claim, and gives such a slot to the next claim at once.
//! - The hall is removed and made again, or the store loses history: the driver notices and starts over.

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
