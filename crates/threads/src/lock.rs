//! The machine's `lock`, and the waiters that have not joined the queue yet: both in one word.
//!
//! | part of the word | content |
//! |---|---|
//! | bit 0, [`HELD`] | there is a server |
//! | bit 1, [`NEWS`] | something has happened since the server last looked |
//! | the rest | the newcomers: a stack of nodes, the latest on top |
//!
//! A caller that waits pushes its node and sets the lock in one access: lines L4 and L5, as if no other access
//! came between them. So newcomers come with news, and the word is 0 if there is no server.
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

    /// L4 and L5: queues a node. If there is no server, the caller becomes it, and appends the node to the queue
    /// itself. If there is one, the node becomes a newcomer, with news. Returns whether there was a server.
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

    /// L5 of a caller that has changed something: becomes the server, or leaves news for it. Returns whether there
    /// was a server.
    #[inline]
    pub(crate) fn announce(&self) -> bool {
        let mut word = self.0.load(SeqCst);
        loop {
            // The server's S1 comes with it, if there was none.
            let news = |address: usize| address | FLAGS;
            let new = if has(word, HELD) { word.map_addr(news) } else { held() };
            match self.0.compare_exchange_weak(word, new, SeqCst, SeqCst) {
                Ok(_) => return has(word, HELD),
                Err(found) => word = found,
            }
        }
    }

    /// L5 of a caller that needs the lock for itself. Returns whether there was a server.
    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        self.0.compare_exchange(ptr::null_mut(), held(), SeqCst, SeqCst).is_err()
    }

    /// S1: clears the news, and moves the newcomers that came with it into the queue.
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

    /// Moves the newcomers into the queue, and keeps the news.
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

    /// S14 and S17: releases the lock if there is no news. Returns whether it did.
    #[inline]
    pub(crate) fn unlock(&self) -> bool {
        self.0.compare_exchange(held(), ptr::null_mut(), SeqCst, SeqCst).is_ok()
    }
}
