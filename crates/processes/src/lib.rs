//! **At most k processes at once, each with its own number**, whoever is killed. A [`SharedHall`] is a
//! fair counting semaphore in a mapped file. Whoever gets in holds a pass with a *slot*, a number from 0
//! to k-1 that nobody else has meanwhile.
//!
//! ```
//! use hallpass_processes::SharedHall;
//! # let dir = tempfile::tempdir().unwrap();
//! # // SAFETY: nobody else reads the environment.
//! # unsafe { std::env::set_var("HALLPASS_DIR", dir.path()) };
//!
//! let gpus = SharedHall::open("gpu", 4)?; // the same for every process of this user
//! let pass = gpus.acquire()?; // waits, first in, first enabled
//! println!("device {}", pass.slot()); // 0 to 3
//! drop(pass); // the next one's
//! # Ok::<(), hallpass_processes::Error>(())
//! ```
//!
//! # What is promised
//!
//! - **At most k, with distinct slots, the smallest first**, among all processes and threads that open
//!   the hall.
//! - **First in, first enabled.** Whoever has its place in the queue gets in before all who come later.
//!   [`try_acquire`](SharedHall::try_acquire) fails while anybody waits.
//! - **Killed at any instruction**, a process blocks nobody and loses no slot: what it held, or was about
//!   to get, goes to the next in line at once. That is so for a holder, for one that waits, for one in
//!   the middle of entering or leaving, and for one in the middle of rescuing another. There is no daemon
//!   and no time-out: the kernel tells the waiter, by a pipe that dies with its process. PIDs do not
//!   matter, so containers may share a hall, each with PIDs of its own.
//! - **Stopped is not dead.** A process under `SIGSTOP` keeps its slot, and its place. It blocks nobody
//!   else, wherever it was stopped: with fewer than k of them, the rest go on.
//! - **Nothing in the file is trusted.** Damage is an [`Error`], or the wrong slot for those who share
//!   it, and never a crash. (A file that is *truncated* while it is mapped is a bus error, as for every
//!   mapped file: keep others from writing to it.)
//!
//! The algorithm is a step machine, `algorithms/src/shared`, which the project's model checker explores
//! in every interleaving; the same code runs here. Explored are two processes, killed at any line any
//! number of times, two that give up, and three that make one passage each. Larger numbers, resizing and
//! closing are left to tests, among them one that kills 64 processes at random, and one that kills and
//! stops a process after each of its instructions.
//!
//! # What is not
//!
//! - A hall is for the processes of one machine, and lasts until it is [removed](Place::remove), or its
//!   directory is: `/run` and `/tmp` do not outlive a reboot, and need not, for no holder does.
//! - After [`resize`](SharedHall::resize) has made it smaller, who holds a slot that is no more keeps it
//!   until it leaves, and the slots that are left are given out as always. A process killed in the middle
//!   of `resize` or [`close`](SharedHall::close) may have changed the hall without having told those who
//!   wait: they learn of it when anybody comes or leaves, or after ten seconds.
//! - At most [`MAX_REGISTRATIONS`] passages, waiting or in, at once; at most [`MAX_SLOTS`] slots.
//!
//! # Threads, fork and exec
//!
//! Threads share a handle, or clones of it. A passage is the process's, not the thread's: a pass may be
//! sent to another thread, and a thread that ends with one keeps it taken.
//!
//! A **forked child** has nothing of what its parent holds: a pass that it inherited does nothing when it
//! is dropped, and its first own passage begins anew. But it has its parent's lifelines open, until it
//! execs or exits: so long what the parent holds stays taken, even if the parent is killed, and what it
//! waits for may be given to it. **Exec** closes them: whoever execs with a pass has given it back, unless
//! close-on-exec was cleared for [its lifeline](SharedPass::lifeline). To hand a slot to a child, give it
//! the lifeline, and [leave the slot to it](SharedPass::leave_to_lifeline).
//!
//! # What it costs
//!
//! When nobody waits, getting in and out is some loads and two atomic read-modify-writes, and no system
//! call; threads but the first of a process also take a lock of their handle. The first passage of a process makes a pipe, and each that runs
//! beside it another. Who waits sleeps in `poll` with a descriptor or two, and the first in line with one
//! for each process that is in or may come in. It looks by itself every ten seconds, in case somebody that
//! should have woken it had no descriptor left to do so.
//!
//! # Values
//!
//! A [`SharedCell`] is a hall of one slot together with a value: whoever is killed in the middle of an
//! update, others find the old value or the new one. A [`SharedPriorityQueue`] is made of it. What it
//! adds to the hall, two copies and the store that says which one counts, is not explored by the checker;
//! a test kills a process in the middle of an update, after instructions all over it.
//!
//! # Compared with `Hall`
//!
//! The names are the same. [`acquire`](SharedHall::acquire) returns a `Result`, for a file can fail where
//! memory cannot. There is no `acquire_many`, and no `forget`; [`acquire_async`](SharedHall::acquire_async)
//! gives a pass that does not borrow the hall.

#[cfg(not(target_os = "linux"))]
compile_error!("hallpass-processes relies on what Linux does with named pipes");

mod cell;
mod dir;
mod error;
mod file;
mod future;
mod hall;
mod inner;
mod member;
mod pass;
mod place;
mod pool;
mod queue;
mod seat;
mod status;
mod sys;
mod value;
mod wire;
mod wires;

pub use bytemuck;
pub use cell::SharedCell;
pub use error::Error;
pub use file::MAX_REGISTRATIONS;
pub use future::Acquire;
pub use hall::SharedHall;
pub use hallpass_common::{MAX_SLOTS, Participant, Status};
pub use pass::{OwnedSharedPass, SharedPass};
pub use place::Place;
pub use queue::{PushError, SharedPriorityQueue};
