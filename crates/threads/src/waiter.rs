//! The queue. Its nodes are on the stacks of waiting threads and in futures. They do not move while they are in the
//! queue. Labels such as L4 are lines of the [step machine](hallpass_algorithms::halls::threads). The comments in this
//! module refer to these rules:
//!
//! 1. Only the server (the holder of the step machine's `lock`) accesses the queue, and the links and wake handles of
//!    nodes in the queue. Every caller may push its own node on the stack of newcomers (see `lock`). The server
//!    moves the newcomers to the queue.
//! 2. A node is among the newcomers or in the queue from line L4 of its owner until S10 or C3. Its owner does not
//!    leave earlier. It leaves at L9 after a grant that S11 has written, and S11 comes after S10; or it gives up and
//!    leaves after C3. The node of a future is pinned, and a future that is dropped gives up.
//! 3. After S11 has written the grant, only the owner accesses the node. The server does not need it: S10 took out
//!    the handle that wakes the owner. After S19 too, only the owner accesses the node, because the owner is the next
//!    server. But the node stays in the queue.
#![allow(unsafe_code)]

use std::{marker::PhantomPinned, ptr::NonNull};

use hallpass_algorithms::{Op, Word};

use crate::{
    sync::{self, AtomicI64, UnsafeCell},
    wake::WakeHandle,
};

/// The node of a waiter in the queue.
pub(crate) struct Node {
    /// The grant of the waiter: `grant` of the step machine.
    pub(crate) grant: AtomicI64,
    /// The number of slots that the waiter asks for.
    pub(crate) need: u32,
    links: UnsafeCell<Links>,
    _pinned: PhantomPinned,
}

struct Links {
    before: Option<NonNull<Node>>,
    after: Option<NonNull<Node>>,
    handle: Option<WakeHandle>,
}

impl Node {
    #[inline]
    pub(crate) fn new(need: u32, handle: Option<WakeHandle>) -> Self {
        Node {
            grant: AtomicI64::new(0),
            need,
            links: UnsafeCell::new(Links { before: None, after: None, handle }),
            _pinned: PhantomPinned,
        }
    }

    /// Takes the grant of a waiter that has got slots (lines L6 and L9). Returns `None` if there is no grant, or the
    /// grant does not consist of slots.
    #[inline]
    pub(crate) fn take_grant(&self) -> Option<Word> {
        let grant = Op::Read.apply(&self.grant);
        (grant > 0).then(|| {
            sync::set(&self.grant, 0);
            grant
        })
    }

    /// Accesses the links of the node.
    ///
    /// # Safety
    /// The caller is the server, or owns the node before L4.
    #[inline(always)]
    unsafe fn links<R>(&self, f: impl FnOnce(&mut Links) -> R) -> R {
        // SAFETY: by rule 1, no other thread accesses the links.
        self.links.with_mut(|links| f(unsafe { &mut *links }))
    }

    /// Sets the newcomer below this one on the stack.
    ///
    /// # Safety
    /// The caller owns the node before L4.
    pub(crate) unsafe fn set_below(&self, below: Option<NonNull<Node>>) {
        // SAFETY: the caller's promise.
        unsafe { self.links(|links| links.before = below) };
    }

    /// Returns a handle that wakes the owner, if the owner is a thread and not a task.
    ///
    /// # Safety
    /// The caller is the server, or owns the node before L4.
    pub(crate) unsafe fn thread_handle(&self) -> Option<WakeHandle> {
        // SAFETY: the caller's promise.
        unsafe {
            self.links(|links| match &links.handle {
                Some(WakeHandle::Thread(thread)) => Some(WakeHandle::Thread(thread.clone())),
                _ => None,
            })
        }
    }

    /// Takes out the handle that wakes the owner. The handle of a thread also stays in the node, because in a
    /// barging hall the thread may have to queue again. The server neither wakes nor drops the handle of a task,
    /// because the code of a waker may call this hall.
    ///
    /// # Safety
    /// The caller is the server.
    #[inline]
    #[must_use = "dropping a waker may call this hall, so the server must not drop it"]
    pub(crate) unsafe fn take_handle(&self) -> Option<WakeHandle> {
        // SAFETY: the caller's promise.
        unsafe {
            self.links(|links| match &links.handle {
                Some(WakeHandle::Thread(thread)) => Some(WakeHandle::Thread(thread.clone())),
                _ => links.handle.take(),
            })
        }
    }

    /// Removes the handle that wakes the owner, and returns it. Without the handle, no caller wakes the owner or makes
    /// it the server.
    ///
    /// # Safety
    /// The caller is the server.
    pub(crate) unsafe fn remove_handle(&self) -> Option<WakeHandle> {
        // SAFETY: the caller's promise.
        unsafe { self.links(|links| links.handle.take()) }
    }

    /// Replaces the handle that wakes the owner. Returns the old handle, which must not be dropped while the
    /// caller is the server.
    ///
    /// # Safety
    /// The caller is the server, or owns the node before L4.
    #[inline]
    #[must_use = "dropping a waker may call this hall, so the server must not drop it"]
    pub(crate) unsafe fn set_handle(&self, handle: WakeHandle) -> Option<WakeHandle> {
        // SAFETY: the caller's promise.
        unsafe {
            self.links(|links| match links.handle {
                None => {
                    links.handle = Some(handle);
                    None
                }
                Some(_) => links.handle.replace(handle),
            })
        }
    }
}

// SAFETY: only the server accesses the fields that are not atomic (rule 1), and a handle may be used on any thread.
unsafe impl Send for Node {}
// SAFETY: the reasons for `Send` also hold for `Sync`.
unsafe impl Sync for Node {}

/// The queue. Only the server calls its methods.
pub(crate) struct Queue {
    head: Option<NonNull<Node>>,
    tail: Option<NonNull<Node>>,
}

impl Queue {
    pub(crate) const fn new() -> Self {
        Queue { head: None, tail: None }
    }

    #[inline]
    pub(crate) fn head(&self) -> Option<NonNull<Node>> {
        self.head
    }

    /// Appends a stack of newcomers in the order in which they came: the bottom of the stack first.
    ///
    /// # Safety
    /// The caller is the server, and has just taken the whole stack.
    #[inline]
    pub(crate) unsafe fn join(&mut self, top: NonNull<Node>) {
        // The node below a newcomer came before it. So `before` is already right, except for the bottom of the stack.
        let (mut bottom, mut after) = (top, None);
        // SAFETY: the caller is the server, and all newcomers and all nodes in the queue are alive (rule 2).
        unsafe {
            while let Some(below) = bottom.as_ref().links(|links| {
                links.after = after;
                links.before
            }) {
                (bottom, after) = (below, Some(bottom));
            }
            bottom.as_ref().links(|links| links.before = self.tail);
            match self.tail {
                Some(tail) => tail.as_ref().links(|links| links.after = Some(bottom)),
                None => self.head = Some(bottom),
            }
        }
        self.tail = Some(top);
    }

    /// Removes a node. The node keeps its handle.
    ///
    /// # Safety
    /// The caller is the server, and the node is in this queue.
    #[inline]
    pub(crate) unsafe fn remove(&mut self, node: NonNull<Node>) {
        // SAFETY: the caller is the server, and all nodes in the queue are alive (rule 2).
        unsafe {
            // The links of the node stay as they are: they are set before they are used again.
            let before = node.as_ref().links(|links| links.before);
            let after = node.as_ref().links(|links| links.after);
            match before {
                Some(before) => before.as_ref().links(|links| links.after = after),
                None => self.head = after,
            }
            match after {
                Some(after) => after.as_ref().links(|links| links.before = before),
                None => self.tail = before,
            }
        }
    }
}
