//! The queue: nodes that lie where their owners wait, linked under the machine's lock.
//!
//! 1. A node is in the queue from line L7 of its owner until S9 or C2, all executed with the lock.
//! 2. Its owner does not leave before: line L11 comes after a grant, which comes after S9; giving up
//!    ends after C2. A future's node is pinned, and dropping it gives up.
//! 3. Everything in a node but `grant` is touched with the lock only, or before L7 by its owner.
//! 4. After S10 has written the grant, only the owner touches the node: what S13 needs was taken out
//!    at S9.
#![allow(unsafe_code)]

use std::{
    marker::PhantomPinned,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::NonNull,
    task::Waker,
};

use crate::sync::{AtomicI64, Thread, UnsafeCell};

/// Whom to wake.
pub(crate) enum Bell {
    Thread(Thread),
    Task(Waker),
}

impl Bell {
    /// A waker is somebody else's code, and may panic. That has been reported by then, and is not
    /// passed on: who rings may have a node in the queue, and may have others still to grant something.
    pub(crate) fn ring(self) {
        match self {
            Bell::Thread(thread) => thread.unpark(),
            Bell::Task(waker) => {
                let woken = catch_unwind(AssertUnwindSafe(|| waker.wake()));
                woken.unwrap_or_else(mem::forget); // dropping what it says may panic again
            }
        }
    }
}

/// One who waits.
pub(crate) struct Node {
    /// What it was given: the machine's `grant`.
    pub(crate) grant: AtomicI64,
    /// How many slots it asks for.
    pub(crate) need: u32,
    links: UnsafeCell<Links>,
    _pinned: PhantomPinned,
}

struct Links {
    before: Option<NonNull<Node>>,
    after: Option<NonNull<Node>>,
    bell: Option<Bell>,
}

impl Node {
    pub(crate) fn new(need: u32, bell: Option<Bell>) -> Self {
        Node {
            grant: AtomicI64::new(0),
            need,
            links: UnsafeCell::new(Links { before: None, after: None, bell }),
            _pinned: PhantomPinned,
        }
    }

    /// # Safety
    /// The caller has the lock, or owns the node before L7.
    unsafe fn links<R>(&self, f: impl FnOnce(&mut Links) -> R) -> R {
        // SAFETY: by 3 above, nobody else is looking.
        self.links.with_mut(|links| f(unsafe { &mut *links }))
    }

    /// Another task to wake; whom it was before comes back, to be dropped without the lock.
    ///
    /// # Safety
    /// The caller has the lock, or owns the node before L7.
    #[must_use = "a waker's drop may come back to this hall: not with the lock"]
    pub(crate) unsafe fn set_bell(&self, bell: Bell) -> Option<Bell> {
        // SAFETY: the caller's promise.
        unsafe { self.links(|links| links.bell.replace(bell)) }
    }
}

// SAFETY: what is not atomic is touched with the lock only (3), and a bell may be rung anywhere.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

/// The queue. Whoever calls a method has the lock.
pub(crate) struct Queue {
    head: Option<NonNull<Node>>,
    tail: Option<NonNull<Node>>,
}

impl Queue {
    pub(crate) const fn new() -> Self {
        Queue { head: None, tail: None }
    }

    pub(crate) fn head(&self) -> Option<NonNull<Node>> {
        self.head
    }

    /// # Safety
    /// The caller has the lock; `node` is alive, in no queue, and stays where it is until it is out
    /// again.
    pub(crate) unsafe fn push(&mut self, node: NonNull<Node>) {
        // SAFETY: with the lock, and all nodes in the queue are alive (2).
        unsafe {
            node.as_ref().links(|links| (links.before, links.after) = (self.tail, None));
            match self.tail {
                Some(tail) => tail.as_ref().links(|links| links.after = Some(node)),
                None => self.head = Some(node),
            }
        }
        self.tail = Some(node);
    }

    /// Takes a node out; what to ring to wake its owner comes back.
    /// It is neither rung nor dropped with the lock: a waker's code may come back to this hall.
    ///
    /// # Safety
    /// The caller has the lock, and the node is in this queue.
    #[must_use = "a waker's drop may come back to this hall: not with the lock"]
    pub(crate) unsafe fn remove(&mut self, node: NonNull<Node>) -> Option<Bell> {
        // SAFETY: with the lock, and all nodes in the queue are alive (2).
        unsafe {
            let (before, after, bell) = node.as_ref().links(|links| {
                let bell = match &links.bell {
                    // Where one may barge in, it may have to queue again.
                    Some(Bell::Thread(thread)) => Some(Bell::Thread(thread.clone())),
                    _ => links.bell.take(),
                };
                (links.before.take(), links.after.take(), bell)
            });
            match before {
                Some(before) => before.as_ref().links(|links| links.after = after),
                None => self.head = after,
            }
            match after {
                Some(after) => after.as_ref().links(|links| links.before = before),
                None => self.tail = before,
            }
            bell
        }
    }
}
