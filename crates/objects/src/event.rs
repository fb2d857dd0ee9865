//! Threads sleep until an event is notified or a time limit passes.
//!
//! No thread depends on a notification, because the thread that should send it may have stopped. So
//! every sleep has a time limit, and a notification only ends the sleep sooner.

use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    time::Duration,
};

/// An event for which threads wait. It counts its notifications.
pub(crate) struct Event(AtomicU32);

impl Event {
    pub(crate) const fn new() -> Self {
        Event(AtomicU32::new(0))
    }

    /// Returns the number of notifications so far, to be passed to [`wait`](Event::wait).
    pub(crate) fn count(&self) -> u32 {
        self.0.load(SeqCst)
    }

    /// Sleeps until a notification after `count`, but at most for `at_most`. A notification between the
    /// call of [`count`](Event::count) and this call is not missed.
    pub(crate) fn wait(&self, count: u32, at_most: Duration) {
        sys::wait(&self.0, count, at_most);
    }

    /// Wakes one waiting thread.
    pub(crate) fn notify_one(&self) {
        self.0.fetch_add(1, SeqCst);
        sys::wake(&self.0, 1);
    }

    /// Wakes all waiting threads.
    pub(crate) fn notify_all(&self) {
        self.0.fetch_add(1, SeqCst);
        sys::wake(&self.0, i32::MAX as u32);
    }
}

#[cfg(target_os = "linux")]
mod sys {
    use std::{sync::atomic::AtomicU32, time::Duration};

    use rustix::{
        thread::futex::{self, Flags},
        time::Timespec,
    };

    pub(super) fn wait(word: &AtomicU32, value: u32, at_most: Duration) {
        let time = Timespec::try_from(at_most).ok();
        // The caller checks again in any case, so the result does not matter.
        let _ = futex::wait(word, Flags::PRIVATE, value, time.as_ref());
    }

    pub(super) fn wake(word: &AtomicU32, threads: u32) {
        let _ = futex::wake(word, Flags::PRIVATE, threads);
    }
}

/// Polls, on systems without futexes.
#[cfg(not(target_os = "linux"))]
mod sys {
    use std::{
        sync::atomic::{AtomicU32, Ordering::SeqCst},
        thread,
        time::Duration,
    };

    const POLL_INTERVAL: Duration = Duration::from_micros(200);

    pub(super) fn wait(word: &AtomicU32, value: u32, at_most: Duration) {
        if word.load(SeqCst) == value {
            thread::sleep(at_most.min(POLL_INTERVAL));
        }
    }

    pub(super) fn wake(_: &AtomicU32, _: u32) {}
}
