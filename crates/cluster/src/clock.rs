//! The clock of a machine.

use std::{fmt, fs, sync::Arc, time::Duration};

use rustix::time::{ClockId, clock_gettime};

/// Measures how much time has passed on one machine.
///
/// Holders and waiters compare durations only, so the time of day does not matter. The clock of each machine may run up
/// to a tenth too fast or too slow. The default clock keeps running while the machine sleeps.
///
/// ```
/// use hallpass_cluster::Clock;
///
/// let clock = Clock::default();
/// let earlier = clock.now();
/// assert!(clock.now() >= earlier);
/// ```
#[derive(Clone)]
pub struct Clock {
    now: Arc<dyn Fn() -> Duration + Send + Sync>,
    id: Arc<str>,
}

impl Clock {
    /// Makes a clock from a function, for tests.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let clock = hallpass_cluster::Clock::from_fn(|| Duration::from_secs(5));
    /// assert_eq!(clock.now(), Duration::from_secs(5));
    /// ```
    pub fn from_fn(now: impl Fn() -> Duration + Send + Sync + 'static) -> Clock {
        Clock { now: Arc::new(now), id: format!("{:016x}", fastrand::u64(..)).into() }
    }

    /// Returns the time since some fixed moment in the past.
    pub fn now(&self) -> Duration {
        (self.now)()
    }

    /// Returns the identity of the clock. For the default clock, this is the boot id and the time namespace. All
    /// processes of a machine share them, except processes in a container that has a separate clock. A clock that is
    /// made from a function has a random identity.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

impl Default for Clock {
    /// Returns the machine's clock, which counts from boot.
    fn default() -> Self {
        let clock = Clock::from_fn(|| {
            let now = clock_gettime(ClockId::Boottime);
            Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
        });
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
        // The link is like `time:[4026531834]`. A kernel without time namespaces has only one clock.
        let namespace = fs::read_link("/proc/self/ns/time").unwrap_or_default();
        let is_digit = |c: &char| c.is_ascii_digit();
        let namespace: String = namespace.to_string_lossy().chars().filter(is_digit).collect();
        match boot {
            Ok(boot) => Clock { id: format!("{}-{namespace}", boot.trim()).into(), ..clock },
            Err(_) => clock,
        }
    }
}

#[cfg(test)]
impl Clock {
    /// Returns a clock with the same identity that shows a later time.
    pub(crate) fn ahead_by(&self, time: Duration) -> Clock {
        let clock = self.clone();
        Clock { now: Arc::new(move || clock.now() + time), id: self.id.clone() }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({:?})", self.now())
    }
}
