//! Fair semaphores that hand out slot numbers.
//!
//! A [`Hall`] has k *slots*. At most k callers are inside at the same time, and each of them holds a
//! [`Pass`] with a slot of its own: a number from 0 to k-1. Use the number as an index, for example of a
//! device, a connection, a buffer or a core. Threads and tasks wait in one queue, first in, first enabled.
//!
//! ```
//! use hallpass::Hall;
//! use std::thread;
//!
//! static GPUS: Hall = Hall::new(2);
//!
//! thread::scope(|scope| {
//!     for job in 0..8 {
//!         scope.spawn(move || {
//!             let pass = GPUS.acquire().expect("nobody closes the hall"); // waits
//!             println!("job {job} on device {}", pass.slot()); // 0 or 1
//!         }); // dropping the pass frees the slot for the next waiter
//!     }
//! });
//! ```
//!
//! Threads block ([`Hall::acquire`]), try ([`Hall::try_acquire`]), or wait for a limited time
//! ([`Hall::try_acquire_for`]). Tasks await ([`Hall::acquire_async`]) on any executor. A pass borrows the
//! hall, or owns a reference to it ([`Hall::acquire_owned`]). A [`Pool`] holds k items, such as connections, and
//! lends the item of its slot to each caller.
//!
//! # Guarantees
//!
//! - **At most k holders.** At most [`Hall::slots`] passes are held at any time, except for passes that were
//!   already held when [`Hall::resize`] made the hall smaller.
//! - **Distinct slots, smallest first.** No two holders have the same slot. A caller gets the smallest slot
//!   that is free when it looks. So a few callers use only the first few slots, and the resource behind slot 0
//!   stays warm.
//!   A smaller slot may become free just after the look, if the caller had to wait or the hall has more than
//!   32 slots.
//! - **First in, first enabled.** A waiter gets in before every caller that joins the queue after it. No
//!   caller overtakes a waiter: not with [`try_acquire`](Hall::try_acquire), which fails while there are
//!   waiters; not with a small request behind a large one; and not as a holder that has just left and comes
//!   back. A slot that becomes free while there are waiters is handed to the first one, which does not have to
//!   win a race when it wakes up.
//!   ([`Builder::barging`] gives up this guarantee for throughput.)
//! - **No lost wake-ups.** A waiter is woken when its turn comes, no matter whether other callers give up,
//!   drop their futures, time out or resize the hall.
//! - **Memory ordering.** Dropping a pass *happens before* the acquire that it lets in. The next holder
//!   of a slot sees everything that the last holder of that slot wrote, without atomics of its own.
//! - **No poisoning.** A holder that panics drops its pass, and the hall keeps working. If a waker panics, the panic
//!   hook reports it, and other waiters are served as if it had not.
//!
//! The algorithm is model-checked, not only tested. It is a step machine: the project's checker explores
//! every interleaving for small numbers of processes, with time-outs, requests for several slots, resizing
//! and closing, and the same code runs here on atomics. (For halls with more than 32 slots, the checker
//! explores plain passages only.) The queue and the wake-ups around it are tested under loom.
//!
//! # Limits
//!
//! - A thread that stops forever *in the middle of a call* can block all callers that have to queue. A thread
//!   that stops while it *holds a pass* only keeps its slot; the k-1 other slots stay in use. A single thread
//!   of a process stops only if a debugger stops it, or a signal handler that never returns. A single process,
//!   in contrast, can be killed at any time: `SharedHall` (feature `processes`) tolerates that.
//! - A blocking call parks the thread. Do not block inside the poll of a future: it stops the executor, and if
//!   the executor itself parks its thread, the call may consume a wake-up that was meant for the executor.
//! - A hall is not reentrant. A caller that asks for a second pass while it holds one may wait for itself. Ask
//!   for both at once: [`Hall::acquire_many`].
//! - At most [`MAX_SLOTS`] slots, and at most 2^27 - 1 waiters.
//!
//! # Tasks and cancellation
//!
//! A future joins the queue **when it is first polled**, not when it is made. Dropping it leaves the queue;
//! the waiters behind it move up, and nothing is lost.
//!
//! When its turn comes, the pass is *granted* to the future, and its task is woken. From then on **the future
//! holds the pass until it is polled or dropped**. A future that is polled once and then neglected, for example
//! in a `select!` loop that is busy with another branch, keeps a slot from all other callers; a task that then
//! waits for that slot itself waits forever. Keep futures polled, or drop them. A future that is dropped after
//! it was granted a pass hands the pass to the next waiter.
//!
//! ```
//! # use hallpass::Hall;
//! # pollster::block_on(async {
//! let hall = Hall::new(1);
//! let pass = hall.acquire_async().await?;
//! let waiting = hall.acquire_async(); // not in the queue yet
//! drop(waiting);
//! assert_eq!((pass.slot(), hall.waiting()), (0, 0));
//! # Ok::<(), hallpass::AcquireError>(())
//! # }).unwrap();
//! ```
//!
//! # Several slots at once
//!
//! [`Hall::acquire_many`] takes `m` slots together. It waits in the same queue as requests for one slot. While
//! it is first, slots that become free stay free for it, so a stream of small requests cannot starve it. The
//! price is *head-of-line blocking*: the waiters behind it wait although slots are free. Asking for more slots
//! than the hall has is an error.
//!
//! # Resizing, closing, forgetting
//!
//! [`Hall::resize`] changes the number of slots at once; [`Hall::add_slots`] and [`Hall::remove_slots`] change it
//! by a difference. With more slots, waiters get in. With fewer slots, holders keep their passes. No caller gets in
//! until fewer passes are held than the hall has slots, and every slot that is handed out from then on is below the
//! new number. A waiter that asked for more slots than the hall has now waits until the hall has enough again. With
//! 0 slots, the hall pauses.
//!
//! [`Hall::close`] turns away all waiters and later callers, permanently; holders keep their passes.
//! [`Pass::forget`] takes a slot out of use permanently.
//!
//! # Cost
//!
//! If nobody waits, an acquire is one load and one atomic read-modify-write, and a release is one
//! read-modify-write. Above 32 slots it is two each, because slot numbers are kept beside the count. There is no
//! allocation, not even for waiters: a thread waits on its stack, a task in its future. (There are three
//! exceptions. Above 32 slots, the first pass allocates the slot numbers, and a request for several slots
//! allocates a list. A call that lets in several tasks at once allocates a list of their wakers.) A hall takes
//! 128 bytes: a cache line for callers that find a slot free, and one for callers that queue.
//!
//! A waiting thread spins for a moment, in case the holder is about to leave; then yields once, in case there
//! are more threads than cores; then parks.
//!
//! # For users of tokio's semaphore
//!
//! | `tokio::sync::Semaphore` | [`Hall`] | difference |
//! |---|---|---|
//! | `new`, `const_new` | [`Hall::new`] | always `const`; k is at least 1 and at most [`MAX_SLOTS`] |
//! | `acquire().await` | [`acquire_async`](Hall::acquire_async)`().await` | both fail if the semaphore is closed |
//! | | [`acquire`](Hall::acquire) | blocks the thread: not for async code, see above |
//! | | [`try_acquire_for`](Hall::try_acquire_for), [`try_acquire_until`](Hall::try_acquire_until) | time limits for threads; tasks use the timeout of their executor |
//! | `try_acquire` | [`try_acquire`](Hall::try_acquire) | neither overtakes waiters |
//! | `acquire_many(m).await` | [`acquire_many_async`](Hall::acquire_many_async)`(m).await` | asking for more slots than there are is an error and does not wait forever |
//! | `acquire_many(0)` | the same | succeeds at once and never waits, even if others wait; tokio's waits in the queue |
//! | `acquire_owned().await` | [`acquire_owned_async`](Hall::acquire_owned_async)`().await` | takes `&Arc<Hall>` and does not consume a clone |
//! | `available_permits` | [`available`](Hall::available), [`waiting`](Hall::waiting), [`slots`](Hall::slots) | while a large request is first in the queue, tokio's count excludes the permits that it has gathered; `available` includes the slots that stay free for it |
//! | `add_permits`, `forget_permits` | [`add_slots`](Hall::add_slots), [`remove_slots`](Hall::remove_slots), [`resize`](Hall::resize) | a hall can shrink below the number of passes held |
//! | `close`, `is_closed` | [`close`](Hall::close), [`is_closed`](Hall::is_closed) | |
//! | `SemaphorePermit` | [`Pass`], [`Passes`] | has a [`slot`](Pass::slot); [`split_off`](Passes::split_off) and [`merge`](Passes::merge) |
//! | `PollSemaphore` of `tokio-util` | [`Acquirer`] | |
//! | cooperative budget | none | a task that awaits free slots in a loop never yields: call `tokio::task::yield_now` now and then, or wrap the loop in `tokio::task::coop` |
//! | `SemaphorePermit::forget` | [`Pass::forget`] | |
//!
//! Both are fair: first come, first served, and a large request holds back the requests behind it. In both, a
//! future that was granted a permit keeps it until it is polled or dropped.
//!
//! # Features
//!
//! By default this crate contains only [`Hall`] and [`Pool`]. Each feature adds one thing:
//!
//! | feature | adds |
//! |---|---|
//! | `processes` | `hallpass::processes`: `SharedHall`, a hall among the processes of one machine (Linux) |
//! | `etcd` | `hallpass::cluster`: `ClusterHall`, a hall among machines, on an etcd cluster |
//! | `objects` | `hallpass::objects`: `Resilient`, shared data that a stalled thread cannot block |
//! | `papers` | `Hall::with`: halls that run a published algorithm, to measure and compare |
//! | `metrics` | `Hall::metrics`: how many callers had to wait, how that ended, and how long it took |
//! | `tracing` | events of the crate [`tracing`](https://docs.rs/tracing) for callers that have to wait |
//!
//! `metrics` and `tracing` add nothing to a call that does not have to wait.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub use hallpass_threads::{
    Acquire, AcquireError, AcquireMany, AcquireManyOwned, AcquireOwned, Acquirer, BuildError,
    Builder, Hall, Lease, MAX_SLOTS, OwnedLease, OwnedPass, OwnedPasses, Pass, Passes, Pool,
    ResizeError, TryAcquireError,
};

#[cfg(feature = "metrics")]
pub use hallpass_threads::Metrics;
#[cfg(feature = "papers")]
pub use hallpass_threads::{PaperHall, PaperPass};

#[cfg(feature = "objects")]
#[doc(inline)]
pub use hallpass_objects as objects;
#[cfg(feature = "objects")]
#[doc(inline)]
pub use hallpass_objects::{Object, Resilient, ResilientCell};

#[cfg(feature = "etcd")]
#[doc(inline)]
pub use hallpass_cluster as cluster;
#[cfg(feature = "etcd")]
#[doc(inline)]
pub use hallpass_cluster::{ClusterHall, ClusterPass};

#[cfg(all(feature = "processes", target_os = "linux"))]
#[doc(inline)]
pub use hallpass_processes as processes;
#[cfg(all(feature = "processes", target_os = "linux"))]
#[doc(inline)]
pub use hallpass_processes::{SharedHall, SharedPass};
