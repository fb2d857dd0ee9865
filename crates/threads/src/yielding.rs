//! Yielding the core to other threads, as long as that is cheap.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::{Duration, Instant},
};

use crate::sync::thread;

/// The number of yields that a thread skips after the first slow yield.
const FIRST_BREAK: u32 = 64;

/// Each short yield makes later breaks shorter by 1/`PARTS` of their length.
const PARTS: u32 = 64;

/// Decides whether a thread yields. All threads of the process share this value. There is one value for the yield
/// before a thread [parks](crate::parking), and one for the yield at the end of a [turn](crate::rotation).
///
/// If only the threads of a hall share the cores, a yield is short. If another program keeps the cores busy, a yield is
/// *slow*: the other program gets a whole time slice. After a slow yield, the thread takes a break: it does not yield
/// for a while. Each slow yield of any thread doubles the length of later breaks, and each short yield makes later
/// breaks a little shorter. So a single slow yield costs little, and while another program keeps the cores busy, slow
/// yields are rare.
pub(crate) struct Yields {
    /// A yield that takes longer than this is slow.
    slow: Duration,
    /// The length of the longest break: the number of yields that the thread skips.
    longest: u32,
    /// The length of the next break. ORDERING: Relaxed, because no other access depends on it. If two threads change it
    /// at the same time, one of the two changes may be lost.
    next: AtomicU32,
}

impl Yields {
    pub(crate) const fn new(slow: Duration, longest: u32) -> Self {
        Yields { slow, longest, next: AtomicU32::new(FIRST_BREAK) }
    }

    /// Lets other threads run, unless this thread takes a break. Returns whether it let them run. `left` is the number
    /// of yields that this thread still skips.
    pub(crate) fn yield_core(&self, left: &Cell<u32>) -> bool {
        if left.get() > 0 {
            left.set(left.get() - 1);
            return false;
        }
        let begun = Instant::now();
        thread::yield_now();
        left.set(self.length_of_break(begun.elapsed()));
        true
    }

    /// Returns the length of the break after a yield that took this time, and adapts later breaks.
    fn length_of_break(&self, took: Duration) -> u32 {
        let length = self.next.load(Relaxed);
        let slow = took > self.slow;
        let next = if slow { length.saturating_mul(2) } else { length - length / PARTS };
        self.next.store(next.clamp(FIRST_BREAK, self.longest), Relaxed);
        if slow { length } else { 0 }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn slow_yields_make_later_breaks_longer_and_short_yields_make_them_shorter() {
        let (short, slow) = (Duration::from_millis(1), Duration::from_millis(3));
        let yields = Yields::new(Duration::from_millis(2), 500);
        for expected in [64, 128, 256, 500, 500] {
            assert_eq!(yields.length_of_break(slow), expected);
        }
        assert_eq!(yields.length_of_break(short), 0);
        assert_eq!(yields.length_of_break(slow), 493);
        (0..1000).for_each(|_| assert_eq!(yields.length_of_break(short), 0));
        assert_eq!(yields.length_of_break(slow), 64);
    }

    #[test]
    fn a_thread_yields_again_after_its_break() {
        let yields = Yields::new(Duration::MAX, 500);
        let left = Cell::new(3);
        let yielded: Vec<bool> = (0..5).map(|_| yields.yield_core(&left)).collect();
        assert_eq!(yielded, [false, false, false, true, true]);
    }
}
