//! The longest operation of a thread.
//!
//! An operation is slow if its thread is paused or has no core, whatever the object does. So operations during
//! which the thread itself was paused do not count, and the time for which the thread was ready to run but had no
//! core is subtracted. The longest operation then shows how the object delays a thread while *another* thread is
//! paused.

use std::time::{Duration, Instant};

use super::{preempt, stage::Worker};

/// Operations that take longer than this are examined.
const LONG: Duration = Duration::from_micros(500);

/// Times the operations of one thread, one after the other.
#[derive(Debug)]
pub struct Stopwatch<'a> {
    worker: &'a Worker,
    begun: Instant,
    longest: Duration,
    /// The worker's count of pauses when the last operation was examined.
    pauses: u32,
    /// The thread's total time without a core when the last operation was examined.
    without_core: Duration,
}

impl<'a> Stopwatch<'a> {
    /// Starts the stopwatch with the first operation of this thread.
    pub fn start(worker: &'a Worker) -> Self {
        let (pauses, without_core) = (worker.pauses(), preempt::time_without_core());
        Stopwatch { worker, begun: Instant::now(), longest: Duration::ZERO, pauses, without_core }
    }

    /// Ends an operation and begins the next one.
    pub fn lap(&mut self) {
        let now = Instant::now();
        let time = now - self.begun;
        self.begun = now;
        if time <= LONG {
            self.longest = self.longest.max(time);
            return;
        }
        if let Some(time) = self.examine(time) {
            self.longest = self.longest.max(time);
        }
        // The examination took time, which is not part of the next operation.
        self.begun = Instant::now();
    }

    /// Returns the longest operation.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// Subtracts the time without a core since the last long operation. Returns `None` if the thread was paused since
    /// then. It was paused if the number of pauses has changed or is odd, because the number is odd during a pause.
    fn examine(&mut self, time: Duration) -> Option<Duration> {
        let (pauses, without_core) = (self.worker.pauses(), preempt::time_without_core());
        let was_paused = pauses != self.pauses || !pauses.is_multiple_of(2);
        let waited = without_core.saturating_sub(self.without_core);
        (self.pauses, self.without_core) = (pauses, without_core);
        (!was_paused).then(|| time.saturating_sub(waited))
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
        let mut waiting = Stopwatch::start(&worker);
        thread::sleep(NAP);
        waiting.lap();
        // The two times come from clocks that differ a little.
        assert!(waiting.longest() > NAP / 2, "{:?}", waiting.longest());
    }
}
