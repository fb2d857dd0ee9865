//! The semaphore behind `SharedHall`. Its processes can be killed at any instruction, and the kernel reports
//! which process has died. The algorithm is not from a paper.
//!
//! | variable | content |
//! |---|---|
//! | `card` | for each process: its phase, and a number |
//! | `slot` | for each slot: free, or tagged with a process and the number on its card, or sealed |
//! | `size` | the number k of slots, a number that exceeds every held slot number, and how often the hall was resized |
//! | `head` | the waiter that was chosen last to get slots: it wants several slots or, after the hall has shrunk, any number of slots |
//! | `next` | the next ticket |
//! | `quiet` | no process waits with a ticket before this one |
//! | `link` | for each sleeping waiter: the process that it follows, just before it in the queue |
//! | `followed` | for each process: whether a sleeping waiter may follow it |
//! | `bell` | for each process: whether it was woken (its bell was rung) |
//! | `life` | for each process: whether it is alive |
//!
//! - A tag is valid only while the card of its process has the same number, and a phase in which the process has the
//!   slot or may get it. (There is one exception, described below: at G6, a process that was given several slots writes
//!   tags with its next number before its card has that number.) So one compare-and-swap, which makes the card of a
//!   dead process vacant, frees all slots that the process had or was about to get. This is a *rescue* (R1 to R4).
//!   Nothing else needs repair.
//! - A process that arrives while nobody waits (`quiet` equals `next`) tags the first free slot (E1 to
//!   E5). Otherwise it draws a ticket and waits (E6 to E8).
//! - A process *serves* while it waits, in its exit section if others wait, before it enters with several slots, and
//!   after it has rescued another process or resized the hall. A serving process looks for the waiter with the lowest
//!   ticket (S1 to S5) and for a free slot (S6 to S8). It offers the slot by tagging it (S9), and settles the
//!   offer on the waiter's card (S10). Several processes may make offers at the same time, and some offers
//!   come late. The waiter's card decides which offer counts, and the other offers become void. A leaving
//!   process gives as many slots away as it had, or wakes the first waiter and leaves the rest to it (S12,
//!   S15). Other processes can make lines S8, S9 and S10 fail. A leaving process does not try S8 or S9 again after a
//!   failure, so that its exit section is bounded. It tries S10 again only once, and only if the first try finds that
//!   the waiter has gone to sleep.
//! - Ringing a bell is expensive, so only sleeping waiters are rung, and usually only once. A waiter that
//!   goes to sleep marks this on its card (W11), before it looks at everything for the last time. A
//!   process that gives the waiter a slot rings, and then marks on the card that it has rung (S11, S14). If
//!   the process dies in between, the next serving process rings again (S4, S13).
//! - A process may want several slots. It always draws a ticket, and its card says how many slots it wants. Serving
//!   processes first agree on one such waiter: they choose it by a compare-and-swap on `head` (H1 to H3), and it
//!   stays chosen until it no longer waits. So two waiters never each have a part of their slots. A serving process
//!   tags free slots for the chosen waiter (S9): they are *set aside*. When enough slots are set aside, the serving
//!   process settles this on the card (S10). A waiter for one slot may have a lower ticket than the
//!   chosen waiter, if its card showed the ticket only after the choice. A process that serves this late waiter and
//!   finds a slot that is set aside serves the chosen waiter instead (S7). Otherwise both waiters could wait forever
//!   while all slots are set aside.
//! - Serving processes that learn too late that a waiter has enough slots may tag more slots than it wants. So the
//!   waiter replaces its tags by tags with its next number, one for each slot that it wants (G6). Then it writes that
//!   number on its card (G7), which makes its surplus tags void and frees their slots. So it serves other waiters
//!   before it enters. It holds all its slots by the number on its card, so its death frees all of them at once. The
//!   death of a waiter also frees the slots that are set aside for it. The first waiter watches all waiters for several
//!   slots, even those behind it.
//! - After the hall has shrunk, slots may be held that it no longer has. Then newcomers wait, and serving processes
//!   choose every waiter by `head`, even if it wants one slot. They count the held slots before they give a slot to
//!   the chosen waiter (N1, N2). The waiter gets slots only if the held slots and the slots that it wants are
//!   together at most k. The first waiter watches all waiters in this case, because any of them may be chosen
//!   (W13). A process that read `size` before the hall shrank does not count the held slots. It may still take one
//!   slot, or give slots to one waiter. Then it reads `size` again.
//! - While serving processes count, they *seal* the free slots that the hall no longer has (N3). When all of these
//!   slots are sealed, the hall works as before it shrank (N4), and at most k slots are held. A process with an old
//!   copy of `size` finds a sealed slot taken. The seal contains the number of times that the hall was resized until
//!   then. After the hall has grown again, this number is too low, and serving processes remove the seal (S6, S8). A
//!   slot is not sealed while a waiter may be about to get it, because this waiter may rely on its tag in the slot.
//! - A process that gives up takes its ticket off its card, unless it was given a slot (C1, C2). It
//!   continues as a leaving process (X4, X5), so a slot that it was offered goes to another waiter.
//! - Before a waiter sleeps, it starts to watch other processes (W1 to W7, W11 to W13). The first waiter watches all
//!   processes, except the waiters for one slot behind it. Every other waiter watches the process just before it in
//!   the queue: it *follows* that process. When the followed process no longer waits, it wakes its follower (G2 to
//!   G5). After it has started to watch, the waiter looks once more for a free slot, and sleeps (W8 to W10). So the
//!   first waiter watches every process that may hold or free a slot, and a chain of followers leads from the first
//!   waiter to each other waiter.
//!
//! I1: a void tag stays void, whatever is written later. So a process that has seen a void tag may
//! remove it at any time. As long as the tag of a slot is not void, only the tagged process can get the slot.
//!
//! - Exclusion and distinct slots: a slot has one tag, so it has at most one holder. A process holds only the one
//!   slot that its card names, or the slots that are tagged with the number on its card.
//! - FIFE (first in, first enabled; [definition](crate::registry::Entry::promises_fife)): the doorway is lines E1 to
//!   E8. At S3, a process is eligible only if its ticket was drawn before S1. So a search that finds an eligible
//!   process q does not miss a waiter p that finished its doorway before q arrived: the card of p showed its ticket
//!   before q drew its own.
//! - If all processes want one slot, the algorithm tolerates k-1 undetected stops. No process waits for a serving
//!   process. A process that stops while it waits, or after it was given a slot, blocks at most one slot.
//! - A process that wants several slots and stops while it holds them blocks these slots. But if it stops between
//!   drawing its ticket and line G7, it may block all slots. The reason: slots are set aside for it, and serving
//!   processes may tag more slots than it wants. `tests/several_slots.rs` finds such runs with three slots, and a
//!   stopped process that wants two of them.
//! - No wake-up is lost, even if processes die. A process that frees a slot serves afterwards,
//!   and the waiters that could need the slot watch the process that held it. A waiter that follows
//!   another process is woken when that process no longer waits or dies: the process wakes the waiter
//!   itself, or the kernel does.

mod ahead;
mod casts;
mod choose;
mod codecs;
mod environment;
mod hall_kind;
mod lines;
mod model;
mod model_environment;
mod model_layout;
mod normal;
mod places;
mod reduced;
mod rescue;
mod serve;
mod statements;
mod waiting;
mod words;

pub mod entries;
pub mod wrong;

pub use casts::{Cast, Casts};
pub use environment::{Environment, Life};
pub use lines::{Finally, Line, LineOn, Outcome, Role, step};
pub use model::{MAX_PROCESSES, ProcessesModel};
pub use rescue::Then;
pub use serve::Seen;
pub use words::{
    Card, FREE, Given, MAX_SLOTS, Meaning, Number, PROCESSES_IN_TAG, Phase, Request, Size, Tag,
    after, waits_with,
};
