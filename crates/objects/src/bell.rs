//! How one sleeps until somebody rings, or for a while.
//!
//! Nobody depends on being rung for: who should ring may have stopped. So all sleep has an end, and a
//! ring only makes it come sooner.

use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    time::Duration,
};

/// Counts how often it was rung.
pub(crate) struct Bell(AtomicU32);

impl Bell {
    pub(crate) const fn new() -> Self {
        Bell(AtomicU32::new(0))
    }

    /// What to tell [`sleep`](Bell::sleep): then nothing that happens in between is missed.
    pub(crate) fn count(&self) -> u32 {
        self.0.load(SeqCst)
    }

    /// Sleeps at most so long, and no longer than until the next ring after `count`.
    pub(crate) fn sleep(&self, count: u32, at_most: Duration) {
        sys::wait(&self.0, count, at_most);
    }

    /// Wakes one, or all.
    pub(crate) fn ring(&self, all: bool) {
        self.0.fetch_add(1, SeqCst);
        sys::wake(&self.0, all);
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
        // Whatever it says, who has slept looks again.
        let _ = futex::wait(word, Flags::PRIVATE, value, time.as_ref());
    }

    pub(super) fn wake(word: &AtomicU32, all: bool) {
        let _ = futex::wake(word, Flags::PRIVATE, if all { i32::MAX as u32 } else { 1 });
    }
}

/// Without futexes one looks again every now and then.
#[cfg(not(target_os = "linux"))]
mod sys {
    use std::{
        sync::atomic::{AtomicU32, Ordering::SeqCst},
        thread,
        time::Duration,
    };

    const NOW_AND_THEN: Duration = Duration::from_micros(200);

    pub(super) fn wait(word: &AtomicU32, value: u32, at_most: Duration) {
        if word.load(SeqCst) == value {
            thread::sleep(at_most.min(NOW_AND_THEN));
        }
    }

    pub(super) fn wake(_: &AtomicU32, _: bool) {}
}
