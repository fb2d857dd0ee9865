//! The contended path: continues a call that cannot finish on the fast path.
//!
//! The *server* is the caller that holds the lock of the queue. It hands free slots to waiters; each hand-over is a
//! *grant*. Labels such as L3 are lines of the [step machine](hallpass_algorithms::halls::threads).

use hallpass_algorithms::{
    Op, Word,
    halls::threads::{
        After, Bits, FREE, Fair, Job, MARK, Policy, Pool, Stage, WideBits, fast, overtake, waiters,
    },
};

use crate::{
    environment::{End, NativeEnvironment, OVERTAKE_TRIES, Stop},
    hall::Hall,
    instruments::Outcome,
    mode::{Mode, by_mode},
    parking::Deadline,
    sync::thread,
    waiter::Node,
    wake::WakeHandle,
};

/// The largest number of waiters in a queue that is likely to become empty soon. If there are more waiters, a newcomer
/// does not spin before it sleeps, and a releasing thread does not yield. If releasing threads yielded with more
/// waiters, the queue would sometimes become empty. While it is empty, the threads that happen to run would acquire and
/// release slots for whole time slices, and the other threads would get none. With few waiters, an empty queue is
/// welcome: soon every thread has had a slot.
const SHORT_QUEUE: Word = 8;

/// What a newcomer does after the limit on overtaking is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The newcomer lets other threads run, and tries again.
    Yield,
    /// The newcomer queues without a pause. A task does this, because it must not block its thread.
    Queue,
    /// The newcomer gives up.
    Never,
}

impl Hall {
    /// Takes `need` slots ahead of the queue if the hall allows it. Otherwise joins the queue (lines L3 and L4) and waits.
    /// Returns `None` if the deadline passes first, or the hall is closed.
    #[cold]
    pub(crate) fn acquire_contended<P: Pool, M: Policy>(
        &self,
        need: u32,
        deadline: Deadline,
    ) -> Option<Word> {
        if let Some(take) =
            self.overtake::<P, M>(need, if deadline.is_now() { Pause::Never } else { Pause::Yield })
        {
            return Some(take);
        }
        let word = Op::Read.apply(&self.word);
        // `word` is marked (`MARK`) during a resize, while slots that a resize has removed are still held, and in a
        // closed hall. While `word` is marked, only the server takes slots. So even a caller that may overtake must
        // queue for a moment to get a slot.
        let refused = (M::BYPASSES || M::BARGES) && word < MARK;
        if deadline.is_now() && (refused || P::choose(word & FREE, 0, need).is_none()) {
            return None;
        }
        // The instruments report only callers that wait.
        let waiting = (!deadline.is_now()).then(|| self.instruments.starts_waiting(need));
        if M::BYPASSES && waiting.is_some() {
            self.rotation.thread_waits();
        }
        let node = Node::new(need, Some(WakeHandle::Thread(thread::current())));
        let mut environment = NativeEnvironment::new(self, deadline);
        if waiters(word) > SHORT_QUEUE {
            environment.skip_spinning();
        }
        let take = environment.wait::<P, M>(&node);
        if let Some(waiting) = waiting {
            let outcome = match take {
                Some(_) => Outcome::Granted,
                None if self.is_closed() => Outcome::TurnedAway,
                None => Outcome::TimedOut,
            };
            self.instruments.stops_waiting(waiting, outcome);
        }
        take
    }

    /// Takes `need` free slots ahead of the waiters (lines B1 to B4, or lines L1 and L2 of a barging hall), if the hall
    /// allows it.
    #[inline]
    pub(crate) fn overtake<P: Pool, M: Policy>(&self, need: u32, pause: Pause) -> Option<Word> {
        if M::BARGES {
            return self.barge::<P, M>(need);
        }
        if !M::BYPASSES {
            return None;
        }
        // The server may be a thread that is still asleep. A caller that asked not to wait must not wait for the
        // server either. So it does not queue for slots that it may take ahead of the queue: it tries until it gets
        // them or is refused.
        let tries = if pause == Pause::Never { u32::MAX } else { OVERTAKE_TRIES };
        overtake::<P, _>(&mut &*self, need, tries, || {
            if pause == Pause::Yield {
                thread::yield_now(); // if the thread of a waiter runs now, this waiter gets a slot first
            }
            pause == Pause::Yield
        })
    }

    /// Takes `need` free slots of a barging hall (lines L1 and L2). Tries again as long as enough slots are free and
    /// another caller is faster.
    fn barge<P: Pool, M: Policy>(&self, need: u32) -> Option<Word> {
        loop {
            let offer = fast::look::<P, M, _>(&mut &*self, need)?;
            if fast::take(&mut &*self, offer) {
                return Some(offer.take);
            }
        }
    }

    /// Serves the waiters after a slot was released (from line L5 on).
    #[cold]
    pub(crate) fn release_contended<P: Pool, M: Policy>(&self) {
        let mut environment = NativeEnvironment::new(self, Deadline::Never);
        environment.work::<P, M>(Stage::Lock(Job::Serve(After::Leave)));
        if environment.woke_a_thread && waiters(Op::Read.apply(&self.word)) <= SHORT_QUEUE {
            // Let the woken thread run, in case it waits for this core. Without this yield, this thread would often
            // ask for the next slot while the woken thread has its slot but does not run yet. Then this thread would
            // have to queue, and soon every caller would queue: each pass would cost a sleep and a wake-up. With
            // the yield, so short a queue becomes empty, and callers do not have to queue.
            thread::yield_now();
        }
    }

    /// Resizes or closes the hall.
    pub(crate) fn manage(&self, job: Job) {
        let mut environment = NativeEnvironment::new(self, Deadline::Never);
        by_mode!(self.mode, environment.work(Stage::Lock(job)));
    }

    /// Resizes the hall, and returns the new number of slots. `change` computes this number from the present number.
    pub(crate) fn resize_with<E>(
        &self,
        change: impl FnOnce(usize) -> Result<usize, E>,
    ) -> Result<usize, E> {
        let mut environment = NativeEnvironment::new(self, Deadline::Never);
        environment.become_server(); // so no other caller changes the number
        let changed = change(self.slots());
        let stage = match changed {
            Ok(k) => Stage::Resize(k as u16),
            Err(_) => Stage::Serve,
        };
        by_mode!(self.mode, environment.work(stage));
        changed
    }

    /// Runs the step machine for the node of a future, until the future would have to wait or join the queue again.
    ///
    /// # Safety
    /// The conditions of [`NativeEnvironment::run`] hold.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub(crate) unsafe fn run_task(&self, node: &Node, at: Stage) -> End {
        match self.mode {
            // SAFETY: the caller's promise.
            Mode::Fair => unsafe { self.run_as::<Bits, Fair>(node, at, Stop::BeforeWaiting) },
            // SAFETY: the caller's promise.
            Mode::FairWide => unsafe {
                self.run_as::<WideBits, Fair>(node, at, Stop::BeforeWaiting)
            },
            // SAFETY: the caller's promise.
            _ => unsafe { self.run_by_mode(node, at, Stop::BeforeWaiting) },
        }
    }

    /// Lets the node of a future leave the queue.
    ///
    /// # Safety
    /// The conditions of [`NativeEnvironment::run`] hold.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub(crate) unsafe fn give_up_task(&self, node: &Node) -> End {
        match self.mode {
            // SAFETY: the caller's promise.
            Mode::Fair => unsafe { self.run_as::<Bits, Fair>(node, Stage::GiveUp, Stop::AtTheEnd) },
            // SAFETY: the caller's promise.
            _ => unsafe { self.run_by_mode(node, Stage::GiveUp, Stop::AtTheEnd) },
        }
    }

    /// Runs the step machine for the node of a future in the less common modes.
    ///
    /// # Safety
    /// The conditions of [`NativeEnvironment::run`] hold.
    #[allow(unsafe_code)]
    #[inline(never)]
    unsafe fn run_by_mode(&self, node: &Node, at: Stage, stop: Stop) -> End {
        // SAFETY: the caller's promise.
        unsafe { by_mode!(self.mode, self.run_as(node, at, stop)) }
    }

    /// Runs the step machine for the node of a future.
    ///
    /// # Safety
    /// The conditions of [`NativeEnvironment::run`] hold.
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run_as<P: Pool, M: Policy>(&self, node: &Node, at: Stage, stop: Stop) -> End {
        // In this run, a task never waits for a grant. It only waits while another caller is the server.
        let mut environment = NativeEnvironment::new(self, Deadline::Now);
        // SAFETY: the caller's promise.
        unsafe { environment.run::<P, M>(node.into(), at, stop) }
    }

    /// Replaces the wake handle of a node that is or was in the queue.
    pub(crate) fn replace_handle(&self, node: &Node, handle: WakeHandle) {
        let mut environment = NativeEnvironment::new(self, Deadline::Never);
        by_mode!(self.mode, environment.replace_handle(node, handle));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::task::{Context, Waker};

    use hallpass_algorithms::halls::threads::{Barging, Bits};

    use super::*;

    /// A newcomer that does not wait calls `acquire_contended` if another caller was faster on the fast path. The
    /// newcomer must get a slot as long as one is free, even if the hall has told a waiter to try again.
    #[test]
    fn an_attempt_in_a_barging_hall_does_not_fail_while_a_slot_is_free() {
        let hall = Hall::builder(2).barging().build().unwrap();
        let held = hall.acquire_many(2).unwrap();
        let mut waiter = Box::pin(hall.acquire_async());
        assert!(waiter.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(held); // tells the waiter to try again
        assert_eq!((hall.available(), hall.waiting()), (2, 0));
        for _ in 0..2 {
            assert!(hall.acquire_contended::<Bits, Barging>(1, Deadline::Now).is_some());
        }
        assert!(hall.acquire_contended::<Bits, Barging>(1, Deadline::Now).is_none());
    }
}
