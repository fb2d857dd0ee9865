//! Counts of those who had to wait (feature `metrics`).

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use crate::{hall::Hall, watch::Outcome};

/// What has happened to those who had to wait; see [`Hall::metrics`].
///
/// Counted are those who were willing to wait and did not get in at once. Neither a pass that was free
/// nor an attempt without a time limit leaves a trace here.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Metrics {
    /// How many joined the queue.
    pub queued: u64,
    /// How many of them got in.
    pub granted: u64,
    /// How many of them ran out of time.
    pub timed_out: u64,
    /// How many of them were futures that were dropped.
    pub cancelled: u64,
    /// How many of them found the hall closed.
    pub turned_away: u64,
    /// How long they have waited, all together, however it ended; those who still wait apart.
    pub waited: Duration,
    /// How long one of them has waited at most.
    pub longest: Duration,
}

/// The counts of a hall.
///
/// ORDERING: they are for people to look at, and nothing follows from them; so they are Relaxed.
pub(crate) struct Counters {
    queued: AtomicU64,
    /// By outcome.
    ended: [AtomicU64; 4],
    waited: AtomicU64,
    longest: AtomicU64,
}

impl Counters {
    pub(crate) const fn new() -> Self {
        Counters {
            queued: AtomicU64::new(0),
            ended: [const { AtomicU64::new(0) }; 4],
            waited: AtomicU64::new(0),
            longest: AtomicU64::new(0),
        }
    }

    pub(crate) fn queues(&self) {
        self.queued.fetch_add(1, Relaxed);
    }

    pub(crate) fn ends(&self, outcome: Outcome, waited: Duration) {
        // Nanoseconds of half a millennium fit.
        let nanoseconds = waited.as_nanos() as u64;
        self.waited.fetch_add(nanoseconds, Relaxed);
        self.longest.fetch_max(nanoseconds, Relaxed);
        self.ended[outcome as usize].fetch_add(1, Relaxed);
    }
}

impl Hall {
    /// What has happened so far to those who had to wait. The counts are read one after another, while
    /// others may go on; and whoever was counted as queued may not have ended yet.
    ///
    /// ```
    /// # use hallpass_threads::Hall;
    /// # use std::time::Duration;
    /// let hall = Hall::new(1);
    /// let pass = hall.acquire()?; // did not have to wait
    /// assert!(hall.try_acquire_for(Duration::from_millis(1)).is_err());
    /// let metrics = hall.metrics();
    /// assert_eq!((metrics.queued, metrics.granted, metrics.timed_out), (1, 0, 1));
    /// assert!(metrics.longest >= Duration::from_millis(1));
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    pub fn metrics(&self) -> Metrics {
        let counters = &self.watch.counters;
        let ended = |outcome: Outcome| counters.ended[outcome as usize].load(Relaxed);
        Metrics {
            granted: ended(Outcome::Granted),
            timed_out: ended(Outcome::TimedOut),
            cancelled: ended(Outcome::Cancelled),
            turned_away: ended(Outcome::TurnedAway),
            waited: Duration::from_nanos(counters.waited.load(Relaxed)),
            longest: Duration::from_nanos(counters.longest.load(Relaxed)),
            // Last, so that it is not less than those that have ended.
            queued: counters.queued.load(Relaxed),
        }
    }
}
