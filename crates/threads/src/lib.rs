//! [`Hall`]: a fair semaphore with slot numbers, for the threads and tasks of one process. It runs a step
//! machine of the crate `hallpass-algorithms` on atomics. Users add the crate `hallpass`, which re-exports
//! all public items of this crate.
//!
//! | module | contents |
//! |---|---|
//! | `hall` | [`Hall`]: its constructors, and acquiring a slot |
//! | `many`, `owned` | acquiring several slots in one call, and passes that own a reference to the hall |
//! | `future` | acquiring a slot from a task: [`Acquire`] and the other futures |
//! | `manage` | inspecting a hall, resizing and closing it |
//! | `fast_path` | the accesses of a caller that finds a slot free |
//! | `contended` | continues a call that cannot finish on the fast path |
//! | `pass` | the guards |
//! | `pool`, `lease` | [`Pool`]: k items behind a hall, and the leases of its items |
//! | `service` | [`Acquirer`]: a hall for services that are polled |
//! | `builder`, `error` | [`Builder`], the errors |
//! | `mode` | fair or barging, and where the slot numbers are |
//! | `state` | the part of a hall's memory that only the queue needs |
//! | `environment` | executes the accesses of the step machine on real memory |
//! | `lock` | the lock of the queue, and the waiters that have not joined it yet |
//! | `waiter`, `wake` | the queue of nodes, and how their owners are woken |
//! | `parking` | how a thread waits: spin, yield, park |
//! | `rotation` | lets threads take turns in a crowded hall with a limit on overtaking |
//! | `yielding` | yields the core, as long as that is cheap |
//! | `slot_bits` | slot numbers of halls with more slots than fit into one word |
//! | `instruments`, `metrics` | observe waiters (features `metrics` and `tracing`) |
//! | `papers` | halls that run a published algorithm (feature `papers`) |
//! | `sync` | atomics and threads of the standard library, or of loom |
#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;
mod contended;
mod environment;
mod error;
mod fast_path;
mod future;
mod hall;
mod instruments;
mod lease;
mod lock;
mod manage;
mod many;
#[cfg(feature = "metrics")]
mod metrics;
mod mode;
mod owned;
#[cfg(feature = "papers")]
mod papers;
mod parking;
mod pass;
mod pool;
mod rotation;
mod service;
mod slot_bits;
mod state;
mod sync;
mod waiter;
mod wake;
mod yielding;

pub use builder::Builder;
pub use error::{AcquireError, BuildError, ResizeError, TryAcquireError};
pub use future::{Acquire, AcquireMany, AcquireManyOwned, AcquireOwned};
pub use hall::{Hall, MAX_SLOTS};
pub use lease::{Lease, OwnedLease};
#[cfg(feature = "metrics")]
pub use metrics::Metrics;
#[cfg(feature = "papers")]
pub use papers::{PaperHall, PaperPass};
pub use pass::{OwnedPass, OwnedPasses, Pass, Passes};
pub use pool::Pool;
pub use service::Acquirer;
