//! The variable `lock` of the [step machine](hallpass_algorithms::halls::threads), and the waiters that have not joined
//! the queue yet. Both are in one word, the *lock word*. The caller that holds the lock is the *server*: it hands free
//! slots to waiters.
//!
//! | part of the lock word | content |
//! |---|---|
//! | bit 0, [`HELD`] | there is a server |
//! | bit 1, [`NEWS`] | something has happened since the server last looked |
//! | the rest | the newcomers: a stack of nodes, the latest on top |
//!
//! A caller that waits makes its node a newcomer in one access (L4), whether or not there is a server. A caller that
//! becomes the server takes the newcomers in the same access (L5), and appends them to the queue. The server also
//! appends later newcomers whenever it looks at the queue. So for the step machine, newcomers are part of the queue.
#![allow(unsafe_code)]

use std::{
    ptr::{self, NonNull},
    sync::atomic::Ordering::SeqCst,
};

use hallpass_algorithms::halls::threads::{HELD, NEWS};

use crate::{
    sync::AtomicPtr,
    waiter::{Node, Queue},
};

const FLAGS: usize = (HELD | NEWS) as usize;
const _: () =
    assert!(align_of::<Node>() > FLAGS, "the address of a node leaves room for the flags");

/// The result of an attempt to become the server.
pub(crate) enum Access {
    /// The caller is the server now, and must append these newcomers to the queue.
    Server(Option<NonNull<Node>>),
    /// There is another server.
    Refused,
}

/// The lock and the newcomers.
pub(crate) struct Lock(AtomicPtr<Node>);

/// The lock word while there is neither a server nor a newcomer.
const EMPTY: *mut Node = ptr::null_mut();

fn has(word: *mut Node, flag: i64) -> bool {
    word.addr() & flag as usize != 0
}

fn newcomers(word: *mut Node) -> Option<NonNull<Node>> {
    NonNull::new(word.map_addr(|address| address & !FLAGS))
}

fn held() -> *mut Node {
    ptr::without_provenance_mut(HELD as usize)
}

impl Lock {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Lock(AtomicPtr::new(EMPTY))
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Lock(AtomicPtr::new(EMPTY))
    }

    /// Makes a node a newcomer (line L4).
    ///
    /// # Safety
    /// The caller owns `node`, which is alive, in no queue, and does not move until it has left the queue.
    #[inline]
    pub(crate) unsafe fn push(&self, node: NonNull<Node>) {
        let mut word = EMPTY; // a guess, which is often right and saves a read
        loop {
            // SAFETY: until the node is pushed, only its owner accesses it.
            unsafe { node.as_ref().set_below(newcomers(word)) };
            let new = node.as_ptr().map_addr(|address| address | word.addr() & FLAGS);
            match self.0.compare_exchange_weak(word, new, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(found) => word = found,
            }
        }
    }

    /// Makes the caller the server, or sets NEWS if there is a server. This is line L5 of a caller that has changed
    /// something.
    #[inline]
    pub(crate) fn announce(&self) -> Access {
        let mut word = self.0.load(SeqCst);
        loop {
            // If there is no server, this access includes S1 of the new server.
            let news = |address: usize| address | FLAGS;
            let new = if has(word, HELD) { word.map_addr(news) } else { held() };
            match self.0.compare_exchange_weak(word, new, SeqCst, SeqCst) {
                Ok(was) if has(was, HELD) => return Access::Refused,
                Ok(was) => return Access::Server(newcomers(was)),
                Err(found) => word = found,
            }
        }
    }

    /// Makes the caller the server, or changes nothing if there is a server. This is line L5 of a caller that must
    /// become the server itself.
    #[inline]
    pub(crate) fn try_lock(&self) -> Access {
        let mut word = self.0.load(SeqCst);
        loop {
            if has(word, HELD) {
                return Access::Refused;
            }
            match self.0.compare_exchange_weak(word, held(), SeqCst, SeqCst) {
                Ok(was) => return Access::Server(newcomers(was)),
                Err(found) => word = found,
            }
        }
    }

    /// Clears NEWS, and moves the newcomers into the queue (line S1).
    ///
    /// # Safety
    /// The caller is the server.
    #[inline]
    pub(crate) unsafe fn clear_news(&self, queue: &mut Queue) {
        if self.0.load(SeqCst) != held()
            && let Some(top) = newcomers(self.0.swap(held(), SeqCst))
        {
            // SAFETY: the caller's promise.
            unsafe { queue.join(top) };
        }
    }

    /// Moves the newcomers into the queue, and leaves NEWS set.
    ///
    /// # Safety
    /// The caller is the server.
    #[inline]
    pub(crate) unsafe fn let_newcomers_join(&self, queue: &mut Queue) {
        let mut word = self.0.load(SeqCst);
        while let Some(top) = newcomers(word) {
            let flags = ptr::without_provenance_mut(word.addr() & FLAGS);
            match self.0.compare_exchange(word, flags, SeqCst, SeqCst) {
                // SAFETY: the caller's promise.
                Ok(_) => return unsafe { queue.join(top) },
                Err(found) => word = found,
            }
        }
    }

    /// Releases the lock if NEWS is not set (lines S14 and S17). Returns whether it was released.
    #[inline]
    pub(crate) fn unlock(&self) -> bool {
        let mut word = held();
        loop {
            if has(word, NEWS) {
                return false;
            }
            let new = word.map_addr(|address| address & !FLAGS);
            match self.0.compare_exchange_weak(word, new, SeqCst, SeqCst) {
                Ok(_) => return true,
                Err(found) => word = found,
            }
        }
    }
}
