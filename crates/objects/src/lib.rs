//! **Shared data that a stalled or dead thread cannot block.** [`Resilient`] makes a linearizable shared
//! object of any sequential one. At most k threads are in at once, each with a name of its own, and under
//! these names they run a wait-free construction. An operation completes as long as fewer than k others
//! have stopped inside theirs: preempted, throttled, at a page fault that takes a second, in a debugger.
//! Behind a mutex, one of them stops everybody.
//!
//! ```
//! use hallpass_objects::ResilientCell;
//! use std::{collections::BTreeMap, thread};
//!
//! let visits = ResilientCell::new(2, BTreeMap::new()); // any one thread may stop inside
//! thread::scope(|scope| {
//!     for page in ["/", "/about", "/"] {
//!         let visits = &visits;
//!         scope.spawn(move || visits.update(move |visits| *visits.entry(page).or_insert(0) += 1));
//!     }
//! });
//! assert_eq!(visits.read(|visits| visits["/"]), 2);
//! ```
//!
//! # What is promised
//!
//! - **Linearizable.** Every operation takes effect at one moment between its call and its return.
//! - **Resilient.** While fewer than k have stopped inside an operation, wherever in it, all others
//!   complete theirs. k is chosen for each object; [`Resilient::new`] takes it first.
//! - **Bounded memory.** There are at most 3k copies of the object, and one more for each of the k that is
//!   just making one, however many operations are done and however long anybody stalls. As long as
//!   threads do not collide there are two; one that was made is kept. Operations are kept too, at most k for
//!   each copy and each of k participants.
//! - **A panic is nobody else's.** An operation that panics has not happened, and the panic goes to who
//!   called it, even if another thread ran it (k > 1). Only a panic in `clone` costs a place.
//! - **In turn, if it has to be.** Who finds room goes in, even past others that sleep; but who has waited
//!   for 5 ms draws a number, and is served before all who come later. (Who has stopped with a number
//!   counts as one that has stopped inside.)
//!
//! The construction and the door are step machines, `algorithms/src/universal` and
//! `algorithms/src/turnstile.rs`. The project's lab explores them in every interleaving for small k, with
//! participants stopped anywhere (`hallpass lab objects`, `hallpass lab check turnstile+names -n 3 -k 2`);
//! the same code runs here.
//!
//! # What is not
//!
//! - A *killed* thread of a process does not exist on its own; processes have other needs. Objects
//!   own heap memory, which means nothing in another process, so these are for threads.
//! - An operation is applied more than once, by different threads, to copies that must stay equal. It has to
//!   be deterministic, must not block, and should do nothing but change the object: see [`Object`].
//! - What was put into the object may live on for a while in a copy, after it was taken out; and so may
//!   operations, and what closures have captured.
//! - **The allocator is not resilient.** Operations allocate and free. Who is stopped for good in the middle
//!   of `malloc` or `free`, as in a signal handler that never returns, may hold a lock there that all
//!   others need, whatever k is. Who is only delayed, delays them so long.
//! - With k = 1 it is a lock: one copy, nothing applied twice, and whoever stops inside stops all.
//! - k is at most 64. There may be any number of threads.
//!
//! # What it costs
//!
//! An operation is applied twice, on two copies that take turns; nothing is copied unless threads
//! collide, or one has stalled. Around that are some ten atomic read-modify-writes and an allocation.
//! That is some ten times what an uncontended mutex takes. `hallpass bench objects` measures it, and the
//! guide says when a mutex is the better choice.
//!
//! Looking ([`Resilient::read`]) takes no copy and blocks nobody.

mod bell;
mod construction;
mod copy;
mod error;
mod object;
mod ready;
mod resilient;
mod turnstile;
mod value;
mod wait_free;
mod words;

pub use error::BuildError;
pub use object::Object;
pub use ready::{Counter, Map, PriorityQueue, Queue, Statistics, Summary};
pub use resilient::Resilient;
pub use value::ResilientCell;
pub use wait_free::{Handle, WaitFree};
