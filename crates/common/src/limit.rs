//! Time limits of callers that wait.

use std::time::{Duration, Instant};

/// How long a caller is willing to wait for a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The caller does not wait.
    Now,
    /// The caller waits until this moment.
    Until(Instant),
    /// The caller waits without a limit.
    Never,
}

impl Limit {
    /// Returns a limit that is `time` from now. Returns [`Limit::Never`] if no [`Instant`] can be that far away.
    pub fn after(time: Duration) -> Self {
        Instant::now().checked_add(time).map_or(Limit::Never, Limit::Until)
    }

    /// Returns `true` if the time to wait is over.
    pub fn is_over(self) -> bool {
        match self {
            Limit::Now => true,
            Limit::Until(until) => until <= Instant::now(),
            Limit::Never => false,
        }
    }

    /// Returns how much time is left, or `None` if there is no limit.
    pub fn remaining(self) -> Option<Duration> {
        match self {
            Limit::Now => Some(Duration::ZERO),
            Limit::Until(until) => Some(until.saturating_duration_since(Instant::now())),
            Limit::Never => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_too_far_away_to_be_an_instant_is_never() {
        assert_eq!(Limit::after(Duration::MAX), Limit::Never);
        assert!(!Limit::Never.is_over());
        assert_eq!(Limit::Never.remaining(), None);
    }

    #[test]
    fn a_limit_of_now_is_over_immediately() {
        assert!(Limit::Now.is_over() && Limit::after(Duration::ZERO).is_over());
        assert_eq!(Limit::Now.remaining(), Some(Duration::ZERO));
        assert_eq!(Limit::after(Duration::ZERO).remaining(), Some(Duration::ZERO));
    }

    #[test]
    fn a_limit_in_an_hour_is_not_over_and_returns_the_remaining_time() {
        let hour = Duration::from_secs(3600);
        let limit = Limit::after(hour);
        assert!(!limit.is_over());
        assert!(limit.remaining().is_some_and(|left| left <= hour && left > hour / 2));
    }
}
