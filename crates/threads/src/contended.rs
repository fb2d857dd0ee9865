//! The contended path: continues a call that cannot finish on the fast path.

use hallpass_algorithms::{
    Op, Word,
    halls::threads::{After, FREE, Job, Policy, Pool, Stage},
};

use crate::{
    environment::{End, NativeEnvironment, Stop},
    hall::Hall,
    instruments::Outcome,
    mode::by_mode,
    parking::Deadline,
    sync::thread,
    waiter::Node,
    wake::WakeHandle,
};

impl Hall {
    /// Joins the queue for `need` slots (from line L3 on). Returns `None` if the deadline passes first, or the hall
    /// is closed.
    #[cold]
    pub(crate) fn acquire_contended<P: Pool, M: Policy>(
        &self,
        need: u32,
        deadline: Deadline,
    ) -> Option<Word> {
        let free = Op::Read.apply(&self.word) & FREE;
        if deadline.is_now() && P::choose(free, 0, need).is_none() {
            return None;
        }
        // The instruments report only callers that wait.
        let waiting = (!deadline.is_now()).then(|| self.instruments.starts_waiting(need));
        let node = Node::new(need, Some(WakeHandle::Thread(thread::current())));
        let take = NativeEnvironment::new(self, deadline).wait::<P, M>(&node);
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

    /// Serves the waiters after a slot was released (from line L5 on).
    #[cold]
    pub(crate) fn release_contended<P: Pool, M: Policy>(&self) {
        let mut environment = NativeEnvironment::new(self, Deadline::Never);
        environment.work::<P, M>(Stage::Lock(Job::Serve(After::Leave)));
        if environment.woke_a_thread {
            // Let the woken thread run, in case it waits for this core. Without this yield, this thread would often
            // ask for the next slot while the woken thread has its slot but does not run yet. Then this thread would
            // have to queue, and soon every caller would queue: each pass would cost a sleep and a wake-up. With
            // the yield, the queue becomes empty.
            thread::yield_now();
        }
    }

    /// Resizes or closes the hall.
    pub(crate) fn manage(&self, job: Job) {
        let mut environment = NativeEnvironment::new(self, Deadline::Never);
        by_mode!(self.mode, environment.work(Stage::Lock(job)));
    }

    /// Resizes the hall to a number of slots that depends on its present number.
    pub(crate) fn manage_relatively<E>(
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

    /// Runs the machine for the node of a future.
    ///
    /// # Safety
    /// The conditions of [`NativeEnvironment::run`] hold.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn run(&self, node: &Node, deadline: Deadline, at: Stage, stop: Stop) -> End {
        let mut environment = NativeEnvironment::new(self, deadline);
        // SAFETY: the caller's promise.
        unsafe { by_mode!(self.mode, environment.run(node.into(), at, stop)) }
    }

    /// Replaces the wake handle of a node that is or was in the queue.
    pub(crate) fn replace_handle(&self, node: &Node, handle: WakeHandle) {
        let mut environment = NativeEnvironment::new(self, Deadline::Never);
        by_mode!(self.mode, environment.replace_handle(node, handle));
    }
}
