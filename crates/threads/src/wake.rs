//! Handles that wake waiters.

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    task::Waker,
};

use crate::sync::Thread;

/// Wakes a waiter: unparks its thread, or wakes its task.
pub(crate) enum WakeHandle {
    Thread(Thread),
    Task(Waker),
}

/// Tasks to wake, in this order. A list of one task needs no allocation.
pub(crate) struct WakeList {
    first: Option<Waker>,
    more: Vec<Waker>,
}

impl WakeList {
    pub(crate) const fn new() -> Self {
        WakeList { first: None, more: Vec::new() }
    }

    pub(crate) fn push(&mut self, waker: Waker) {
        if self.first.is_none() {
            self.first = Some(waker);
        } else {
            self.more.push(waker);
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Wakes all tasks.
    #[inline]
    pub(crate) fn wake_all(&mut self) {
        let Some(first) = self.first.take() else { return };
        wake(first);
        if !self.more.is_empty() {
            mem::take(&mut self.more).into_iter().for_each(wake);
        }
    }
}

/// Wakes a task.
///
/// A waker is foreign code and may panic. The panic hook reports the panic, and this function catches it. The panic
/// must not unwind further, because the caller may have a node in the queue, and may have grants to make.
fn wake(waker: Waker) {
    let woken = catch_unwind(AssertUnwindSafe(|| waker.wake()));
    woken.unwrap_or_else(mem::forget); // dropping the payload may panic again
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::{
        mem,
        pin::Pin,
        sync::{Arc, Mutex},
        task::{Context, Wake, Waker},
        thread,
        time::{Duration, Instant},
    };

    use hallpass_algorithms::Op;

    use crate::{AcquireOwned, Hall, OwnedPass};

    /// A waker that frees two slots, and then closes the hall.
    struct Closes {
        hall: Arc<Hall>,
        kept: Mutex<Option<(Pin<Box<AcquireOwned>>, OwnedPass)>>,
    }

    impl Wake for Closes {
        fn wake(self: Arc<Self>) {
            drop(self.kept.lock().unwrap().take());
            self.hall.close();
        }
    }

    /// A thread in the queue may admit a task, and then it runs the waker of this task. Meanwhile, no caller may make
    /// the thread the *server* (the holder of the queue's lock): if the waker closes the hall, it waits until there is
    /// no server, so it would wait for its own thread.
    #[test]
    fn a_thread_that_runs_a_waker_does_not_become_the_server() {
        for limit in [0, 8] {
            let hall = Arc::new(Hall::builder(2).bypass(limit).build().unwrap());
            mem::forget(hall.try_acquire().unwrap());
            let held = hall.try_acquire_owned().unwrap();
            let closes = Arc::new(Closes { hall: Arc::clone(&hall), kept: Mutex::default() });
            let waker = Waker::from(Arc::clone(&closes));
            let mut task = Box::pin(hall.acquire_owned_async());
            assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            *closes.kept.lock().unwrap() = Some((task, held));
            // A holder has put back slot 0 (line X1) and pauses before it serves (line L5).
            Op::FetchAdd(1).apply(&hall.word);
            let visitor = thread::spawn({
                let hall = Arc::clone(&hall);
                move || hall.acquire_many(2).map(|passes| passes.len())
            });
            let end = Instant::now() + Duration::from_secs(60);
            while !visitor.is_finished() {
                assert!(Instant::now() < end, "the thread waits for itself");
                thread::yield_now();
            }
            assert_eq!(visitor.join().unwrap(), Ok(2));
            assert_eq!((hall.available(), hall.waiting()), (2, 0));
        }
    }
}
