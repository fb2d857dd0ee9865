//! Time as it passes for one machine.

use std::{fmt, fs, sync::Arc, time::Duration};

use rustix::time::{ClockId, clock_gettime};

/// What a holder, and who follows one, measures time by: how long ago some moment was. The real one goes on
/// while the machine sleeps. Only its rate matters: rates that differ by no more than a tenth are
/// allowed for.
#[derive(Clone)]
pub struct Clock {
    now: Arc<dyn Fn() -> Duration + Send + Sync>,
    id: Arc<str>,
}

impl Clock {
    /// Another clock, for tests.
    pub fn from_fn(now: impl Fn() -> Duration + Send + Sync + 'static) -> Clock {
        Clock { now: Arc::new(now), id: format!("{:016x}", fastrand::u64(..)).into() }
    }

    /// The time since some moment in the past.
    pub fn now(&self) -> Duration {
        (self.now)()
    }

    /// What other processes know it by that have the same one.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

impl Default for Clock {
    /// The machine's, which counts from when it was started.
    fn default() -> Self {
        let clock = Clock::from_fn(|| {
            let now = clock_gettime(ClockId::Boottime);
            Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
        });
        match fs::read_to_string("/proc/sys/kernel/random/boot_id") {
            Ok(id) => Clock { id: id.trim().into(), ..clock },
            Err(_) => clock,
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({:?})", self.now())
    }
}
