//! The coarse clock.

use rustix::time::{ClockId, clock_gettime};

/// Returns the nanoseconds since 1970, exact to a few milliseconds. Takes a few nanoseconds.
#[inline]
pub(crate) fn coarse_now() -> i64 {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    now.tv_sec.wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec)
}
