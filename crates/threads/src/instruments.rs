//! Observes waiters: counts them (feature `metrics`), and reports them (feature `tracing`). The feature `tracing` also
//! reports that a hall was resized or closed.
//!
//! Waiters are observed before they join the queue and after they have left it. This code runs neither on the fast path
//! nor in a caller that holds the lock of the queue. Without these features it compiles to nothing.

#[cfg(any(feature = "metrics", feature = "tracing"))]
use std::time::Instant;

/// A waiter that is being observed.
#[derive(Clone, Copy)]
pub(crate) struct Waiting {
    #[cfg(feature = "tracing")]
    need: u32,
    #[cfg(any(feature = "metrics", feature = "tracing"))]
    since: Instant,
}

/// How waiting ended.
#[derive(Clone, Copy)]
#[cfg_attr(not(any(feature = "metrics", feature = "tracing")), allow(dead_code))]
pub(crate) enum Outcome {
    Granted,
    TimedOut,
    /// A future was dropped.
    Cancelled,
    /// The hall is closed.
    TurnedAway,
}

/// The instruments of a hall.
pub(crate) struct Instruments {
    #[cfg(feature = "metrics")]
    pub(crate) counters: crate::metrics::Counters,
}

impl Instruments {
    pub(crate) const fn new() -> Self {
        Instruments {
            #[cfg(feature = "metrics")]
            counters: crate::metrics::Counters::new(),
        }
    }

    /// Records that a caller is about to wait for `need` slots.
    #[cfg_attr(not(feature = "tracing"), allow(unused_variables))]
    pub(crate) fn starts_waiting(&self, need: u32) -> Waiting {
        #[cfg(feature = "metrics")]
        self.counters.count_queued();
        #[cfg(feature = "tracing")]
        report(|| tracing::trace!(target: "hallpass", hall = ?self.id(), need, "queues"));
        Waiting {
            #[cfg(feature = "tracing")]
            need,
            #[cfg(any(feature = "metrics", feature = "tracing"))]
            since: Instant::now(),
        }
    }

    /// Records that a caller has stopped waiting.
    #[cfg_attr(not(any(feature = "metrics", feature = "tracing")), allow(unused_variables))]
    pub(crate) fn stops_waiting(&self, waiting: Waiting, outcome: Outcome) {
        #[cfg(any(feature = "metrics", feature = "tracing"))]
        let waited = waiting.since.elapsed();
        #[cfg(feature = "metrics")]
        self.counters.count_ended(outcome, waited);
        #[cfg(feature = "tracing")]
        report(|| {
            let (hall, need) = (self.id(), waiting.need);
            match outcome {
                Outcome::Granted => {
                    tracing::trace!(target: "hallpass", ?hall, need, ?waited, "granted");
                }
                Outcome::TimedOut => {
                    tracing::debug!(target: "hallpass", ?hall, need, ?waited, "timed out");
                }
                Outcome::Cancelled => {
                    tracing::debug!(target: "hallpass", ?hall, need, ?waited, "cancelled");
                }
                Outcome::TurnedAway => {
                    tracing::debug!(target: "hallpass", ?hall, need, ?waited, "turned away");
                }
            }
        });
    }

    pub(crate) fn closed(&self) {
        #[cfg(feature = "tracing")]
        report(|| tracing::debug!(target: "hallpass", hall = ?self.id(), "closed"));
    }

    #[cfg_attr(not(feature = "tracing"), allow(unused_variables))]
    pub(crate) fn resized(&self, k: usize) {
        #[cfg(feature = "tracing")]
        report(|| tracing::debug!(target: "hallpass", hall = ?self.id(), slots = k, "resized"));
    }

    /// Identifies the hall in reports, as long as it is not moved.
    #[cfg(feature = "tracing")]
    fn id(&self) -> *const Self {
        self
    }
}

/// Reports an event. A subscriber is foreign code and may panic, but a panic must not lose a slot.
#[cfg(feature = "tracing")]
fn report(event: impl FnOnce()) {
    let reported = std::panic::catch_unwind(std::panic::AssertUnwindSafe(event));
    reported.unwrap_or_else(std::mem::forget);
}
