//! **Shared data that a stalled or dead thread cannot block.** [`Resilient`] turns any sequential object into a
//! linearizable shared object. At most k threads run operations at once. Each has its own slot, and together they run a
//! wait-free construction. A thread may stop in the middle of an operation, for example because it is preempted or
//! throttled, has a slow page fault, or is stopped in a debugger. As long as fewer than k threads have stopped like
//! this, all other operations complete. Behind a mutex, one stopped thread blocks all others.
//!
//! ```
//! use hallpass_objects::ResilientCell;
//! use std::{collections::BTreeMap, thread};
//!
//! let visits = ResilientCell::new(2, BTreeMap::new()); // tolerates one stopped thread
//! thread::scope(|scope| {
//!     for page in ["/", "/about", "/"] {
//!         let visits = &visits;
//!         scope.spawn(move || visits.update(move |visits| *visits.entry(page).or_insert(0) += 1));
//!     }
//! });
//! assert_eq!(visits.read(|visits| visits["/"]), 2);
//! ```
//!
//! # Guarantees
//!
//! - **Linearizable.** Every operation takes effect at one moment between its call and its return.
//! - **Resilient.** As long as fewer than k threads have stopped in the middle of an operation, at any
//!   point of it, all other threads complete their operations. Each object has its own k, the first
//!   argument of [`Resilient::new`].
//! - **Bounded memory.** There are at most 3k copies of the object, plus one for each thread that is
//!   currently cloning a copy (at most k). This holds no matter how many operations run and how long a thread
//!   stalls. As long as threads do not collide, there are two copies. Once a copy exists, it is kept.
//!   Operations are also kept: at most k for each copy, and k for each slot.
//! - **A panic reaches only its caller.** If an operation panics, its caller gets the panic, even if another thread ran
//!   the operation. With k > 1, the operation has no effect. With k = 1, the changes that it has made stay. Only a
//!   panic in `clone` does more harm: the thread that panics counts as stopped in the middle of an operation, so one of
//!   the k slots is lost.
//! - **Starvation-free.** A newcomer may take a free slot ahead of sleeping waiters. But a thread that has waited for
//!   5 ms draws a number, and from then on it is served before all newcomers. (A thread that stops after it has drawn
//!   a number counts as stopped in the middle of an operation.)
//!
//! The construction and the turnstile in front of it are step machines in the crate
//! `hallpass-algorithms`, in the modules `objects::universal` and `objects::turnstile`. For small k, the
//! lab explores them in every interleaving, and lets processes stop anywhere (`hallpass-lab objects`,
//! `hallpass-lab check turnstile+names -n 3 -k 2`). The same code runs in this crate.
//!
//! # Limits
//!
//! - These objects are for the threads of one process: they own heap memory, which has no meaning in
//!   another process.
//! - With k > 1, an operation is applied more than once, by different threads, to copies that must stay equal. It must
//!   be deterministic, must not block, and should do nothing but change the object: see [`Object`].
//! - Removed items, completed operations, and values that closures have captured may be kept for a while.
//! - **The allocator is not resilient.** Operations allocate and free memory. A thread may stop
//!   permanently in the middle of `malloc` or `free`, for example in a signal handler that never
//!   returns. It may then hold an allocator lock that all other threads need, whatever k is. If a thread
//!   is only delayed there, it delays the other threads.
//! - With k = 1, the object is a lock: there is one copy, and no operation is applied twice. A thread
//!   that stops in the middle of an operation blocks all others.
//! - k is at most 64. The number of threads is not limited.
//!
//! # Cost
//!
//! With k > 1, an operation is applied twice, to two copies that take turns as the current one. Nothing is cloned
//! unless threads collide or a thread has stalled. In addition, an operation makes about ten atomic
//! read-modify-writes and one allocation. In total, it costs about 14 times as much as an uncontended
//! mutex. `hallpass-bench objects` measures this, and `docs/objects.md` explains when a mutex is the
//! better choice.
//!
//! Reading ([`Resilient::read`]) blocks no other thread. It copies the object only if other threads change the object
//! twice before the read has protected the current copy.
#![deny(unsafe_code)]

mod cell;
mod construction;
mod copy;
mod error;
mod event;
mod object;
mod ready;
mod resilient;
mod turnstile;
mod wait_free;

pub use cell::ResilientCell;
pub use error::BuildError;
pub use object::Object;
pub use ready::{Counter, Map, PriorityQueue, Queue, Statistics, Summary};
pub use resilient::Resilient;
pub use wait_free::{Handle, WaitFree};
