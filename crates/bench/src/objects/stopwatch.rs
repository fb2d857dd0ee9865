//! The longest operation of a thread.
//!
//! A thread that is paused or loses its core inside an operation takes long for it, whatever the object does.
//! Such operations do not count: the longest operation that counts shows what the object does to a thread
//! when *another* one is paused.

use std::time::{Duration, Instant};

use super::{preempt, stage::Worker};

/// Operations that take longer are examined. The system lets a thread run for longer than this at a time.
const LONG: Duration = Duration::from_micros(500);

/// Times the operations of one thread, one after the other.
#[derive(Debug)]
pub struct Stopwatch<'a> {
    worker: &'a Worker,
    begun: Instant,
    longest: Duration,
    interruptions: Interruptions,
}

/// Counts of the interruptions of a thread so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Interruptions {
    pauses: u32,
    switches: u64,
}

impl Interruptions {
    fn of(worker: &Worker) -> Self {
        Interruptions { pauses: worker.pauses(), switches: preempt::involuntary_switches() }
    }

    /// The number of pauses is odd during a pause.
    fn is_pause(self) -> bool {
        !self.pauses.is_multiple_of(2)
    }
}

impl<'a> Stopwatch<'a> {
    /// Starts with the first operation of this thread.
    pub fn start(worker: &'a Worker) -> Self {
        let interruptions = Interruptions::of(worker);
        Stopwatch { worker, begun: Instant::now(), longest: Duration::ZERO, interruptions }
    }

    /// Ends an operation; the next one begins.
    pub fn lap(&mut self) {
        let now = Instant::now();
        let time = now - self.begun;
        self.begun = now;
        if time <= LONG {
            self.longest = self.longest.max(time);
            return;
        }
        if !self.was_interrupted() {
            self.longest = self.longest.max(time);
        }
        // Examining it took time, which is not part of the next operation.
        self.begun = Instant::now();
    }

    /// Returns the longest operation that was not interrupted.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// Returns `true` if the thread was paused or lost its core since the last long operation.
    fn was_interrupted(&mut self) -> bool {
        let now = Interruptions::of(self.worker);
        let before = std::mem::replace(&mut self.interruptions, now);
        now != before || now.is_pause()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const NAP: Duration = Duration::from_millis(5);

    #[test]
    fn an_operation_that_waits_counts_and_one_that_is_paused_does_not() {
        let worker = Worker::default();
        let mut paused = Stopwatch::start(&worker);
        worker.count_pause();
        thread::sleep(NAP);
        worker.count_pause();
        paused.lap();
        assert_eq!(paused.longest(), Duration::ZERO);
        // A busy machine may take the core from this thread when it wakes up; then it waits once more.
        let mut waiting = Stopwatch::start(&worker);
        while waiting.longest() < NAP {
            thread::sleep(NAP);
            waiting.lap();
        }
    }
}
