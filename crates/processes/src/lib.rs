//! **At most k processes at once, each with its own slot number**, no matter which process is killed. A
//! [`SharedHall`] is a fair counting semaphore in a mapped file. A holder has a pass with a *slot*: a number
//! from 0 to k-1 that no other holder has.
//!
//! ```
//! use hallpass_processes::SharedHall;
//! # let dir = tempfile::tempdir().unwrap();
//! # // SAFETY: no other thread reads the environment.
//! # unsafe { std::env::set_var("HALLPASS_DIR", dir.path()) };
//!
//! let gpus = SharedHall::open("gpu", 4)?; // the same hall for every process of this user
//! let pass = gpus.acquire()?; // waits in a fair queue
//! println!("device {}", pass.slot()); // 0 to 3
//! drop(pass); // frees the slot for the next waiter
//! # Ok::<(), hallpass_processes::Error>(())
//! ```
//!
//! # Guarantees
//!
//! - **At most k holders, with distinct slots, the smallest free slot first**, among all processes and threads
//!   that open the hall. If a holder dies while nobody waits, its slot is used again only when no other slot is
//!   free, or after [`reap`](SharedHall::reap).
//! - **First in, first enabled (FIFE).** When a caller gets a slot, every waiter that joined the queue earlier has been
//!   given a slot. (FIFE is weaker than first come, first served: of two waiters that have been given a slot, the later
//!   one may wake up first.) [`try_acquire`](SharedHall::try_acquire) fails while there are waiters.
//! - **Several slots together.** [`acquire_many`](SharedHall::acquire_many) takes `m` slots together, in the
//!   order of the queue. So two callers never wait for each other, each with a part of its slots.
//! - **A process killed at any instruction** blocks no other process, and no slot is lost. The slots that it held, or
//!   was about to get, go to the next waiters immediately. The killed process may be a holder, a waiter, in the middle
//!   of entering or leaving, or about to free the slot of a process killed before. There is no daemon and no time-out.
//!   A process that holds a slot or waits has a named pipe open. When the process ends, the kernel closes the pipe, and
//!   this wakes a waiter. Before another process frees the slot of the dead process, it waits until the kernel has also
//!   closed the other files of the dead process, for at most a second. Only this short wait and the
//!   [`status`](SharedHall::status) use PIDs, so containers with separate PID namespaces may share a hall.
//! - **A stopped process is not dead.** A process stopped by `SIGSTOP` keeps its slots, or its position in the
//!   queue. A stopped process that holds slots, or wants a single slot, blocks no other slots, no matter at which
//!   instruction it is stopped. The other slots go to the other waiters, in the order of the queue. If the first
//!   request in the queue needs more slots than the stopped processes leave, it waits, and so do the requests behind
//!   it. But a process that is stopped before it returns from [`acquire_many`](SharedHall::acquire_many) may block all
//!   slots until it continues or dies.
//! - **Nothing in the file is trusted.** Damage leads to an [`Error`], or to a wrong slot for the processes that
//!   share the hall, but never to a crash. (If another program *truncates* the file while it is mapped, processes
//!   get a bus error, as for every mapped file. So keep other programs from writing to it.)
//!
//! The algorithm is a step machine, `crates/algorithms/src/halls/processes`, and the same code runs here. The
//! project's model checker explores these models in every interleaving (in a *passage*, a process enters, holds a slot
//! and leaves):
//!
//! - two processes that are killed at any line, any number of times;
//! - two processes that give up;
//! - three processes that are not killed: in a hall with one slot, they make any number of passages; in a hall with two
//!   slots, one passage each;
//! - two processes that want two slots each, two processes of a hall that has shrunk, and two processes of a hall that
//!   another process closes. In these models, each process makes one passage and may be killed at any line.
//!
//! Tests make random runs of the step machine with three and four processes that want one slot or two. The processes
//! are killed or give up, while another process resizes or closes the hall.
//!
//! The checker does not explore the following parts. Tests kill a process at many different instructions of them:
//!
//! - creating, removing and sweeping the files of a hall;
//! - lifelines, the pipes that show which processes are alive. In the model, each process has one word instead, which
//!   changes when the process dies. The model does not contain the steps in which a process opens, polls and deletes a
//!   pipe;
//! - the death of the process that resizes or closes the hall;
//! - the values of [`SharedCell`].
//!
//! Other tests cover two more parts that the checker does not explore. The first is what a forked child inherits. The
//! second is the short wait before a waiter goes to sleep, which only delays a line of the step machine. One test runs
//! 64 processes and kills them at random.
//!
//! # Limits
//!
//! - A hall is for the processes of one machine. It exists until it is [removed](HallDir::remove), or its directory is
//!   removed. A reboot usually clears `/run` and `/tmp`, and so removes the halls in them.
//! - After [`resize`](SharedHall::resize) has made a hall smaller, holders keep their slots until they leave, and no
//!   other caller gets a slot until fewer than k slots are held. There is one exception: a process that was in the
//!   middle of entering or leaving during `resize` may still take one slot, or give slots to one waiter. A process that
//!   is killed in the middle of `resize` or [`close`](SharedHall::close) may have changed the hall without waking the
//!   waiters. The waiters notice the change when the next process enters or leaves, or after at most ten seconds. (In a
//!   hall that once had more than 500 holders and waiters at the same time, the limit is 20 milliseconds for each of
//!   them.)
//! - A hall has at most [`MAX_REGISTRATIONS`] holders and waiters at the same time, and at most [`MAX_SLOTS`] slots.
//!   Callers beyond this limit wait until there is room, and are admitted to the queue in no particular order.
//!
//! # Threads, fork and exec
//!
//! Threads share a [`SharedHall`] or its clones. All clones share one *handle*, which keeps the pipes of this process
//! for later passages. A pass belongs to the process, not to the thread: it may be sent
//! to another thread, and a thread that ends without dropping its pass leaves the slot taken.
//!
//! A **forked child** does not hold the slots of its parent. Dropping an inherited pass does nothing, and the child's
//! first passage makes a new registration. But the child has its parent's *lifelines* open until it execs or exits. (A
//! lifeline is the pipe that shows that the owner of a pass is alive.) Until then, the slots of the parent stay taken
//! even if the parent is killed. If the parent was waiting, it may even get a slot after its death.
//! [`close_inherited_lifelines`](SharedHall::close_inherited_lifelines) prevents this. **Exec** closes the lifelines
//! and so frees the slots, unless close-on-exec was cleared for [the lifeline](SharedPass::lifeline). To hand a slot to
//! a child, give the child the lifeline, and call [`leave_to_lifeline`](SharedPass::leave_to_lifeline).
//!
//! # Cost
//!
//! Without waiters, entering and leaving takes a few loads and two atomic read-modify-writes, and no system call.
//! The first thread that uses a handle takes no lock as long as it holds at most one pass; every other thread also
//! locks a mutex of the handle. The first passage through a handle creates a pipe. A later passage creates another pipe
//! only if all pipes of the handle are in use.
//!
//! A waiter stays runnable for up to two milliseconds, and yields to other processes meanwhile. Then it naps on a
//! futex. Four milliseconds after it began to wait, it goes to sleep in `poll` with one or two descriptors. The first
//! waiter in the queue sleeps after 200 microseconds, and polls one descriptor for each process that holds a slot or
//! may get one. So a death is noticed immediately in a queue that has existed for a few milliseconds. A process that
//! gives a slot to a waiter makes no system call if the waiter is awake, one if it naps, and a few if it sleeps. Every
//! sleeping waiter checks the hall again after at most ten seconds, because the process that should have woken it may
//! have had no free descriptor. (In a hall that once had more than 500 holders and waiters at the same time, the limit
//! is 20 milliseconds for each of them.)
//!
//! # Values
//!
//! A [`SharedCell`] is a hall with one slot and a value. If a process is killed in the middle of an update, other
//! processes find the old value or the new one. A [`SharedPriorityQueue`] is built on a cell. The cell adds two
//! copies of the value to the hall, and an atomic store that selects the valid copy. The checker does not
//! explore that part; a test kills a process at many different instructions of an update.
//!
//! # Differences from `Hall`
//!
//! Methods with the same purpose have the same names. Access to a file can fail, but access to memory cannot, so
//! [`Error`] has more cases. A method with a time limit returns [`Error::NoPermits`] when the time is over; `Hall` has
//! a separate error for this. There is no `forget`. The passes of [`acquire_async`](SharedHall::acquire_async) and
//! [`acquire_many_async`](SharedHall::acquire_many_async) do not borrow the hall, and each future that waits has a
//! thread and a descriptor ([`Acquire`]). For thousands of tasks of one program, use a `Hall` in front of the
//! `SharedHall`.
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `hall`, `pass`, `future`, `cancel` | the public hall and its passes |
//! | `many`, `passes` | several slots together |
//! | `manage` | resizing, closing, reaping, status |
//! | `cell`, `queue` | values that processes share |
//! | `hall_dir` | directories with halls: opening, creating, removing |
//! | `handle` | entering and leaving the hall |
//! | `registration`, `pool` | records of the hall's file that belong to this process |
//! | `patience` | how long a passage waits |
//! | `linger` | waiting for a short time before going to sleep |
//! | `environment` | the step machine's environment on real memory |
//! | `driver` | running passages of the step machine in this environment |
//! | `fork_mutex` | a mutex that cannot block a forked child forever |
//! | `shared_state`, `hall_file`, `value_file`, `lifelines` | the mapped files and pipes that processes share |
//! | `sys` | functions of Linux, and most of the unsafe code |

#![deny(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!("hallpass-processes needs Linux: other systems treat named pipes differently");

mod cancel;
mod cell;
mod driver;
mod environment;
mod error;
mod fork_mutex;
mod future;
mod hall;
mod hall_dir;
mod hall_file;
mod handle;
mod lifelines;
mod linger;
mod manage;
mod many;
mod pass;
mod passes;
mod patience;
#[allow(unsafe_code, reason = "one registration is taken out without a lock")]
mod pool;
#[allow(unsafe_code, reason = "`Pod` cannot be derived for an array of generic length")]
mod queue;
mod registration;
mod shared_state;
mod status;
#[allow(unsafe_code, reason = "mappings and signals")]
mod sys;
mod value_file;

pub use bytemuck::{Pod, Zeroable};
pub use cancel::Cancel;
pub use cell::SharedCell;
pub use error::Error;
pub use future::{Acquire, AcquireMany};
pub use hall::SharedHall;
pub use hall_dir::HallDir;
pub use hall_file::MAX_REGISTRATIONS;
pub use hallpass_common::{MAX_SLOTS, Participant, Status};
pub use pass::{OwnedSharedPass, SharedPass};
pub use passes::{OwnedSharedPasses, SharedPasses};
pub use queue::{PushError, SharedPriorityQueue};
