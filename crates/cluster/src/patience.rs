//! The time limit for an answer.
//!
//! A member that does not answer soon may be stuck, and a holder must be able to ask another member in time. But in a
//! slow network all members are slow. So the limit grows when answers are late, and shrinks when they are quick.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The current time limit for an answer.
pub(crate) struct Patience {
    least: Duration,
    most: Duration,
    limit: Mutex<Duration>,
}

impl Patience {
    pub(crate) fn new([least, most]: [Duration; 2]) -> Self {
        let most = most.max(least);
        Patience { least, most, limit: Mutex::new(least) }
    }

    /// Returns the time limit for the next answer.
    pub(crate) fn limit(&self) -> Duration {
        *self.lock()
    }

    /// Notes that an answer arrived within this time.
    pub(crate) fn answered_within(&self, time: Duration) {
        *self.lock() = time.saturating_mul(4).clamp(self.least, self.most);
    }

    /// Notes that other answers probably arrive within this time. Never shortens the limit.
    #[cfg(feature = "postgres")]
    pub(crate) fn expect_answers_within(&self, time: Duration) {
        let mut now = self.lock();
        *now = time.saturating_mul(4).clamp(*now, self.most);
    }

    /// Notes that an answer did not arrive within this limit.
    pub(crate) fn not_answered_within(&self, limit: Duration) {
        let mut now = self.lock();
        // Calls that were made at the same time are late at the same time. The limit grows only once for them.
        if *now <= limit {
            *now = limit.saturating_mul(2).min(self.most);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Duration> {
        self.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_grows_with_late_answers_and_shrinks_with_quick_ones() {
        let seconds = Duration::from_secs;
        let patience = Patience::new([seconds(2), seconds(10)]);
        assert_eq!(patience.limit(), seconds(2));
        patience.not_answered_within(seconds(2));
        patience.not_answered_within(seconds(2));
        assert_eq!(patience.limit(), seconds(4), "both were late at the same time");
        patience.not_answered_within(seconds(4));
        patience.not_answered_within(seconds(8));
        assert_eq!(patience.limit(), seconds(10));
        patience.answered_within(seconds(1));
        assert_eq!(patience.limit(), seconds(4));
        patience.answered_within(Duration::from_millis(1));
        assert_eq!(patience.limit(), seconds(2));
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn a_guess_only_extends_the_limit() {
        let seconds = Duration::from_secs;
        let patience = Patience::new([seconds(2), seconds(10)]);
        for (guess, limit) in [(0, 2), (1, 4), (0, 4), (60, 10), (1, 10)] {
            patience.expect_answers_within(seconds(guess));
            assert_eq!(patience.limit(), seconds(limit));
        }
    }
}
