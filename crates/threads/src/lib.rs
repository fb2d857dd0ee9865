//! hallpass on real memory: the step machines of `hallpass-algorithms` over atomics, for threads and
//! tasks of one process. Users take the crate `hallpass`, which re-exports what is public here.
//!
//! | module | what is in it |
//! |---|---|
//! | `hall` | [`Hall`], and everything one calls |
//! | `passage` | how it runs its machine |
//! | `builder` | [`Builder`] |
//! | `pass` | the guards |
//! | `future` | [`Acquire`], the future |
//! | `seat` | the desk of the machine, natively: what its lines read and write |
//! | `waiter` | the queue: nodes on the stacks of those who wait, linked under the lock |
//! | `patience` | how one waits: spin, yield, park |
//! | `names` | slot numbers of halls with more slots than fit into one word |
//! | `native` | any step machine of the algorithms crate on atomics |
//! | `paper` | a paper's algorithm in the place of ours |
//! | `error` | why there is no pass |
//! | `watch`, `metrics` | tells of those who wait, if a feature asks for it |
#![deny(unsafe_code)]

mod builder;
mod error;
mod future;
mod hall;
#[cfg(feature = "metrics")]
mod metrics;
mod names;
mod native;
mod paper;
mod pass;
mod passage;
mod patience;
mod seat;
mod sync;
mod waiter;
mod watch;

pub use builder::Builder;
pub use error::{AcquireError, BuildError, ResizeError, TryAcquireError};
pub use future::{Acquire, AcquireMany, AcquireManyOwned, AcquireOwned};
pub use hall::{Hall, MAX_SLOTS};
#[cfg(feature = "metrics")]
pub use metrics::Metrics;
pub use paper::{PaperHall, PaperPass};
pub use pass::{OwnedPass, OwnedPasses, Pass, Passes};
