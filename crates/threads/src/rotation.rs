//! Taking turns in a crowded hall with a limit on overtaking.
//!
//! If many more threads than cores use a hall, two things go wrong without turns:
//!
//! - The operating system stops a thread at the end of its time slice, often while the thread holds a slot. As soon as
//!   threads that do not run hold all slots, every other thread has to queue and sleep.
//! - A time slice is long: thousands of *passages* (an acquire and its release). Threads that wait for a core make no
//!   passage in this time.
//!
//! So while a hall is *crowded*, a thread yields its core after each [`TURN`] passages, at a moment at which it has
//! just released its slot. With these yields, the system rarely stops a holder, the fast path stays free, and all
//! threads make about equally many passages. A hall is crowded for a while after a thread has waited in its queue. In a
//! hall in which no thread has waited, threads do not take turns.
//!
//! If another program keeps the cores busy, a yield gives a whole time slice to that program. After such a slow yield,
//! a thread takes a *break*: it makes up to [`LONGEST_BREAK`] turns before it yields again. If most yields are slow,
//! the breaks become long. Then slow yields cost at most about a third of the thread's time, but the threads no longer
//! make equally many passages.
//!
//! Turns are not part of the step machine: they change when a thread runs, and nothing else.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

use crate::yielding::Yields;

/// The number of passages in a turn. A turn lasts for much less than a time slice, and for much longer than a switch
/// between threads.
const TURN: u32 = 256;

/// The number of turns for which a hall stays crowded after a thread has waited. It is large, because threads rarely
/// wait in a crowded hall.
const CROWDED_TURNS: u32 = 1 << 14;

/// A yield that takes longer than this is slow. If only the threads of a hall take turns, a yield takes some tenths of
/// a millisecond.
const SLOW_YIELD: Duration = Duration::from_millis(2);

/// The largest number of turns that a thread makes without yielding after a slow yield. Together, these turns take a
/// few time slices.
const LONGEST_BREAK: u32 = 1024;

static YIELDS: Yields = Yields::new(SLOW_YIELD, LONGEST_BREAK);

thread_local! {
    /// The number of turns that this thread will make without yielding.
    static TURNS_LEFT: Cell<u32> = const { Cell::new(0) };
    /// The number of passages that this thread has made in its turn.
    static PASSAGES: Cell<u32> = const { Cell::new(0) };
}

/// Whether a hall is crowded.
pub(crate) struct Rotation {
    /// The number of turns for which the hall stays crowded.
    turns: AtomicU32,
}

impl Rotation {
    pub(crate) const fn new() -> Self {
        Rotation { turns: AtomicU32::new(0) }
    }

    /// Notes that a thread has to wait.
    pub(crate) fn thread_waits(&self) {
        // ORDERING: Relaxed, because no other access depends on the number.
        self.turns.store(CROWDED_TURNS, Relaxed);
    }

    /// Notes that this thread has released a slot. At the end of a turn in a crowded hall, this lets other threads run.
    #[inline]
    pub(crate) fn passage_ends(&self) {
        if cfg!(loom) {
            return; // the counter would outlive a run, and loom repeats runs exactly
        }
        let passages = PASSAGES.get() + 1;
        PASSAGES.set(if passages == TURN { 0 } else { passages });
        if passages == TURN {
            self.turn_ends();
        }
    }

    #[cold]
    fn turn_ends(&self) {
        // ORDERING: Relaxed, because no other access depends on the number. If two threads end their turns at the same
        // time, one of the two turns may not be counted.
        let turns = self.turns.load(Relaxed);
        if turns > 0 {
            self.turns.store(turns - 1, Relaxed);
            TURNS_LEFT.with(|left| YIELDS.yield_core(left));
        }
    }
}
