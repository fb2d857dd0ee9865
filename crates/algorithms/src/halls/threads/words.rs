//! The content of the shared words.

use crate::framework::memory::Word;

/// The lower half of the word: what is free.
pub const FREE: Word = WAITER - 1;
/// One more waiter in the word.
pub const WAITER: Word = 1 << 32;
/// Set in the word while a waiter was told to try again and has not yet done so. Barging halls only.
pub const CALLED: Word = 1 << 59;
/// Set in the word while only the server may take from it: the hall is closed, or owes slots.
pub const MARK: Word = 1 << 60;

/// Written as a grant to a waiter of a closed hall.
pub const CLOSED: Word = -1;
/// Written as a grant to a waiter that is to try again.
pub const TRY: Word = -2;
/// Written as a grant to a waiter that is to take over from the server.
pub const SERVE: Word = -3;

/// Set in the lock while there is a server.
pub const HELD: Word = 1;
/// Set in the lock when something has happened since the server last looked.
pub const NEWS: Word = 2;

/// Returns how many waiters the word counts.
pub const fn waiters(word: Word) -> Word {
    (word & (CALLED - 1)) / WAITER
}

/// The number of slots, and what becomes of slots that were taken away. Only the server changes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Terms {
    /// The number of slots.
    pub k: u16,
    /// Whether the hall is closed.
    pub closed: bool,
    /// The slots that are held beyond `k`. They will not be handed out again.
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
