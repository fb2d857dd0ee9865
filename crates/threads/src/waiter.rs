//! The queue: nodes that lie where their owners wait.
//!
//! 1. Only whoever serves (the machine's `lock`) touches the queue, and the links and bells of nodes in
//!    it. Everybody may push a node of its own on the arrivals, from which whoever serves takes them.
//! 2. A node is among the arrivals or in the queue from line L4 of its owner until S10 or C3. Its
//!    owner does not leave before: line L9 comes after a grant, which comes after S10; giving up ends
//!    after C3. A future's node is pinned, and dropping it gives up.
//! 3. After S11 has written the grant, only the owner touches the node: what is needed to ring for it
//!    was taken out at S10. The same holds for S19, but that the node stays in the queue: its owner
//!    serves next.
#![allow(unsafe_code)]

use std::{
    marker::PhantomPinned,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::{self, NonNull},
    sync::atomic::Ordering::SeqCst,
    task::Waker,
};

use crate::sync::{AtomicI64, AtomicPtr, Thread, UnsafeCell};

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
    /// The caller serves, or owns the node before L4.
    unsafe fn links<R>(&self, f: impl FnOnce(&mut Links) -> R) -> R {
        // SAFETY: by 1 above, nobody else is looking.
        self.links.with_mut(|links| f(unsafe { &mut *links }))
    }

    /// What wakes its owner, if that is a thread and no task.
    ///
    /// # Safety
    /// The caller serves, or owns the node before L4.
    pub(crate) unsafe fn bell_of_thread(&self) -> Option<Bell> {
        // SAFETY: the caller's promise.
        unsafe {
            self.links(|links| match &links.bell {
                Some(Bell::Thread(thread)) => Some(Bell::Thread(thread.clone())),
                _ => None,
            })
        }
    }

    /// Another task to wake; whom it was before comes back, to be dropped when nobody serves.
    ///
    /// # Safety
    /// The caller serves, or owns the node before L4.
    #[must_use = "a waker's drop may come back to this hall: not while serving"]
    pub(crate) unsafe fn set_bell(&self, bell: Bell) -> Option<Bell> {
        // SAFETY: the caller's promise.
        unsafe { self.links(|links| links.bell.replace(bell)) }
    }
}

// SAFETY: what is not atomic is touched by whoever serves only (1), and a bell may be rung anywhere.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

/// Those who have come and are not in the queue yet: a stack, the last one on top.
pub(crate) struct Arrivals(AtomicPtr<Node>);

impl Arrivals {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Arrivals(AtomicPtr::new(ptr::null_mut()))
    }

    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Arrivals(AtomicPtr::new(ptr::null_mut()))
    }

    /// Puts a node on top.
    ///
    /// # Safety
    /// `node` is alive, in no queue, and stays where it is until it is out again. Its owner calls this.
    pub(crate) unsafe fn push(&self, node: NonNull<Node>) {
        let mut top = self.0.load(SeqCst);
        loop {
            // SAFETY: until it is pushed, the node is its owner's alone.
            unsafe { node.as_ref().links(|links| links.before = NonNull::new(top)) };
            match self.0.compare_exchange_weak(top, node.as_ptr(), SeqCst, SeqCst) {
                Ok(_) => return,
                Err(found) => top = found,
            }
        }
    }

    /// Puts all of them into the queue, in the order they came.
    ///
    /// # Safety
    /// The caller serves.
    pub(crate) unsafe fn join(&self, queue: &mut Queue) {
        if self.0.load(SeqCst).is_null() {
            return;
        }
        let mut top = NonNull::new(self.0.swap(ptr::null_mut(), SeqCst));
        let mut first: Option<NonNull<Node>> = None;
        // SAFETY: it serves, and all arrivals are alive (2).
        unsafe {
            // Turn the stack round, for its first comes first.
            while let Some(node) = top {
                top = node.as_ref().links(|links| mem::replace(&mut links.before, first));
                first = Some(node);
            }
            while let Some(node) = first {
                first = node.as_ref().links(|links| links.before);
                queue.push(node);
            }
        }
    }
}

/// The queue. Whoever calls a method serves.
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
    /// The caller serves; `node` is alive, in no queue, and stays where it is until it is out
    /// again.
    pub(crate) unsafe fn push(&mut self, node: NonNull<Node>) {
        // SAFETY: it serves, and all nodes in the queue are alive (2).
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
    /// It is neither rung nor dropped while serving: a waker's code may come back to this hall.
    ///
    /// # Safety
    /// The caller serves, and the node is in this queue.
    #[must_use = "a waker's drop may come back to this hall: not while serving"]
    pub(crate) unsafe fn remove(&mut self, node: NonNull<Node>) -> Option<Bell> {
        // SAFETY: it serves, and all nodes in the queue are alive (2).
        unsafe {
            // Where one may barge in, a thread may have to queue again.
            let kept = node.as_ref().bell_of_thread();
            let (before, after, bell) = node.as_ref().links(|links| {
                (links.before.take(), links.after.take(), kept.or_else(|| links.bell.take()))
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
