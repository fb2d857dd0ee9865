//! **At most k at once among machines, each with its own number**, on etcd. An [`ClusterHall`] is a fair
//! counting semaphore for processes on whichever machines can reach a cluster. Whoever gets in holds a pass
//! with a *slot*, a number from 0 to k-1 that nobody else has meanwhile, and a *token*, a number that is
//! larger than that of everybody who was in before.
//!
//! ```no_run
//! use hallpass_cluster::{Cluster, ClusterOptions};
//!
//! let etcd = Cluster::connect(ClusterOptions::at("etcd://etcd-1:2379,etcd-2:2379")?)?;
//! let migrations = etcd.open("migrate", 8)?; // the same for everybody
//! let pass = migrations.acquire()?; // waits, first in, first enabled
//! println!("slot {}, token {}", pass.slot(), pass.token());
//! while pass.is_valid() { // or await pass.lost()
//!     // one more step
//! #   break;
//! }
//! pass.release()?; // the next one's
//! # Ok::<(), hallpass_cluster::Error>(())
//! ```
//!
//! # What is promised
//!
//! - **At most k, with distinct slots, the smallest first**, as long as everybody stops when its pass is
//!   no longer [valid](ClusterPass::is_valid).
//! - **First in, first enabled.** Whoever has its place in the queue gets in before all who come later.
//!   [`try_acquire`](ClusterHall::try_acquire) fails while anybody waits.
//! - **A pass says how long it is good for**, and what it says is true whatever happens to the cluster, to
//!   the network and to other machines: nobody else has the slot before that time is over. It is renewed
//!   in the background. When it cannot be, it is [lost](ClusterPass::lost), *before* anybody can follow. What
//!   is measured is time passing on each machine by itself: what o'clock it is does not matter, and rates
//!   may differ by a tenth, either way.
//! - **Who crashes blocks nobody for ever.** What it held goes to the next in line after at most about
//!   twice the [ttl](ClusterOptions::ttl): once until etcd ends its lease, and once more, because etcd may end
//!   leases early.
//! - **Trouble is survived.** Members die, leaders change, revisions are compacted, the network is cut and
//!   heals: who waits goes on waiting, in its old place if its lease lasted. A cluster that stays down is
//!   an [`Error::Unreachable`] that says whom we asked.
//! - **No herd.** However many wait, a release is told to two or three of them, and costs one write.
//!
//! # Leases prove nothing
//!
//! What is usual is to hold a lock as long as one's lease lasts. But the lease is the cluster's, and it ends
//! when the cluster says so: a leader that was stuck for a while may end leases that others have renewed
//! meanwhile, and a leader that is none any more may say that it renewed one. So here a lease is only a hint
//! that somebody may have died. A holder counts from the start of the last question that etcd answered by
//! consensus with "your claim is there", and stops nine tenths of its ttl later. Who finds a claim gone whose slot
//! was not given back waits for eleven tenths before it takes that for given.
//!
//! A process that is stopped with all its threads, or a virtual machine that is paused, cannot stop in time,
//! and goes on for a moment when it is continued. That is what the token is for: storage that remembers
//! the largest token it has seen from each slot, and refuses smaller ones, is safe even then.
//!
//! # What is in etcd
//!
//! Keys below [`prefix`](ClusterOptions::prefix)`/NAME/`: `door` says how many slots there are; `queue/` and
//! `inside/` have a key for each claim, on its lease; `slots/` has a record for each slot that is taken; `gone/`
//! says since when which machine has known that the holder of a slot has vanished.
//! Values are JSON. A user needs to read and write that prefix, and nothing else. The protocol is a step
//! machine, `algorithms/src/claims`, which the project's model checker explores in every interleaving, with
//! crashes and with leases that end at any time; the same code runs here.
//!
//! # What is not
//!
//! - [`try_acquire`](ClusterHall::try_acquire) does not take a slot whose holder has vanished, unless somebody on
//!   the same machine has seen that long enough ago. One that waits does, after its wait, and so does
//!   [`reap`](ClusterHall::reap).
//! - A cluster that is restored from a backup counts revisions from there: tokens may repeat.
//! - Who deletes `slots/` by hand, with `etcdctl`, gives away what others hold.
//! - After a fork, the child has nothing of what its parent holds, and must not use its handles.

mod claim;
mod client;
mod clock;
mod core;
mod error;
mod hall;
mod keys;
mod manage;
mod options;
mod pass;
mod passage;
mod place;
mod records;
mod retry;
mod runtime;
mod store;
mod view;
mod waiting;

pub use clock::Clock;
pub use error::Error;
pub use hall::{Acquire, ClusterHall};
pub use hallpass_common::{MAX_SLOTS, Participant, Status};
pub use options::{ClusterOptions, Tls};
pub use pass::{ClusterPass, Loss, Lost, Renewals};
pub use place::Cluster;
