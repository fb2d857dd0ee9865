//! Tells of those who wait: counts them (feature `metrics`), reports them (feature `tracing`).
//!
//! Everything here is called before somebody joins the queue or after it has left it, never with the
//! lock, and never by those who do not have to wait. Without these features nothing of it is left.

#[cfg(any(feature = "metrics", feature = "tracing"))]
use std::time::Instant;

/// Somebody waits.
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

/// What a hall knows about those who waited.
pub(crate) struct Watch {
    #[cfg(feature = "metrics")]
    pub(crate) counters: crate::metrics::Counters,
}

impl Watch {
    pub(crate) const fn new() -> Self {
        Watch {
            #[cfg(feature = "metrics")]
            counters: crate::metrics::Counters::new(),
        }
    }

    /// Somebody is about to wait for so many slots.
    #[cfg_attr(not(feature = "tracing"), allow(unused_variables))]
    pub(crate) fn queues(&self, need: u32) -> Waiting {
        #[cfg(feature = "metrics")]
        self.counters.queues();
        #[cfg(feature = "tracing")]
        report(|| tracing::trace!(target: "hallpass", hall = ?self.id(), need, "queues"));
        Waiting {
            #[cfg(feature = "tracing")]
            need,
            #[cfg(any(feature = "metrics", feature = "tracing"))]
            since: Instant::now(),
        }
    }

    /// It waits no longer.
    #[cfg_attr(not(any(feature = "metrics", feature = "tracing")), allow(unused_variables))]
    pub(crate) fn ends(&self, waiting: Waiting, outcome: Outcome) {
        #[cfg(any(feature = "metrics", feature = "tracing"))]
        let waited = waiting.since.elapsed();
        #[cfg(feature = "metrics")]
        self.counters.ends(outcome, waited);
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

    /// What tells halls apart that are not moved meanwhile.
    #[cfg(feature = "tracing")]
    fn id(&self) -> *const Self {
        self
    }
}

/// A subscriber is somebody else's code, and may panic: that must not lose a slot.
#[cfg(feature = "tracing")]
fn report(event: impl FnOnce()) {
    let reported = std::panic::catch_unwind(std::panic::AssertUnwindSafe(event));
    reported.unwrap_or_else(std::mem::forget);
}
