//! The semaphore behind `Hall`: one word for those who find it free, a queue for those who do not.
//! Not from a paper.
//!
//! word: how many wait (upper half), and what is free (lower half).   next, serving: a lock with
//! numbers, so that the queue is joined in the order of coming.   grant: what a waiter was given.
//!
//! - Who comes takes what it needs out of the word in one compare-and-swap, if nobody waits and that
//!   much is free (lines 1, 2). Otherwise it counts itself as waiting (3), takes a number (4), and
//!   joins the queue when its number is called (5 to 7). It is in when it finds a grant (8), and
//!   sleeps until it is rung for (9).
//! - Who leaves puts back what it had (X1). If anybody is counted as waiting, it takes the lock and
//!   gives what is free to the head of the queue, if that is enough for it (S1 to S13).
//! - Who gives up takes the lock, and itself out of the queue (C1 to C3), unless it finds a grant.
//!
//! I1: every slot is free, or granted, or in one hand.   I2: while anybody waits, only whoever has
//! the lock takes anything out of the word, so what S7 sees free is free at S8.   I3: a waiter is
//! counted until it is rung for, so nobody overtakes one that has no grant yet, or sleeps over it.
//!
//! - FIFE: the doorway is lines 1 to 4. Who has a number is before all who come later: these find it
//!   counted, get later numbers, and stand behind it in the queue.
//! - Duty: at a given time, if nobody has the lock or is on the way to it, the head of the queue needs
//!   more than is free. Whoever changes that comes with as many grants as its change can have made
//!   possible: as many as it puts back, or one for a new waiter, or one less than the head needed that
//!   gave up. What one has granted in the other's place, the other does not find any more.
//! - No lost wake-up: S12 rings after S10 has written the grant; a bell that is rung stays rung.
//! - What it does not have is resilience: one that stops for ever with the lock keeps all others
//!   out. Threads of one process do not stop alone; processes do, and need another algorithm.
//!
//! Requests for several slots wait like others, so nothing overtakes them: while the head needs more
//! than is free, what comes free stays free for it.

mod desk;
mod lines;
mod model;
mod pool;
pub mod queue;

pub mod broken;
pub mod names;

pub use desk::{Desk, LineOn};
pub use lines::{
    After, Barging, CALLED, CLOSED, Duty, FREE, Fair, Job, Line, MARK, Manner, TRY, WAITER, step,
    waiters,
};
pub use model::{Cast, MOST_PROCESSES, Model, Sleep, model};
pub use pool::{Count, MOST_SLOTS, Pool, Slots};

use crate::memory::Word;

/// The most slots a hall can have.
pub const MOST: usize = u16::MAX as usize;

/// How many slots there are, and what becomes of those that are no more. Only whoever has the lock
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
