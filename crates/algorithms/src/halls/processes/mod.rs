//! The semaphore behind `SharedHall`. Its processes can be killed at any instruction, and the kernel reports
//! which process has died. The algorithm is not from a paper.
//!
//! | variable | content |
//! |---|---|
//! | `card` | for each process: its phase, and a number |
//! | `slot` | for each slot: free, or tagged with a process and the number on its card |
//! | `next` | the next ticket |
//! | `quiet` | all tickets before this one have been served |
//! | `link` | for each sleeping waiter: the process that it follows |
//! | `bell` | for each process: whether it was woken (its bell was rung) |
//! | `life` | for each process: whether it is alive |
//!
//! - A tag is valid only while its number is that of its process's card. So one compare-and-swap of a dead
//!   process's card frees the slot that it had, or was about to get, and nothing else has to be repaired
//!   (R1 to R4). At every moment, each slot has one process that is responsible for it.
//! - A process that arrives in a quiet hall tags the first free slot (E1 to E5). Otherwise it draws a
//!   ticket and waits (E6 to E8).
//! - A waiter, a process that has left while others wait, and a process that has rescued another one
//!   *serve*: they look for the waiter with the lowest ticket (S1 to S5) and for a free slot (S6 to S8),
//!   offer the slot by tagging it (S9), and settle the offer on the waiter's card (S10). Several processes
//!   may make offers at once, and some offers come late. The waiter's card decides which offer counts, and
//!   the other offers become void. A leaving process gives one slot away, or wakes the first waiter and
//!   leaves the rest to it (S11, S12). It tries each line that another process can make fail (S8, S9, S10) once,
//!   so that its exit section is bounded.
//! - A process that gives up takes its ticket off its card, unless it was given a slot (C1, C2), and
//!   continues as a leaving process (X4, X5): a slot that it was offered goes to another waiter.
//! - Before it sleeps, a waiter starts to watch the process just before it in the queue, which wakes it when
//!   that process no longer waits (G2, G3). The first waiter watches all processes (W1 to W7). Then it looks once more for a
//!   free slot, and sleeps (W8 to W10). So the first waiter watches every process that may hold or free a
//!   slot, and a chain leads from it to each other waiter.
//!
//! I1: a void tag stays void, whatever is written later. So a process that has seen that a tag is void may
//! remove it at any time, and a process that tags a free slot makes it the slot of the tagged process alone.
//!
//! - Exclusion, and distinct slots: a slot has one tag, and a card chooses at most one slot.
//! - FIFE (first in, first enabled): the doorway is lines E1 to E8. At S3, only processes whose tickets were
//!   drawn before S1 are eligible. So the search cannot miss a process that finished its doorway before
//!   another eligible process arrived.
//! - k-1 undetected stops are tolerated: no process waits for one that serves, and a process that stops
//!   while it waits, or after it was given a slot, blocks at most that slot.
//! - No lost wake-up, although any process may die: a process that frees a slot serves afterwards, and the
//!   waiters that could need the slot watch the process that held it. A waiter that follows another one is
//!   woken when its chain ends, by the process that it follows or by the kernel.

mod environment;
mod lines;
mod model;
mod normal;
mod rescue;
mod serve;
mod words;

pub mod entries;
pub mod wrong;

pub use environment::{Environment, Life};
pub use lines::{Line, LineOn, Role, step};
pub use model::{Cast, MAX_PROCESSES, ProcessesModel};
pub use rescue::Then;
pub use serve::Seen;
pub use words::{
    Card, FREE, MAX_SLOTS, Meaning, Number, PROCESSES_IN_TAG, Phase, Tag, after, waits_with,
};
