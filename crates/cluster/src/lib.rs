//! **At most k at once across machines, each with its own slot.** A [`ClusterHall`] is a fair counting semaphore for
//! processes on any machines that can reach the same store: an etcd cluster or a PostgreSQL database. A holder has a
//! pass with a *slot* and a *token*. The slot is a number from 0 to k-1 that no other holder has. The token is a number
//! that is larger than the tokens of all earlier holders of the same slot.
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
//!   when its pass is no longer [valid](ClusterPass::is_valid). After a [`resize`](ClusterHall::resize) to fewer slots,
//!   there may be more holders for a while, because holders of removed slots keep them until they leave.
//! - **First come, first served.** A waiter gets a slot before every waiter that joins the queue later.
//!   [`try_acquire`](ClusterHall::try_acquire) fails while there are waiters.
//! - **A pass has a deadline.** No other process has the slot before the deadline, whatever happens to the cluster, the
//!   network and other machines. (The exceptions are under [Limits](#limits).) hallpass renews passes in the
//!   background. A pass that cannot be renewed is [lost](ClusterPass::lost), *before* another process can get the slot.
//!   Each machine measures durations by its own clock: the time of day does not matter, and each clock may run up to a
//!   tenth too fast or too slow.
//! - **A crashed holder does not block the hall permanently.** Its slot goes to the next waiter after at most
//!   about twice the [ttl](ClusterOptions::ttl). The first ttl passes until the store ends the lease of the holder.
//!   The second one is needed because the store may end leases early.
//! - **Waiters survive faults.** Members may die, leaders may change, revisions may be compacted, and the network
//!   may be cut for a while. Waiters keep waiting, and keep their position if their lease lasts. They wait as long
//!   as their callers allow, however long the cluster is down.
//! - **No thundering herd.** A release usually costs one write, which etcd reports to only two waiters, however many
//!   wait. (All waiters may be notified if the holder or the first waiter has asked for several slots, or if the first
//!   waiter leaves the queue during the release.)
//!
//! # Leases are only hints
//!
//! Many distributed locks are held as long as a lease lasts. But the cluster decides when a lease ends. A leader
//! that was stuck may end leases that another member has renewed, and a deposed leader may confirm a renewal that
//! has no effect. So in this crate the end of a lease is only a hint that its owner may have died. A holder
//! remembers when it sent the last request to which the store answered, *by consensus*, that its claim exists. It
//! stops nine tenths of its ttl after it sent that request. A process that finds a claim gone, although its slot
//! was not released, waits for eleven tenths of the holder's ttl before it reclaims the slot.
//!
//! If all threads of a process are suspended, or a virtual machine is paused, the process cannot stop in time. It
//! continues for a moment when it wakes up. The token protects against this: let the storage remember the largest
//! token that it has seen for each slot, and refuse smaller tokens.
//!
//! # What is stored in etcd
//!
//! All keys of a hall begin with [`prefix`](EtcdOptions::prefix)`/NAME/`. Values are JSON.
//!
//! - `door` has the number of slots, and says whether the hall is closed.
//! - `queue/` has a key for each claim that waits, and `inside/` for each claim that has a slot. These keys are
//!   bound to the lease of the claim.
//! - `slots/` has a record for each slot that is taken.
//! - `gone/` records when each machine first noticed that the holder of a slot had vanished.
//!
//! [`Cluster::write_time`] writes the key [`prefix`](EtcdOptions::prefix)`/.write`, which belongs to no hall.
//!
//! The user of etcd needs only read and write access to the prefix.
//!
//! In PostgreSQL, these are rows of the table `hallpass.records`, and the keys begin with `NAME/`.
//!
//! The protocol is a step machine, [`hallpass_algorithms::halls::cluster`], which the project's model checker
//! explores in every interleaving, with crashes and with leases that end at any time. The same lines run here. A
//! few transitions exist only in this crate and are **not** checked; the documentation of that module lists them.
//!
//! # Limits
//!
//! - [`try_acquire`](ClusterHall::try_acquire) takes the slot of a vanished holder only if a process on the same
//!   machine noticed at least 1.1 ttl ago that the holder had vanished. Waiters wait until then and take the slot.
//!   [`reap`](ClusterHall::reap) waits until then and releases it.
//! - After the cluster was restored from a backup, a new process does not see the holders that are not in the backup.
//!   Unless a [record](ClusterOptions::state_dir) on its machine shows the restore, the process can take the slot of
//!   such a holder before the holder notices the restore or reaches its deadline. [`ClusterPass`] has the details.
//! - If you delete keys below `slots/` with `etcdctl`, or call [`evict`](ClusterHall::evict), a slot can be reassigned
//!   while its holder still uses it. The holder loses its pass at its next renewal.
//! - Below a prefix of several parts, such as `/team-a/builds`, no hall can be named `door`, `queue`, `inside`,
//!   `slots` or `gone`.
//! - After a fork, the child has none of the passes of its parent, and must not use the handles of its parent.
//!
//! # Features
//!
//! `etcd` (on by default) adds the store etcd, and `postgres` the store PostgreSQL. The store in memory, for tests,
//! needs no feature.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "etcd"),
    allow(dead_code, unused_imports, reason = "the store in memory needs less than the others")
)]

mod acquire;
mod claim;
mod clock;
mod cluster;
mod core;
mod error;
#[cfg(feature = "etcd")]
mod etcd;
mod expiry;
mod failure;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod hall;
mod high_water;
mod leases;
mod manage;
mod memory;
mod options;
mod pass;
mod passage;
mod passes;
mod patience;
#[cfg(feature = "postgres")]
mod postgres;
mod records;
mod requests;
mod retire;
mod retry;
mod runtime;
mod slot_set;
mod store;
mod successor;
mod view;
mod waiting;

pub use acquire::{Acquire, AcquireMany};
pub use claim::Loss;
pub use clock::Clock;
pub use cluster::Cluster;
pub use error::Error;
#[cfg(feature = "etcd")]
pub use etcd::EtcdOptions;
pub use hall::ClusterHall;
pub use hallpass_common::{MAX_SLOTS, Participant, Status};
pub use options::{ClusterOptions, StoreOptions, Tls};
pub use pass::{ClusterPass, Lost, Renewals};
pub use passage::MAX_TOGETHER;
pub use passes::ClusterPasses;
#[cfg(feature = "postgres")]
pub use postgres::PostgresOptions;
