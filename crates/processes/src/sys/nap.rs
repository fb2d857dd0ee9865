//! Naps: short sleeps on a word that processes share. Another process ends a nap by one system call.

use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    time::Duration,
};

use rustix::thread::futex::{self, Flags};

const AWAKE: u32 = 0;
const NAPPING: u32 = 1;

/// Sleeps until another process calls [`end`], for at most `time`. First announces the nap to other processes, and then
/// calls `is_wanted`. If that returns `false`, does not sleep.
pub(crate) fn take(nap: &AtomicU32, time: Duration, is_wanted: impl Fn() -> bool) {
    nap.store(NAPPING, SeqCst);
    if is_wanted() {
        // A signal also ends the nap; the caller looks again in any case.
        let _ = futex::wait(nap, Flags::empty(), NAPPING, time.try_into().ok().as_ref());
    }
    nap.store(AWAKE, SeqCst);
}

/// Ends the nap of the process that has this word, if it naps.
pub(crate) fn end(nap: &AtomicU32) {
    if nap.load(SeqCst) == NAPPING && nap.swap(AWAKE, SeqCst) == NAPPING {
        let _ = futex::wake(nap, Flags::empty(), 1);
    }
}
