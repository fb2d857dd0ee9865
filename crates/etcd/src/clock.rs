//! Time as it passes for one machine.

use std::{fmt, sync::Arc, time::Duration};

use rustix::time::{ClockId, clock_gettime};

/// What a holder, and who follows one, measures time by: how long ago some moment was. The real one goes on
/// while the machine sleeps. Only its rate matters: rates that differ by no more than a tenth are
/// allowed for.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl Clock {
    /// Another clock, for tests.
    pub fn from_fn(now: impl Fn() -> Duration + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    /// The time since some moment in the past.
    pub fn now(&self) -> Duration {
        (self.0)()
    }
}

impl Default for Clock {
    fn default() -> Self {
        Clock::from_fn(|| {
            let now = clock_gettime(ClockId::Boottime);
            Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
        })
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({:?})", self.now())
    }
}
