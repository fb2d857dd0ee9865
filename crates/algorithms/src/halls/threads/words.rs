//! The content of the shared variables `word`, `grant[p]`, `lock` and `terms`. The *server* is the caller that gives
//! slots to the waiters (see the [parent module](super)).

use crate::framework::memory::Word;

/// The lower half of `word`: the free slots.
pub const FREE: Word = WAITER - 1;
/// The amount that each waiter adds to `word`.
pub const WAITER: Word = 1 << 32;
/// Set in `word` from the moment when the server tells a waiter to try again until the waiter does so. Only
/// barging halls set it.
pub const CALLED: Word = 1 << 59;
/// Added to `word` while only the server may take slots from it: the hall is closed or is being resized, or
/// slots are owed (see [`Terms::owed`]).
pub const MARK: Word = 1 << 60;

/// Value of `grant[p]`: the hall is closed.
pub const CLOSED: Word = -1;
/// Value of `grant[p]`: the waiter has to try again.
pub const TRY: Word = -2;
/// Value of `grant[p]`: the waiter has to take over from the server.
pub const SERVE: Word = -3;

/// Set in `lock` while there is a server.
pub const HELD: Word = 1;
/// Set in `lock` when another caller has tried to serve the queue since the server last looked.
pub const NEWS: Word = 2;

/// Returns the number of waiters that `word` counts.
pub const fn waiters(word: Word) -> Word {
    (word & (CALLED - 1)) / WAITER
}

/// The number of slots, whether the hall is closed, and which slots are owed. Only the server changes the
/// terms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Terms {
    /// The number of slots.
    pub k: u16,
    /// Whether the hall is closed.
    pub closed: bool,
    /// The slots that were still held when the hall was made smaller, and that it no longer has. After their
    /// release, the server does not grant them again.
    pub owed: Word,
}

impl Terms {
    /// Returns the terms of a new hall.
    pub const fn new(k: u16) -> Self {
        Terms { k, closed: false, owed: 0 }
    }

    /// Packs the terms into one word.
    pub const fn pack(self) -> Word {
        self.owed << 17 | (self.k as Word) << 1 | self.closed as Word
    }

    /// Unpacks what [`pack`](Terms::pack) returned.
    pub const fn unpack(word: Word) -> Self {
        Terms { k: (word >> 1) as u16, closed: word & 1 != 0, owed: word >> 17 }
    }
}
