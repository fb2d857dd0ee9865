//! Counts waiters (feature `metrics`).

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use crate::{hall::Hall, instruments::Outcome};

/// Counts of a hall's waiters, returned by [`Hall::metrics`].
///
/// A caller is counted if it called a method that waits and did not get its slots immediately. Calls that find a slot
/// free are not counted. Calls of [`try_acquire`](Hall::try_acquire) and of the other methods that do not wait are
/// never counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Metrics {
    /// The number of callers that joined the queue.
    pub queued: u64,
    /// The number of callers in `queued` that got their slots.
    pub granted: u64,
    /// The number of callers in `queued` that gave up at their deadline.
    pub timed_out: u64,
    /// The number of callers in `queued` whose future was dropped before it completed.
    pub cancelled: u64,
    /// The number of callers in `queued` that failed because the hall was closed.
    pub turned_away: u64,
    /// The total time that the callers in `queued` have waited, however the wait ended. It does not include callers
    /// that still wait.
    pub waited: Duration,
    /// The longest of these waits.
    pub longest: Duration,
}

/// The counts of a hall.
///
/// ORDERING: Relaxed, because no code depends on these counts.
pub(crate) struct Counters {
    queued: AtomicU64,
    /// The number of waits that have ended, by outcome.
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

    /// Counts a caller that joins the queue.
    pub(crate) fn count_queued(&self) {
        self.queued.fetch_add(1, Relaxed);
    }

    /// Counts a wait that has ended after the time `waited`.
    pub(crate) fn count_ended(&self, outcome: Outcome, waited: Duration) {
        // A `u64` can hold 500 years in nanoseconds.
        let nanoseconds = waited.as_nanos() as u64;
        self.waited.fetch_add(nanoseconds, Relaxed);
        self.longest.fetch_max(nanoseconds, Relaxed);
        self.ended[outcome as usize].fetch_add(1, Relaxed);
    }
}

impl Hall {
    /// Returns how many callers have waited, how their waits ended, and how long they took.
    ///
    /// The counts are read one after another while other callers continue, so they may not add up exactly.
    /// Callers that still wait are counted only in `queued`.
    ///
    /// ```
    /// # use hallpass_threads as hallpass;
    /// use hallpass::Hall;
    /// # use std::time::Duration;
    /// let hall = Hall::new(1);
    /// let pass = hall.acquire()?; // does not wait
    /// assert!(hall.try_acquire_for(Duration::from_millis(1)).is_err());
    /// let metrics = hall.metrics();
    /// assert_eq!((metrics.queued, metrics.granted, metrics.timed_out), (1, 0, 1));
    /// assert!(metrics.longest >= Duration::from_millis(1));
    /// # Ok::<(), hallpass_threads::AcquireError>(())
    /// ```
    pub fn metrics(&self) -> Metrics {
        let counters = &self.instruments.counters;
        let ended = |outcome: Outcome| counters.ended[outcome as usize].load(Relaxed);
        Metrics {
            granted: ended(Outcome::Granted),
            timed_out: ended(Outcome::TimedOut),
            cancelled: ended(Outcome::Cancelled),
            turned_away: ended(Outcome::TurnedAway),
            waited: Duration::from_nanos(counters.waited.load(Relaxed)),
            longest: Duration::from_nanos(counters.longest.load(Relaxed)),
            // This count is read last, so that it is at least the number of waits that have ended.
            queued: counters.queued.load(Relaxed),
        }
    }
}
