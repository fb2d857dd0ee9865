//! The semaphore behind `Hall`: one word for those who find it free, a queue for those who do not.
//! Not from a paper.
//!
//! word: how many wait (upper half), and what is free (lower half).   lock: whether somebody serves,
//! and whether there is news for it.   queue: who waits, in the order of coming.   grant: what a waiter
//! was given.   bell: whether it was rung for.   terms: how many slots there are.
//!
//! - Who comes takes what it needs out of the word in one compare-and-swap, if nobody waits and that
//!   much is free (L1, L2). Otherwise it counts itself as waiting (L3) and joins the queue (L4). It is
//!   in when it finds a grant (L6), and sleeps until it is rung for (L7).
//! - Who leaves puts back what it had (X1).
//! - Who has joined, or left while others wait, sets the lock (L5). If it was not held, it *serves*:
//!   gives what is free to the head of the queue, as long as that is enough for it (S1 to S16). If it
//!   was, whoever serves finds that there is news, and looks again before it stops (S14, S17). So
//!   nobody waits for the lock.
//! - Who gives up takes itself out of the queue when nobody serves (C1 to C5), unless it finds a grant.
//!   Resizing and closing wait until nobody serves, too (R1 to R6, Z1 to Z3).
//! - Whoever has served for long asks the head of the queue to go on (S18, S19).
//!
//! I1: every slot is free, or granted, or in one hand.   I2: while anybody waits, only whoever serves
//! takes anything out of the word, so what S8 sees free is free at S9.   I3: a waiter is counted until
//! its grant is written, so nobody overtakes one that has no grant yet.
//!
//! - FIFE: the doorway is lines 1 to 4. Who is in the queue is before all who come later: these find it
//!   counted, and stand behind it.
//! - No lost wake-up: who has changed something sets the lock afterwards, so whoever serves sees the
//!   change, or the news. A waiter is rung for after its grant is written, and a bell that is rung
//!   stays rung.
//! - Everybody gets in, and out: who serves makes a bounded number of grants, if the head of the queue
//!   can be asked to go on (natively a thread can, a task cannot). Giving up, resizing and
//!   closing wait for others who go on without them, and may in theory do so for ever; one who gives up
//!   is granted something at last.
//! - What it does not have is resilience: one that stops for ever while it serves keeps all others
//!   out. Threads of one process do not stop alone; processes do, and need another algorithm.
//!
//! Requests for several slots wait like others, so nothing overtakes them: while the head needs more
//! than is free, what comes free stays free for it.
//!
//! Where one may *barge in*, line 1 does not look whether anybody waits, and whoever serves only tells
//! the head of the queue to try again (`TRY`), one at a time (`CALLED`).

mod desk;
mod lines;
mod manage;
mod model;
mod pool;
mod wide;

pub mod broken;
pub mod entries;
pub mod names;

pub use desk::{Desk, LineOn};
pub use lines::{
    After, Barging, CALLED, CLOSED, FREE, Fair, HELD, Job, Line, MARK, Manner, NEWS, SERVE, TRY,
    Turn, WAITER, step, waiters,
};
pub use model::{Cast, MOST_PROCESSES, Model, Sleep, model};
pub use pool::{Count, MOST_SLOTS, Pool, Slots};
pub use wide::Wide;

use crate::framework::memory::Word;

/// The most slots a hall can have.
pub const MOST: usize = u16::MAX as usize;

/// How many slots there are, and what becomes of those that are no more. Only whoever serves
/// changes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Terms {
    /// How many slots there are.
    pub k: u16,
    /// Whether nobody is let in any more.
    pub closed: bool,
    /// What is still held beyond that, and will not be handed out again.
    pub owed: Word,
}

impl Terms {
    /// Those of a new hall.
    pub const fn new(k: u16) -> Self {
        Terms { k, closed: false, owed: 0 }
    }

    /// As one word.
    pub const fn pack(self) -> Word {
        self.owed << 17 | (self.k as Word) << 1 | self.closed as Word
    }

    /// From one word.
    pub const fn unpack(word: Word) -> Self {
        Terms { k: (word >> 1) as u16, closed: word & 1 != 0, owed: word >> 17 }
    }
}
