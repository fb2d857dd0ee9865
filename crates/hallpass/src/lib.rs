//! Fair semaphores that hand out slot numbers.
//!
//! A [`Hall`] has k *slots*. At most k callers hold a [`Pass`] at the same time, and each pass has its own slot: a
//! number from 0 to k-1. Use the number as an index, for example of a device, a connection, a buffer or a core.
//! Threads and tasks wait in one queue, and nobody overtakes a waiter ([first in, first enabled](#guarantees)).
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
//! hall, or owns a reference to it ([`Hall::acquire_owned`]). A [`Pool`] holds k items, such as connections. It
//! gives a slot to each caller and lends it the item of this slot.
//!
//! # Guarantees
//!
//! - **At most k holders.** At most [`Hall::slots`] passes are held at any time, except for passes that were
//!   already held when [`Hall::resize`] made the hall smaller.
//! - **Distinct slots, smallest first.** No two holders have the same slot. A caller gets the smallest slot
//!   that is free when it looks. So a few callers use only the first few slots, and the resource behind slot 0
//!   stays warm. If the caller waited, or the hall can have more than 32 slots, a smaller slot may become free
//!   between this look and the moment at which the caller gets its slot.
//! - **First in, first enabled.** A waiter gets a slot before every caller that joins the queue after it. No
//!   caller overtakes a waiter: not with [`try_acquire`](Hall::try_acquire), which fails while there are
//!   waiters; not with a small request behind a large one; and not as a holder that has just left and comes
//!   back. A slot that becomes free goes directly to the first waiter, which does not have to win a race when it
//!   wakes up. [`Builder::bypass`] trades some order for throughput: a limited number of newcomers may overtake a
//!   waiter, but nobody starves. [`Builder::barging`] gives up the guarantee.
//! - **No lost wake-ups.** A waiter is woken when its turn comes, even if other callers give up, drop their
//!   futures, time out or resize the hall.
//! - **Memory ordering.** Dropping a pass *happens before* the acquire that gets its slot. The next holder
//!   of a slot sees everything that the last holder of that slot wrote, without any other atomics.
//! - **No poisoning.** A holder that panics drops its pass, and the hall keeps working. If a waker panics, the panic
//!   hook reports the panic, and the hall serves all other waiters as usual.
//!
//! The algorithm is model-checked, not only tested. It is a step machine. The project's checker explores every
//! interleaving for small numbers of processes, with time-outs, requests for several slots, resizing and closing. The
//! same code runs here on atomics. (For halls that can have more than 32 slots, the checker explores plain passages and
//! resizing only.) The queue and the wake-ups around the step machine are tested under loom.
//!
//! # Limits
//!
//! - A thread that stops forever *in the middle of a call* can block all callers that have to wait. A thread
//!   that stops while it *holds a pass* only keeps its slot; the k-1 other slots stay usable. A single thread of a
//!   process rarely stops. It can stop, for example, in a debugger or in a signal handler that never returns. A
//!   process, in contrast, can be killed at any time. `SharedHall` (feature `processes`) tolerates this.
//! - A blocking call parks the thread. Do not block in the poll function of a future, because this stops the
//!   executor. If the executor parks its thread, the blocking call may even consume a wake-up of the executor.
//! - A hall is not reentrant. A caller that asks for a second pass while it holds one may wait for itself forever.
//!   Ask for both in one call: [`Hall::acquire_many`].
//! - At most [`MAX_SLOTS`] slots, and at most 2^27 - 1 waiters.
//!
//! # Tasks and cancellation
//!
//! A future joins the queue **when it is first polled**, not when it is made. Dropping it leaves the queue;
//! the waiters behind it move up, and nothing is lost.
//!
//! When the turn of the future comes, the hall gives it a pass and wakes its task. From then on **the future
//! holds the pass until it is polled or dropped**. If nobody polls it, for example because a `select!` loop is busy
//! with another branch, no other caller can use the slot. If the same task then waits for that slot in another way,
//! it waits forever. So poll a future until it is ready, or drop it. A future that is dropped after it has got a pass
//! hands the pass to the next waiter.
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
//! [`Hall::acquire_many`] takes `m` slots together. The request waits in the same queue as requests for one slot.
//! While it is first, slots that become free stay free for it. So small requests cannot starve it. The price
//! is *head-of-line blocking*: the waiters behind it wait even if slots are free. A request for more slots than
//! the hall has is an error.
//!
//! # Resizing, closing, forgetting
//!
//! [`Hall::resize`] changes the number of slots immediately; [`Hall::add_slots`] and [`Hall::remove_slots`]
//! change it by a difference. With more slots, the hall admits waiters. With fewer slots, holders keep their passes.
//! Then the hall admits nobody until it has fewer holders than slots. From then on it assigns only slots below the new
//! number. A waiter that has asked for more slots than the hall now has waits until the hall has enough again. With 0
//! slots, the hall pauses.
//!
//! [`Hall::close`] closes a hall permanently. Waiters and later callers get an error; holders keep their passes.
//! [`Pass::forget`] takes a slot out of use permanently.
//!
//! # Cost
//!
//! If the hall is empty, an acquire is one atomic read-modify-write. If slots are held but nobody waits, an acquire is
//! two read-modify-writes. A release is one read-modify-write. In a hall that can have more than 32 slots
//! ([`Builder::max_slots`]), this holds for slots 0 to 15. The numbers of the other slots are in separate words, so an
//! acquire and a release of such a slot each take at least one more read-modify-write.
//!
//! Callers do not allocate, not even if they wait: the record of a waiting thread is on its stack, and that of a task
//! is in its future. There are four exceptions. In a hall that can have more than 32 slots, the first pass with a slot
//! above 15 allocates the slot numbers, and a request for several slots allocates a list. A call that admits several
//! tasks allocates a list of their wakers. An [`Acquirer`] that waits allocates its future.
//!
//! A hall takes 128 bytes: one cache line for callers that find a slot free, and one for callers that wait. The feature
//! `metrics` adds a few counters.
//!
//! A waiting thread first spins for a moment, in case the holder is about to leave. Then it yields once, in case there
//! are more threads than cores, unless its last yields were slow. Then it parks. In a hall with [`Builder::bypass`] in
//! which threads have recently waited, a thread also yields after each 256 passes that it has dropped, unless its last
//! yields were slow. So all threads take turns, and the system rarely stops a thread that holds a slot.
//!
//! # For users of tokio's semaphore
//!
//! | `tokio::sync::Semaphore` | [`Hall`] | difference |
//! |---|---|---|
//! | `new`, `const_new` | [`Hall::new`] | always `const`; k is at least 1 and at most [`MAX_SLOTS`] |
//! | `acquire().await` | [`acquire_async`](Hall::acquire_async)`().await` | both fail if the semaphore is closed |
//! | `blocking_acquire` | [`acquire`](Hall::acquire) | blocks the thread: not for async code, see [Limits](#limits). tokio panics in async code; a hall does not notice |
//! | | [`try_acquire_for`](Hall::try_acquire_for), [`try_acquire_until`](Hall::try_acquire_until) | time limits for threads; tasks use the timeout of their executor |
//! | `try_acquire` | [`try_acquire`](Hall::try_acquire) | neither overtakes waiters |
//! | `acquire_many(m).await` | [`acquire_many_async`](Hall::acquire_many_async)`(m).await` | returns an error if the hall has fewer than m slots; tokio waits until permits are added |
//! | `acquire_many(0)` | the same | both succeed immediately, even if others wait |
//! | `acquire_owned().await` | [`acquire_owned_async`](Hall::acquire_owned_async)`().await` | takes `&Arc<Hall>` and does not consume a clone |
//! | `available_permits` | [`available`](Hall::available), [`waiting`](Hall::waiting), [`slots`](Hall::slots) | while a large request is first in the queue, `available` counts the slots that stay free for it; tokio does not count the permits that it has gathered |
//! | `add_permits`, `forget_permits` | [`add_slots`](Hall::add_slots), [`remove_slots`](Hall::remove_slots), [`resize`](Hall::resize) | `add_slots` needs room ([`Builder::max_slots`]). `remove_slots` removes exactly as many slots as requested, even if they are held; tokio forgets at most the free permits |
//! | `close`, `is_closed` | [`close`](Hall::close), [`is_closed`](Hall::is_closed) | |
//! | `SemaphorePermit` | [`Pass`], [`Passes`] | a pass has a [`slot`](Pass::slot) |
//! | `split`, `merge`, `num_permits`, `semaphore` of `SemaphorePermit` | [`split_off`](Passes::split_off), [`merge`](Passes::merge), [`len`](Passes::len), [`hall`](Pass::hall) | `split_off` takes the largest slots |
//! | `PollSemaphore` of `tokio-util` | [`Acquirer`] | returns an error if the hall is closed or has too few slots; is not a `Stream` |
//! | cooperative budget | the same with the feature `tokio` | without the feature, a task that awaits free slots in a loop never yields to other tasks: call `tokio::task::yield_now` from time to time |
//! | `SemaphorePermit::forget` | [`Pass::forget`] | |
//!
//! Both semaphores are fair: first come, first served, and the requests behind a large request wait for it. In both, a
//! future that has got a permit keeps it until it is polled or dropped.
//!
//! # Features
//!
//! By default this crate contains only [`Hall`] and [`Pool`]. Each feature adds one thing:
//!
//! | feature | adds |
//! |---|---|
//! | `processes` | `hallpass::processes`: `SharedHall`, a hall among the processes of one machine (Linux) |
//! | `etcd` | `hallpass::cluster`: `ClusterHall`, a hall across machines, on an etcd cluster |
//! | `postgres` | `hallpass::cluster` on a PostgreSQL database too |
//! | `objects` | `hallpass::objects`: `Resilient`, shared data that stays usable while a thread stalls |
//! | `papers` | `Hall::with`: halls that run a published algorithm, to measure and compare |
//! | `metrics` | `Hall::metrics`: how many callers have waited, how their waits ended, and how long they took |
//! | `tracing` | events of the crate [`tracing`](https://docs.rs/tracing) for callers that wait, and for resizing and closing |
//! | `tokio` | futures take part in the cooperative budget of tokio |
//!
//! A caller that does not wait is neither counted by `metrics` nor reported by `tracing`.
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
