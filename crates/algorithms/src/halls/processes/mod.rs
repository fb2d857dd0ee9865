//! The semaphore behind `SharedHall`: its members are processes that can be killed at any instruction,
//! and the kernel tells who has died. Not from a paper.
//!
//! card: how each process stands, and the number of its claim.   slot: free, or tagged with a process and
//! a number.   next: the next ticket.   quiet: all tickets before it have been served.   link: whom a
//! sleeper follows.   bell: whether it was rung for.   life: whether the process's process lives.
//!
//! - A tag counts only while its number is that of its process's card. So one compare-and-swap of a dead
//!   process's card frees whatever it had, or was about to get, and there is nothing else to repair
//!   (R1 to R4). Each slot has one responsible process at every instant.
//! - Who comes when all is quiet tags the first free slot (E1 to E5). Otherwise it draws a ticket and
//!   waits (E6 to E8).
//! - Who waits, who has left while others wait, and who has rescued somebody *serves*: looks for who
//!   waits with the lowest ticket (S1 to S5), and for a slot that is free (S6 to S8); offers the slot
//!   by tagging it (S9), and settles it on the card (S10). Offers may be made by several at once, and
//!   by some that are late. The card decides, and makes void what it did not choose. Who leaves gives
//!   one slot away, or rings for who has waited longest and leaves the rest to it (S11, S12), so that
//!   its way out has an end.
//! - Who gives up takes its claim off its card, unless it was given a slot (C1, C2), and goes on like
//!   one that leaves (X4, X5): what it was offered is somebody else's.
//! - Who lies down watches one that waits before it, which rings when it waits no longer (G2, G3), or
//!   everybody if there is none (W1 to W7), and looks once more whether a slot is free before it sleeps
//!   (W8 to W10). So whoever waits longest watches everybody who may hold or free a slot, and each
//!   other waiter hangs on to it by a chain.
//!
//! I1: a void tag stays void, whatever is written later. So who has seen that a tag is void may remove
//! it at any time, and whoever tags a free slot makes it its process's alone.
//!
//! - Exclusion, and names: a slot has one tag, and a card chooses at most one slot.
//! - FIFE: the doorway is lines E1 to E8. At S3 only those are eligible whose tickets were out at S1:
//!   of these nobody can be missed who was through its doorway before another of them came.
//! - k-1 undetected stops are survived: nobody waits for one that serves, and one that stops while it
//!   waits, or after it was given a slot, takes no more than that.
//! - No lost wake-up, though anybody may die: who frees a slot serves afterwards, and those who could
//!   need it watch who held it. A sleeper that follows is told when its chain ends, by the one that
//!   it follows or by the kernel.

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
