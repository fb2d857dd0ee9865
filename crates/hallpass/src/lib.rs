//! **At most k at once, each with its own number.** A [`Hall`] is a fair counting semaphore for the
//! threads and tasks of one process. Whoever gets in holds a pass with a *slot*: a number from 0 to
//! k-1 that nobody else has meanwhile, so that it can be an index: of a device, a connection, a
//! buffer, a core.
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
//!             let pass = GPUS.acquire().unwrap(); // waits, first in, first enabled
//!             println!("job {job} on device {}", pass.slot()); // 0 or 1
//!         }); // the pass is dropped: the next one's
//!     }
//! });
//! ```
//!
//! Threads block ([`Hall::acquire`]), try ([`Hall::try_acquire`]), or wait for a time
//! ([`Hall::try_acquire_for`]); tasks await ([`Hall::acquire_async`], on any executor); both stand in
//! one queue. Passes borrow the hall, or share it ([`Hall::acquire_owned`]).
//!
//! # What is promised
//!
//! - **At most k.** Never are more than [`Hall::slots`] passes held, except for those that were held
//!   already when a [resize](Hall::resize) made the hall smaller.
//! - **Distinct slots, the smallest first.** Whoever gets in has the smallest number that is free. So few
//!   users use few slots, and what is behind slot 0 stays warm. "Free" is when one looks: for one who
//!   had to wait, and with more than 32 slots, a smaller one may become free just after.
//! - **First in, first enabled.** Whoever has taken its place in the queue gets in before all who come
//!   later. Nothing overtakes: neither [`try_acquire`](Hall::try_acquire), which fails while anybody
//!   waits, nor a small request a large one, nor one who has just left and comes again. What is given
//!   back while somebody waits is handed over to the first in line; it does not have to win a race when
//!   it wakes up. ([`Builder::barging`] gives this up for throughput.)
//! - **No lost wake-ups.** Whoever waits is woken when it is its turn, whatever others do: give up, drop
//!   their futures, run out of time, resize the hall.
//! - **Memory.** Giving a pass back *happens before* getting in of whoever it lets in: what one did with
//!   a slot, the next one with that slot sees, without atomics of its own.
//! - **No poisoning.** Whoever panics drops its pass, and that is all. Likewise a waker that panics
//!   is reported by the panic hook, and others are served as if it had not.
//!
//! The algorithm is not only tested. It is a step machine that the project's model checker explores
//! in every interleaving for small numbers, with time-outs, requests for many, resizing and closing; the
//! same code runs here on atomics. (With more than 32 slots, plain passages only.) The queue and the wake-ups
//! around it run under loom.
//!
//! # What is not
//!
//! A thread that stops for ever *in the middle of a call* (not with a pass: there k-1 others go on) may
//! keep out everybody who has to queue. Threads of one process do not stop alone, unless a debugger or a
//! signal handler that never returns makes them. Processes are killed alone, and have a hall of their own:
//! [`shared::SharedHall`].
//!
//! A pass is not bound to a thread. Who asks for a second pass while it holds one may wait for
//! itself: ask for both at once ([`Hall::acquire_many`]).
//!
//! # Tasks, and giving up
//!
//! A future takes its place in the queue **when it is first polled**, not when it is made. Dropping it
//! gives the place up; those behind move up, and nothing is lost.
//!
//! When its turn comes, the pass is *granted* to the future, and its waker is woken. From then on **the
//! pass is held by the future until it is polled, or dropped**: others wait for it. A future that is
//! polled once and then left lying, say in a `select!` loop that is busy with another branch, keeps a slot
//! from all others, and whoever then waits for that slot on the same task waits for ever. Keep
//! futures polled, or drop them. A future that is dropped after it was granted a pass hands it to the
//! next in line.
//!
//! ```
//! # use hallpass::Hall;
//! # pollster::block_on(async {
//! let hall = Hall::new(1);
//! let pass = hall.acquire_async().await?;
//! let waiting = hall.acquire_async(); // stands nowhere yet
//! drop(waiting);
//! assert_eq!((pass.slot(), hall.waiting()), (0, 0));
//! # Ok::<(), hallpass::AcquireError>(())
//! # }).unwrap();
//! ```
//!
//! # Many at once
//!
//! [`Hall::acquire_many`] gets `m` slots together, or waits until it can. It stands in the same queue, and
//! while it is first, what comes free stays free for it, so a stream of small requests does not starve
//! it. The price is that those behind it wait although slots are free: *head-of-line blocking*. It is
//! an error to ask for more than there are.
//!
//! # Resizing, closing, forgetting
//!
//! [`Hall::resize`] gives the hall another number of slots, at once. With more, waiters get in. With
//! fewer, whoever is in stays, nobody gets in before fewer than the new number are in, and later slots
//! are below it. A request for more than there are now waits until there are again.
//!
//! [`Hall::close`] turns away everybody who waits or comes; whoever is in stays. Closing is for
//! ever. [`Pass::forget`] takes a slot out of use for ever, without giving it back.
//!
//! # What it costs
//!
//! When nobody waits, getting in is one look and one atomic read-modify-write, and leaving is one: two
//! in all for up to 32 slots, four above (numbers are then kept beside the count). There is no allocation,
//! for waiters neither: a thread waits on its stack, a task in its future. Above 32 slots, the first pass
//! allocates the numbers, and a request for many a list. At most 2^27 - 1 can wait. A hall is some hundred bytes, for its parts have cache lines of their own.
//!
//! Who waits spins for a moment, in case the holder is about to leave; then lets others run, in case
//! there are more threads than cores; then parks.
//!
//! # For users of tokio's semaphore
//!
//! | `tokio::sync::Semaphore` | [`Hall`] | what differs |
//! |---|---|---|
//! | `new`, `const_new` | [`Hall::new`] | is `const`; k is at least 1 and at most [`MAX_SLOTS`] |
//! | `acquire().await` | [`acquire_async`](Hall::acquire_async)`().await` | both fail if the semaphore is closed |
//! | | [`acquire`](Hall::acquire) | blocks the thread |
//! | | [`try_acquire_for`](Hall::try_acquire_for), [`try_acquire_until`](Hall::try_acquire_until) | time limits for threads; tasks use their executor's |
//! | `try_acquire` | [`try_acquire`](Hall::try_acquire) | neither overtakes |
//! | `acquire_many(m).await` | [`acquire_many_async`](Hall::acquire_many_async)`(m).await` | more than there are is an error, and does not wait for ever |
//! | `acquire_owned().await` | [`acquire_owned_async`](Hall::acquire_owned_async)`().await` | `&Arc<Hall>`: no clone to be consumed |
//! | `available_permits` | [`available`](Hall::available), [`waiting`](Hall::waiting), [`slots`](Hall::slots) | |
//! | `add_permits`, `forget_permits` | [`resize`](Hall::resize) | says how many there are to be; a hall can shrink below what is held |
//! | `close`, `is_closed` | [`close`](Hall::close), [`is_closed`](Hall::is_closed) | |
//! | `SemaphorePermit` | [`Pass`], [`Passes`] | has [`slot`](Pass::slot); neither merges nor splits |
//! | `SemaphorePermit::forget` | [`Pass::forget`] | |
//!
//! Both are fair: first come, first served, and a request for many holds back those behind it. In both, a
//! future that was given a permit and is not polled keeps it.
//!
//! # Features
//!
//! - `metrics`: `Hall::metrics` counts how often somebody had to wait, gave up or was turned away, and
//!   how long waiting took.
//! - `tracing`: events of the crate [`tracing`](https://docs.rs/tracing) for the same.
//! - `etcd`: `hallpass::etcd`, halls among machines, with the same names.
//!
//! The first two do not touch the path on which nobody waits.
//!
//! # Shared data
//!
//! A mutex stops everybody if its holder stalls. A [`Resilient`] object does not, as long as fewer than k
//! stall: [`objects`].
//!
//! # Algorithms of the literature
//!
//! [`Hall::with`] builds a hall that runs a published k-exclusion algorithm instead, to be
//! measured and compared.
#![forbid(unsafe_code)]

#[cfg(feature = "metrics")]
pub use hallpass_threads::Metrics;
pub use hallpass_threads::{
    Acquire, AcquireError, AcquireMany, AcquireManyOwned, AcquireOwned, BuildError, Builder, Hall,
    MAX_SLOTS, OwnedPass, OwnedPasses, PaperHall, PaperPass, Pass, Passes, ResizeError,
    TryAcquireError,
};

#[doc(inline)]
pub use hallpass_objects as objects;
#[doc(inline)]
pub use hallpass_objects::{Object, Resilient, ResilientCell};

#[cfg(feature = "etcd")]
#[doc(inline)]
pub use hallpass_cluster as etcd;

#[cfg(target_os = "linux")]
#[doc(inline)]
pub use hallpass_processes as shared;
#[cfg(target_os = "linux")]
#[doc(inline)]
pub use hallpass_processes::{SharedHall, SharedPass};
