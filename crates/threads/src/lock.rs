//! The variable `lock` of the [step machine](hallpass_algorithms::halls::threads), and the waiters that have not joined
//! the queue yet. Both are in one word, the *lock word*.
//!
//! | part of the lock word | content |
//! |---|---|
//! | bit 0, [`HELD`] | there is a server |
//! | bit 1, [`NEWS`] | something has happened since the server last looked |
//! | the rest | the newcomers: a stack of nodes, the latest on top |
//!
//! A caller that waits pushes its node and sets the lock in one access. The step machine does this in two lines, L4 and
//! L5. The single access is the same as L4 directly followed by L5. So if there are newcomers, NEWS is set. If there is
//! no server, the lock word is 0.
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

/// The lock and the newcomers.
pub(crate) struct Lock(AtomicPtr<Node>);

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
        Lock(AtomicPtr::new(ptr::null_mut()))
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Lock(AtomicPtr::new(ptr::null_mut()))
    }

    /// L4 and L5: queues a node. If there is no server, the caller becomes the server, and must append the node to
    /// the queue. If there is a server, this makes the node a newcomer and sets NEWS. Returns whether there was a
    /// server.
    ///
    /// # Safety
    /// The caller owns `node`, which is alive, in no queue, and does not move until it has left the queue.
    #[inline]
    pub(crate) unsafe fn queue(&self, node: NonNull<Node>) -> bool {
        let mut word = self.0.load(SeqCst);
        loop {
            let new = if has(word, HELD) {
                // SAFETY: until the node is pushed, only its owner accesses it.
                unsafe { node.as_ref().set_below(newcomers(word)) };
                node.as_ptr().map_addr(|address| address | FLAGS)
            } else {
                held()
            };
            match self.0.compare_exchange_weak(word, new, SeqCst, SeqCst) {
                Ok(_) => return has(word, HELD),
                Err(found) => word = found,
            }
        }
    }

    /// L5 of a caller that has changed something: the caller becomes the server, or sets NEWS if there is a server.
    /// Returns whether there was a server.
    #[inline]
    pub(crate) fn announce(&self) -> bool {
        let mut word = self.0.load(SeqCst);
        loop {
            // If there is no server, this access includes S1 of the new server.
            let news = |address: usize| address | FLAGS;
            let new = if has(word, HELD) { word.map_addr(news) } else { held() };
            match self.0.compare_exchange_weak(word, new, SeqCst, SeqCst) {
                Ok(_) => return has(word, HELD),
                Err(found) => word = found,
            }
        }
    }

    /// L5 of a caller that must become the server itself. Returns whether there was a server.
    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        self.0.compare_exchange(ptr::null_mut(), held(), SeqCst, SeqCst).is_err()
    }

    /// S1: clears NEWS, and moves the newcomers into the queue.
    ///
    /// # Safety
    /// The caller is the server.
    #[inline]
    pub(crate) unsafe fn clear_news(&self, queue: &mut Queue) {
        if self.0.load(SeqCst) != held() {
            let word = self.0.swap(held(), SeqCst);
            // SAFETY: the caller's promise.
            unsafe { queue.join(newcomers(word)) };
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
                Ok(_) => return unsafe { queue.join(Some(top)) },
                Err(found) => word = found,
            }
        }
    }

    /// S14 and S17: releases the lock if NEWS is not set. Returns whether it was released.
    #[inline]
    pub(crate) fn unlock(&self) -> bool {
        self.0.compare_exchange(held(), ptr::null_mut(), SeqCst, SeqCst).is_ok()
    }
}
