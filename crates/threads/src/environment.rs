//! The environment of the step machine on real memory, for callers that may have to wait.
#![allow(unsafe_code)]

use std::ptr::NonNull;

use hallpass_algorithms::{
    Next, Op, Word,
    halls::threads::{
        After, Environment, FastEnvironment, HELD, Line, Policy, Pool, SERVE, Turn, step,
    },
};

use crate::{
    parking::{Backoff, Deadline, Parker},
    state::HallState,
    waiter::{Node, Queue},
    wake::WakeHandle,
};

/// How many grants a server makes before it hands over to the head of the queue.
const MAX_GRANTS: u32 = 64;

/// Identifies a waiter.
pub(crate) type Waiter = NonNull<Node>;

/// One call's view of a hall.
pub(crate) struct NativeEnvironment<'a> {
    state: &'a HallState,
    /// Wakes the waiter that was taken off the queue last.
    handle: Option<WakeHandle>,
    /// Wake the tasks that were granted something, once this caller no longer serves.
    later: Vec<WakeHandle>,
    /// The caller's own handle, after giving up: kept until the lock is released.
    own: Option<WakeHandle>,
    parker: Parker,
    backoff: Backoff,
    /// Whether this caller has woken a thread.
    pub(crate) woke_a_thread: bool,
}

/// How a run of the machine ended.
pub(crate) enum End {
    /// The caller is inside, with these slots.
    Inside(Word),
    /// The caller is outside again.
    Left,
    /// The run has stopped at a line that `stops` accepts.
    Stopped(Line<Waiter>),
}

impl<'a> NativeEnvironment<'a> {
    pub(crate) fn new(state: &'a HallState, deadline: Deadline) -> Self {
        NativeEnvironment {
            state,
            handle: None,
            later: Vec::new(),
            own: None,
            parker: Parker::new(deadline),
            backoff: Backoff::new(),
            woke_a_thread: false,
        }
    }

    /// Runs the machine from `at` until the caller is inside, has left, or reaches a line that `stops`
    /// accepts.
    ///
    /// # Safety
    /// If `at` is a line of a passage that waits, `me` is the node of that passage, alive and in its place
    /// until a run ends in another way than by stopping.
    pub(crate) unsafe fn run<P: Pool, M: Policy>(
        &mut self,
        me: Waiter,
        mut at: Line<Waiter>,
        stops: impl Fn(&Line<Waiter>) -> bool,
    ) -> End {
        let end = loop {
            match step::<P, M, _>(self, me, at) {
                Next::Goto(next) if stops(&next) => break End::Stopped(next),
                Next::Goto(next) => at = next,
                Next::Spin(next) => {
                    self.backoff.rest();
                    at = next;
                }
                Next::Enter(Line::X1 { take }) => break End::Inside(take),
                Next::Enter(_) => unreachable!("the exit section begins at X1"),
                Next::Leave => break End::Left,
            }
        };
        self.wake_tasks();
        end
    }

    /// Wakes the tasks that were granted something. The caller must not be the server.
    fn wake_tasks(&mut self) {
        self.later.drain(..).for_each(WakeHandle::wake);
    }

    /// Joins the queue, and waits until the caller is in or has given up.
    pub(crate) fn wait<P: Pool, M: Policy>(&mut self, node: &Node) -> Option<Word> {
        // SAFETY: the node is borrowed until this returns, and the run does not stop anywhere.
        match unsafe { self.run::<P, M>(node.into(), Line::L3, |_| false) } {
            End::Inside(take) => Some(take),
            End::Left => None,
            End::Stopped(_) => unreachable!("it stops nowhere"),
        }
    }

    /// Does a job that does not wait for a grant.
    pub(crate) fn work<P: Pool, M: Policy>(&mut self, at: Line<Waiter>) {
        // SAFETY: none of these jobs accesses the node of its caller.
        let end = unsafe { self.run::<P, M>(NonNull::dangling(), at, |_| false) };
        debug_assert!(matches!(end, End::Left));
    }

    /// Replaces the wake handle of a node that is in the queue, or was.
    pub(crate) fn replace_handle<P: Pool, M: Policy>(&mut self, node: &Node, handle: WakeHandle) {
        // Become the server, as for giving up: this is the line at which giving up begins.
        while self.lock(Op::Set(HELD)) & HELD != 0 {
            self.backoff.rest();
        }
        // SAFETY: this caller is the server.
        let old = unsafe { node.set_handle(handle) };
        self.work::<P, M>(Line::S1 { turn: Turn { left: MAX_GRANTS, after: After::Leave } });
        drop(old);
    }

    /// Accesses the queue, after all newcomers have joined it.
    fn queue<R>(&mut self, f: impl FnOnce(&mut Queue) -> R) -> R {
        self.state.queue.with_mut(|queue| {
            // SAFETY: the machine calls what needs the queue only while it serves, and there is one server.
            let queue = unsafe { &mut *queue };
            // SAFETY: as above.
            unsafe { self.state.newcomers.join(queue) };
            f(queue)
        })
    }
}

impl FastEnvironment for NativeEnvironment<'_> {
    #[inline]
    fn word(&mut self, op: Op) -> Word {
        op.apply(&*self.state.word)
    }
}

impl Environment for NativeEnvironment<'_> {
    type Waiter = Waiter;

    fn lock(&mut self, op: Op) -> Word {
        op.apply(&*self.state.lock)
    }

    fn terms(&mut self, op: Op) -> Word {
        op.apply(&self.state.terms)
    }

    fn head(&mut self) -> Option<Waiter> {
        self.queue(|queue| queue.head())
    }

    fn push(&mut self, waiter: Waiter) {
        // SAFETY: the machine calls this at L4 with the node of the running passage; the caller of `run`
        // promised that the node is alive and stays in its place.
        unsafe { self.state.newcomers.push(waiter) };
    }

    fn pop(&mut self) {
        // SAFETY: the machine calls this while it serves, and the head is in the queue.
        self.handle =
            self.queue(|queue| queue.head().and_then(|head| unsafe { queue.remove(head) }));
    }

    fn remove(&mut self, waiter: Waiter) {
        // SAFETY: the machine calls this at C3, while it serves, and its own node is in the queue.
        self.own = self.queue(|queue| unsafe { queue.remove(waiter) });
    }

    fn grant(&mut self, waiter: Waiter, op: Op) -> Word {
        // SAFETY: it is the caller's own node, or at S11 and S19 that of a waiter without a grant.
        let node = unsafe { waiter.as_ref() };
        if let Op::Write(SERVE) = op {
            // SAFETY: the machine writes this at S19, while it serves.
            self.handle = unsafe { node.thread_handle() };
        }
        op.apply(&node.grant)
    }

    fn wake(&mut self, _: Waiter) {
        // The node may be gone: its handle was taken out before the grant was written.
        match self.handle.take() {
            Some(handle @ WakeHandle::Thread(_)) => {
                self.woke_a_thread = true;
                handle.wake();
            }
            // A waker is foreign code that may call this hall, so the server does not run it.
            Some(handle) => self.later.push(handle),
            None => {}
        }
    }

    fn was_woken(&mut self, _: Waiter) -> bool {
        self.wake_tasks();
        self.parker.rest()
    }

    fn may_wake_spuriously(&self) -> bool {
        true
    }

    fn expired(&mut self) -> bool {
        self.parker.has_expired()
    }

    fn need(&self, waiter: Waiter) -> u32 {
        // SAFETY: it is the caller's own node, or one in the queue while the caller serves.
        unsafe { waiter.as_ref().need }
    }

    fn may_serve(&self, waiter: Waiter) -> bool {
        // SAFETY: the machine calls this while it serves, with a node in the queue.
        unsafe { waiter.as_ref().thread_handle().is_some() }
    }

    fn grant_limit(&self) -> u32 {
        MAX_GRANTS
    }
}
