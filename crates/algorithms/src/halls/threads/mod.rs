//! The semaphore behind `Hall`. Callers that find a slot free use only `word`, and the others use a queue.
//! The algorithm is not from a paper.
//!
//! | variable | content |
//! |---|---|
//! | `word` | the number of waiters (upper half), and the free slots (lower half) |
//! | `lock` | whether a caller serves the queue (the *server*), and whether another caller has tried to serve since the server last looked (*news*) |
//! | `queue` | the waiters, in the order of their arrival |
//! | `grant[p]` | what waiter p was given |
//! | `bell[p]` | whether waiter p was woken |
//! | `terms` | how many slots there are, which slots are *owed* (still held, although the hall was made smaller), and whether the hall is closed ([`Terms`]) |
//! | `credit` | how many more newcomers may overtake the waiters; only in halls with a limit on overtaking |
//!
//! - **Entry.** If there are no waiters and enough slots are free, a newcomer takes its slots out of
//!   `word` in one compare-and-swap (L1, L2). Otherwise it counts itself as a waiter (L3) and joins the
//!   queue (L4). It enters when it finds a grant (L6). Until then, it sleeps until it is woken (L7).
//! - **Exit.** A holder puts its slots back (X1).
//! - **Serving.** A caller that has joined the queue reads `word` again (L11). The word is *marked* while the hall is
//!   closed, owes slots or is being resized. If no slot is free, and `word` is not marked, the caller has nothing to
//!   do: the next holder that leaves finds it counted. Otherwise the caller sets the lock (L5). A holder that leaves
//!   while others wait also sets the lock. If the lock was not held, the caller becomes the *server*: it gives free
//!   slots to the head of the queue, as long as enough slots are free for the head (S1 to S16). If the lock was held,
//!   the server finds that there is news, and looks again before it stops (S14, S17). So neither of these callers waits
//!   for the lock.
//! - **Giving up.** A waiter takes itself out of the queue when there is no other server (C1 to C5),
//!   unless it finds a grant. Resizing and closing also wait until there is no other server (R1 to R6,
//!   Z1 to Z3).
//! - **Handing over.** After a limited number of grants, a server hands over to the head of the queue (S18, S19).
//!
//! I1: every slot is free, granted, or held by one caller.
//!
//! I2, in a *fair* hall (newcomers may not overtake waiters): while there are waiters, only the server takes slots out
//! of `word`. So the slots that S8 finds free are still free at S9.
//!
//! I3: a waiter is counted until its grant is written. So in a fair hall, no caller overtakes a waiter that has no
//! grant yet. The other kinds of halls follow below.
//!
//! - **FIFE** (first in, first enabled), in a fair hall: if a caller leaves its doorway before another caller begins,
//!   then the first caller has entered or is enabled when the other one enters. (An enabled caller enters in every run
//!   in which it keeps taking steps.) The doorway is lines L1 to L4. A waiter in the queue is ahead of all later
//!   callers: they find it counted, and join the queue behind it.
//! - **No lost wake-up.** A caller that has put slots back sets the lock afterwards, so the server
//!   sees the slots or the news. A caller that finds no slot free at L11 is in the queue by then, so it is served by
//!   the callers that put slots back later. A waiter is woken after its grant is written. A wake-up that comes too
//!   early is remembered.
//! - **Every caller gets in and out.** A server makes a bounded number of grants if the head of the queue can take
//!   over. Natively, a thread can take over, but a task cannot. Giving up, resizing and closing wait until there is no
//!   other server. In theory, there may always be another server. In that case, a waiter that wants to give up gets a
//!   grant eventually.
//! - **No resilience.** A server that stops forever blocks all other callers. It is rare that one thread of a
//!   process stops while the others run. A whole process, however, can be killed at any time, so the hall for
//!   processes has another algorithm ([`processes`](super::processes)).
//!
//! A request for several slots waits in the same queue. In a fair hall, no caller overtakes it: while the head
//! needs more slots than are free, slots that become free stay free for the head.
//!
//! In a *barging* hall, line L1 does not check whether there are waiters. Instead of granting slots, the
//! server makes the head of the queue try again (`TRY`), one waiter at a time (`CALLED`). There is one
//! exception: while the hall owes slots, only the server takes slots, and it grants them.
//!
//! In a hall with a *limit on overtaking*, a newcomer that finds others waiting takes a free slot if it gets a credit
//! first (B1 to B4). So the server takes slots out of `word` by compare-and-swap (B6), and I2 does not hold. While
//! there is credit, the server does not grant a slot to a thread that sleeps. Instead, that thread becomes the server
//! (B5, S19), and the slot stays free until the thread grants it to itself. When no credit is left, the server grants
//! slots, and gives new credit when all waiters that may have been overtaken have entered or given up (B7 to B9): see
//! `overtake`.
//!
//! **Natively**, each of two pairs of lines can be one access. L1 and L2 are one access for a newcomer that guesses
//! `word` correctly. L5 and S1 are one access for a caller that becomes the server. Each of these accesses corresponds
//! to a run of the checked lines in which no other access comes between the two lines.
//! `Hall::add_slots` and `remove_slots` read the number of slots between L5 and R1, while they hold the
//! lock. The model has no line for that read.
//!
//! | file | lines |
//! |---|---|
//! | `fast` | L1, L2, X1: all lines that a caller executes if a slot is free and no caller waits |
//! | `lines` | L3 to L11: waiting |
//! | `give_up` | C1 to C5: giving up |
//! | `overtake` | B1 to B4: overtaking |
//! | `serve` | S1 to S19 and B5 to B9: serving |
//! | `manage` | R1 to R6 and Z1 to Z3: resizing and closing |
//! | `straight` | the same lines natively, many in one call |
//! | `slot_bits` | N1 to N3 and G1 to G8: slot numbers of halls with more slots than fit into `word` |

#[cfg(feature = "full")]
mod codecs;
mod environment;
mod give_up;
mod lines;
mod manage;
#[cfg(feature = "full")]
mod model;
#[cfg(feature = "full")]
mod model_environment;
mod overtake;
mod policy;
mod pool;
mod serve;
mod straight;
#[cfg(feature = "full")]
mod wide;
mod words;

#[cfg(feature = "full")]
pub mod entries;
pub mod fast;
pub mod slot_bits;
#[cfg(feature = "full")]
pub mod wrong;

pub use environment::{Environment, FastEnvironment, LineOn, OvertakeEnvironment};
pub use lines::{After, Job, Line, Turn, step};
#[cfg(feature = "full")]
pub use model::{Cast, Casts, MAX_PROCESSES, Sleep, ThreadsModel, bypass_model, model};
pub use overtake::{DEBT, MAX_BYPASS, overtake};
pub use policy::{Barging, Bypass, Fair, Policy};
pub use pool::{BITS_OF_WIDE, Bits, BitsAndCount, Count, Pool, SLOTS_IN_WORD, WideBits};
pub use straight::{Advance, Stage, advance};
#[cfg(feature = "full")]
pub use wide::{Numbers, Wide};
pub use words::{CALLED, CLOSED, FREE, HELD, MARK, NEWS, SERVE, TRY, Terms, WAITER, waiters};

/// The maximum number of slots of a hall.
pub const MAX_SLOTS: usize = u16::MAX as usize;
