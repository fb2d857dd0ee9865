//! **At most k at once among machines, each with its own slot.** A [`ClusterHall`] is a fair counting semaphore
//! for processes on any machines that can reach the same etcd cluster. A holder has a pass with a *slot*, a
//! number from 0 to k-1 that no other holder has, and a *token*, a number that is larger than that of every
//! earlier holder.
//!
//! ```no_run
//! use hallpass_cluster::{Cluster, ClusterOptions};
//!
//! let cluster = Cluster::connect(ClusterOptions::at("etcd://etcd-1:2379,etcd-2:2379")?)?;
//! let migrations = cluster.open("migrate", 8)?; // the same hall for all machines
//! let pass = migrations.acquire()?; // first come, first served
//! println!("slot {}, token {}", pass.slot(), pass.token());
//! while pass.is_valid() { // or await pass.lost()
//!     // one more step
//! #   break;
//! }
//! pass.release()?;
//! # Ok::<(), hallpass_cluster::Error>(())
//! ```
//!
//! # Guarantees
//!
//! - **At most k holders, with distinct slots, the smallest free slot first**, provided that every holder stops
//!   when its pass is no longer [valid](ClusterPass::is_valid).
//! - **First come, first served.** A waiter gets a slot before every waiter that joins the queue later.
//!   [`try_acquire`](ClusterHall::try_acquire) fails while there are waiters.
//! - **A pass states how long it is valid**, and this holds whatever happens to the cluster, the network and other
//!   machines: no other process has the slot before that time is over. Passes are renewed in the background. A
//!   pass that cannot be renewed is [lost](ClusterPass::lost), *before* another process can get the slot. Each
//!   machine measures durations by its own clock: the time of day does not matter, and rates may differ by a
//!   tenth either way.
//! - **A crashed holder does not block the hall permanently.** Its slot goes to the next waiter after at most about
//!   twice the [ttl](ClusterOptions::ttl): once until etcd ends its lease, and once more because etcd may end
//!   leases early.
//! - **Waiters survive faults.** When members die, leaders change, revisions are compacted, or the network is cut and
//!   heals, waiters keep waiting, in their old position if their lease lasted. If the cluster stays down, they
//!   get [`Error::Unreachable`], which names the members that were tried.
//! - **No thundering herd.** However many wait, a release is reported to two or three of them, and costs one write.
//!
//! # Leases are only hints
//!
//! Distributed locks are often held as long as a lease lasts. But the cluster decides when a lease ends: a leader
//! that was stuck may end leases that were meanwhile renewed at another member, and a deposed leader may confirm
//! a renewal that has no effect. So in this crate the end of a lease is only a hint that its owner may have died.
//! What counts is the last request to which etcd answered, *by consensus*, that the holder's claim exists. The
//! holder stops nine tenths of its ttl after it sent that request. A process that finds a claim gone, although
//! its slot was not released, waits for eleven tenths of that ttl before it reclaims the slot.
//!
//! A process that is stopped with all its threads, or a virtual machine that is paused, cannot stop in time, and
//! continues for a moment when it wakes up. The token protects against this: storage that remembers the largest
//! token it has seen from each slot, and refuses smaller ones, is safe even then.
//!
//! # What is stored in etcd
//!
//! All keys begin with [`prefix`](EtcdOptions::prefix)`/NAME/`. `door` has the number of slots; `queue/` and
//! `inside/` have a key for each claim, bound to its lease; `slots/` has a record for each slot that is taken;
//! `gone/` records when each machine first noticed that the holder of a slot had vanished. Values are JSON. A
//! user of etcd needs read and write access to the prefix, and nothing else.
//!
//! The protocol is a step machine, [`hallpass_algorithms::halls::cluster`], which the project's model checker
//! explores in every interleaving, with crashes and with leases that end at any time. The same lines run here. A
//! few transitions exist only in this crate and are **not** checked; the documentation of that module lists them.
//!
//! # Limits
//!
//! - [`try_acquire`](ClusterHall::try_acquire) does not take the slot of a vanished holder, unless a process on the
//!   same machine noticed long enough ago that the holder had vanished. Waiters take such slots after that time,
//!   and [`reap`](ClusterHall::reap) releases them.
//! - After the cluster was restored from a backup, a new process cannot see holders that are not in the backup, until
//!   a process that ran before the restore has noticed it. [`ClusterPass`] has the details.
//! - If you delete keys below `slots/` with `etcdctl`, slots are reassigned while they are held. Their holders lose
//!   their passes at the next renewal.
//! - Below a prefix of several parts, such as `/team-a/builds`, no hall can be named `door`, `queue`, `inside`,
//!   `slots` or `gone`.
//! - After a fork, the child has none of its parent's passes, and must not use its handles.
//!
//! # Features
//!
//! `etcd`, on by default, is the only store so far. The crate does not build without a store.

#![forbid(unsafe_code)]

#[cfg(not(feature = "etcd"))]
compile_error!("hallpass-cluster needs a store: enable the feature `etcd`");

mod acquire;
mod claim;
mod clock;
mod cluster;
mod core;
mod error;
mod etcd;
mod expiry;
mod failure;
mod hall;
mod leases;
mod manage;
mod options;
mod pass;
mod passage;
mod records;
mod retry;
mod runtime;
mod view;
mod waiting;

pub use acquire::Acquire;
pub use claim::Loss;
pub use clock::Clock;
pub use cluster::Cluster;
pub use error::Error;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use etcd::fuzzing;
pub use etcd::{EtcdOptions, Tls};
pub use hall::ClusterHall;
pub use hallpass_common::{MAX_SLOTS, Participant, Status};
pub use options::ClusterOptions;
pub use pass::{ClusterPass, Lost, Renewals};
