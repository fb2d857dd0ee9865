//! The environment of the step machine on real memory, for callers that may have to wait.
//!
//! The *server* is the caller that holds the lock of the queue. It writes *grants* to the nodes of waiters. A
//! grant is the slots that a waiter gets, or another message, such as that the hall is closed. Labels such as S11 are lines of the [step machine](hallpass_algorithms::halls::threads).
#![allow(unsafe_code)]

use std::{mem::ManuallyDrop, ptr::NonNull};

use hallpass_algorithms::{
    Op, Word,
    halls::threads::{
        Advance, Environment, FastEnvironment, HELD, OvertakeEnvironment, Policy, Pool, SERVE,
        Stage, advance,
    },
};

use crate::{
    hall::Hall,
    lock::Access,
    mode::by_mode,
    parking::{Backoff, Deadline, Parker},
    sync,
    waiter::{Node, Queue},
    wake::{WakeHandle, WakeList},
};

/// The number of grants that a server makes before it makes the head of the queue the next server.
const MAX_GRANTS: u32 = 64;

/// The number of times that a newcomer tries again to overtake before it queues. It tries again after it was refused, and
/// after another caller was faster. Each waiter in the queue costs a switch to its thread, so it is better not to queue.
pub(crate) const OVERTAKE_TRIES: u32 = if cfg!(loom) { 0 } else { 4 };

/// Identifies a waiter.
pub(crate) type Waiter = NonNull<Node>;

/// The environment of the step machine during one call.
pub(crate) struct NativeEnvironment<'a> {
    hall: &'a Hall,
    /// Wakes the waiter that this caller last removed from the queue or made the server. After every line that puts a
    /// handle here, another line takes it out, so there is nothing to drop.
    handle: ManuallyDrop<Option<WakeHandle>>,
    /// Wakes the tasks that got a grant. This happens after this caller has stopped serving. Every run wakes all of
    /// them, so there is nothing to drop.
    later: ManuallyDrop<WakeList>,
    parker: Parker,
    backoff: Backoff,
    /// Whether this caller has woken a thread.
    pub(crate) woke_a_thread: bool,
}

/// The point at which a run of the step machine stops.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// At the end of the passage. A thread waits in the run if it has to.
    AtTheEnd,
    /// Before the caller waits or joins the queue again. A task stops here and waits outside the run.
    BeforeWaiting,
}

/// How a run of the step machine ended.
pub(crate) enum End {
    /// The caller has entered. The word encodes its slots, as the [`Pool`] defines.
    Entered(Word),
    /// The caller has left.
    Left,
    /// The run has stopped before this stage.
    Stopped(Stage),
}

impl<'a> NativeEnvironment<'a> {
    #[inline]
    pub(crate) fn new(hall: &'a Hall, deadline: Deadline) -> Self {
        NativeEnvironment {
            hall,
            handle: ManuallyDrop::new(None),
            later: ManuallyDrop::new(WakeList::new()),
            parker: Parker::new(deadline),
            backoff: Backoff::new(),
            woke_a_thread: false,
        }
    }

    /// Prepares for a long wait: see [`Parker::skip_spinning`].
    pub(crate) fn skip_spinning(&mut self) {
        self.parker.skip_spinning();
    }

    /// Runs the step machine from `at` until the caller has entered or left, or reaches the point `stop`.
    ///
    /// # Safety
    /// If `at` is a stage of a passage that waits, `me` is the node of that passage. The node stays alive and does
    /// not move until a run ends with [`End::Entered`] or [`End::Left`].
    #[inline(always)]
    pub(crate) unsafe fn run<P: Pool, M: Policy>(
        &mut self,
        me: Waiter,
        at: Stage,
        stop: Stop,
    ) -> End {
        // Most runs begin at a stage that is known at compile time, and then end or check for a grant. So in these two
        // calls, the compiler can leave out the code for all other stages.
        let mut result = advance::<P, M, _>(self, me, at);
        if let Advance::Goto(Stage::Check) = result {
            result = advance::<P, M, _>(self, me, Stage::Check);
        }
        let end = match result {
            Advance::Entered(take) => End::Entered(take),
            Advance::Left => End::Left,
            Advance::Goto(Stage::Wait) if stop == Stop::BeforeWaiting => End::Stopped(Stage::Wait),
            other => self.go_on::<P, M>(me, other, stop),
        };
        self.later.wake_all();
        end
    }

    /// Continues a run.
    #[inline(never)]
    fn go_on<P: Pool, M: Policy>(&mut self, me: Waiter, mut result: Advance, stop: Stop) -> End {
        loop {
            let at = match result {
                Advance::Goto(next @ (Stage::Join | Stage::Wait))
                    if stop == Stop::BeforeWaiting =>
                {
                    return End::Stopped(next);
                }
                Advance::Goto(next) => next,
                Advance::Spin(next) => {
                    self.backoff.rest();
                    next
                }
                Advance::Entered(take) => return End::Entered(take),
                Advance::Left => return End::Left,
            };
            result = advance::<P, M, _>(self, me, at);
        }
    }

    /// Joins the queue and waits. Returns the slots, or `None` if the caller has given up or the hall is closed.
    pub(crate) fn wait<P: Pool, M: Policy>(&mut self, node: &Node) -> Option<Word> {
        // SAFETY: the node is borrowed until this returns, and the run does not stop before its end.
        match unsafe { self.run::<P, M>(node.into(), Stage::Join, Stop::AtTheEnd) } {
            End::Entered(take) => Some(take),
            End::Left => None,
            End::Stopped(_) => unreachable!("this run does not stop before its end"),
        }
    }

    /// Executes lines of the step machine that do not wait for a grant.
    pub(crate) fn work<P: Pool, M: Policy>(&mut self, at: Stage) {
        // SAFETY: none of these lines accesses the node of the caller.
        let end = unsafe { self.run::<P, M>(NonNull::dangling(), at, Stop::AtTheEnd) };
        debug_assert!(matches!(end, End::Left));
    }

    /// Replaces the wake handle of a node that is or was in the queue.
    pub(crate) fn replace_handle<P: Pool, M: Policy>(&mut self, node: &Node, handle: WakeHandle) {
        self.become_server();
        // SAFETY: this caller is the server.
        let old = unsafe { node.set_handle(handle) };
        self.work::<P, M>(Stage::Serve);
        drop(old);
    }

    /// Wakes tasks while this thread is in the queue, with the node `me`. Does nothing if this thread has a grant.
    ///
    /// A waker is foreign code. It may call this hall, and wait in this call until there is no server. If this thread
    /// became the server meanwhile (S19), the waker would wait for its own thread. So the node has no wake handle while
    /// wakers run, and [`may_serve`](Environment::may_serve) returns `false` for it. The thread needs no wake-up during
    /// this time, because it looks for its grant afterwards.
    #[cold]
    #[inline(never)]
    fn wake_tasks<P: Pool, M: Policy>(&mut self, me: Waiter) {
        while self.lock(Op::Set(HELD)) & HELD != 0 {
            if self.grant(me, Op::Read) != 0 {
                return; // the grant may have made this thread the server
            }
            self.backoff.rest();
        }
        // SAFETY: the node is that of this caller, which waits, so it is alive. This caller is the server.
        let handle = unsafe { me.as_ref().remove_handle() };
        advance::<P, M, _>(self, me, Stage::Serve);
        self.later.wake_all();
        self.become_server();
        if let Some(handle) = handle {
            // SAFETY: the node is that of this caller, which waits, so it is alive. This caller is the server.
            let none = unsafe { me.as_ref().set_handle(handle) };
            debug_assert!(none.is_none());
        }
        // If the thread admits tasks here, it wakes them when it looks for its grant again.
        advance::<P, M, _>(self, me, Stage::Serve);
    }

    /// Makes this caller the server (line L5 without NEWS). The caller must then run a stage that ends with serving the
    /// queue.
    pub(crate) fn become_server(&mut self) {
        while self.lock(Op::Set(HELD)) & HELD != 0 {
            self.backoff.rest();
        }
    }

    /// Accesses the queue. The caller is the server.
    #[inline(always)]
    fn queue<R>(&mut self, f: impl FnOnce(&mut Queue) -> R) -> R {
        // SAFETY: the step machine accesses the queue only while it serves, and there is only one server.
        self.hall.queue.queue.with_mut(|queue| f(unsafe { &mut *queue }))
    }
}

impl FastEnvironment for NativeEnvironment<'_> {
    #[inline(always)]
    fn word(&mut self, op: Op) -> Word {
        op.apply(&self.hall.word)
    }
}

impl OvertakeEnvironment for NativeEnvironment<'_> {
    #[inline(always)]
    fn credit(&mut self, op: Op) -> Word {
        op.apply(&self.hall.credit)
    }
}

impl Environment for NativeEnvironment<'_> {
    const STRAIGHT: bool = true;
    type Waiter = Waiter;

    /// Accesses the lock, which is in one word with the newcomers (see `lock`).
    ///
    /// L5 sets HELD and NEWS, and S1 clears NEWS. If there is no server, a single access that sets only HELD
    /// stands for both lines: the step machine can also run S1 immediately after L5.
    #[inline(always)]
    fn lock(&mut self, op: Op) -> Word {
        let lock = &self.hall.queue.lock;
        match op {
            Op::Set(bits) => {
                match if bits == HELD { lock.try_lock() } else { lock.announce() } {
                    Access::Refused => HELD,
                    Access::Server(newcomers) => {
                        if let Some(top) = newcomers {
                            // SAFETY: this caller is the server now, and has just taken the newcomers.
                            self.queue(|queue| unsafe { queue.join(top) });
                        }
                        0
                    }
                }
            }
            Op::Write(_) => {
                // SAFETY: this is S1, so the caller is the server.
                self.queue(|queue| unsafe { lock.clear_news(queue) });
                0
            }
            // S14 and S17: returns HELD (1), the old value, if the lock was released, and 0 otherwise.
            _ => Word::from(lock.unlock()),
        }
    }

    #[inline(always)]
    fn terms(&mut self, op: Op) -> Word {
        op.apply(&self.hall.terms)
    }

    #[inline(always)]
    fn head(&mut self) -> Option<Waiter> {
        let lock = &self.hall.queue.lock;
        self.queue(|queue| {
            // SAFETY: the step machine calls this while it serves.
            unsafe { lock.let_newcomers_join(queue) };
            queue.head()
        })
    }

    #[inline(always)]
    fn push(&mut self, waiter: Waiter) {
        // SAFETY: the step machine calls this with the node of the running passage. The caller of `run` promised that
        // the node is alive and does not move.
        unsafe { self.hall.queue.lock.push(waiter) };
    }

    #[inline(always)]
    fn pop(&mut self) {
        *self.handle = self.queue(|queue| {
            let head = queue.head()?;
            // SAFETY: the step machine calls this while it serves, and the head is in the queue.
            unsafe {
                queue.remove(head);
                head.as_ref().take_handle()
            }
        });
    }

    #[inline(always)]
    fn remove(&mut self, waiter: Waiter) {
        let lock = &self.hall.queue.lock;
        // The node keeps its handle, which its owner drops.
        self.queue(|queue| {
            // SAFETY: the step machine calls this at C3, while it serves. The node is that of this caller, and is in
            // the queue or among the newcomers.
            unsafe {
                lock.let_newcomers_join(queue);
                queue.remove(waiter)
            }
        });
    }

    #[inline(always)]
    fn grant(&mut self, waiter: Waiter, op: Op) -> Word {
        // SAFETY: the node is that of this caller, or at S11 and S19 that of a waiter without a grant. Such a waiter
        // waits, so its node is alive.
        let node = unsafe { waiter.as_ref() };
        let Op::Write(grant) = op else { return op.apply(&node.grant) };
        if grant == SERVE {
            // SAFETY: the step machine writes this at S19, while it serves.
            *self.handle = unsafe { node.thread_handle() };
        }
        // ORDERING: Release. If the waiter reads this grant, it sees everything that the server did before. If it reads
        // no grant yet, it sleeps until it is woken. The wake-up comes after this write (S13, S15, S16) and before the
        // next read of the waiter, which sees the grant. The waiter itself writes this variable at L9 and C5. At these
        // lines, it has left the queue or is the server. So its writes never compete with a write of another server.
        sync::set(&node.grant, grant);
        0 // the step machine does not use the old value
    }

    #[inline(always)]
    fn wake(&mut self, _: Waiter) {
        // The node may be gone, so the handle was taken out before the grant was written.
        match self.handle.take() {
            Some(WakeHandle::Thread(thread)) => {
                self.woke_a_thread = true;
                thread.unpark();
            }
            // A waker is foreign code that may call this hall, so the server does not run it.
            Some(WakeHandle::Task(waker)) => self.later.push(waker),
            None => {}
        }
    }

    fn was_woken(&mut self, me: Waiter) -> bool {
        if self.later.is_empty() {
            return self.parker.rest();
        }
        by_mode!(self.hall.mode, self.wake_tasks(me));
        // A waker is foreign code that may park, or block in another way. The waker may then consume the wake-up of
        // this thread. So after it has run wakers, the thread looks for its grant again before it sleeps.
        true
    }

    fn may_wake_spuriously(&self) -> bool {
        true
    }

    fn expired(&mut self) -> bool {
        self.parker.has_expired()
    }

    #[inline(always)]
    fn need(&self, waiter: Waiter) -> u32 {
        // SAFETY: the node is that of this caller, or is in the queue while this caller serves.
        unsafe { waiter.as_ref().need }
    }

    fn may_serve(&self, waiter: Waiter) -> bool {
        // SAFETY: the step machine calls this while it serves, with a node in the queue.
        unsafe { waiter.as_ref().thread_handle().is_some() }
    }

    #[inline(always)]
    fn grant_limit(&self) -> u32 {
        MAX_GRANTS
    }

    #[inline(always)]
    fn bypass_limit(&self) -> u32 {
        self.hall.bypass
    }

    #[inline(always)]
    fn overtake_tries(&self) -> u32 {
        OVERTAKE_TRIES
    }
}
