//! The content of the shared words.

use crate::framework::memory::Word;

/// The lower half of `word`: the free slots.
pub const FREE: Word = WAITER - 1;
/// The value of one waiter in `word`.
pub const WAITER: Word = 1 << 32;
/// Set in `word` from the moment at which a waiter is called to try again until it does so. Only barging
/// halls set it.
pub const CALLED: Word = 1 << 59;
/// Added to `word` while only the server may take slots from it: the hall is closed, owes slots, or is being
/// resized.
pub const MARK: Word = 1 << 60;

/// The grant of a waiter in a closed hall.
pub const CLOSED: Word = -1;
/// The grant of a waiter that has to try again.
pub const TRY: Word = -2;
/// The grant of a waiter that has to take over from the server.
pub const SERVE: Word = -3;

/// Set in `lock` while there is a server.
pub const HELD: Word = 1;
/// Set in `lock` when something has happened since the server last looked.
pub const NEWS: Word = 2;

/// Returns the number of waiters that `word` counts.
pub const fn waiters(word: Word) -> Word {
    (word & (CALLED - 1)) / WAITER
}

/// The number of slots, whether the hall is closed, and the slots that were taken away but are still held.
/// Only the server changes the terms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Terms {
    /// The number of slots.
    pub k: u16,
    /// Whether the hall is closed.
    pub closed: bool,
    /// The slots that are held beyond `k`. The server does not grant them again.
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
