//! The tally of a hall: how many runs of `hallpass run` on this machine got a slot, how long they waited for it and
//! held it, and how many runs got no slot or lost theirs. `hallpass metrics` shows the tally.
//!
//! No process of hallpass runs all the time, so these numbers are in a file. The file of a hall of processes is in the
//! directory of the hall. The files of halls on a cluster are in a directory of this machine, and not in the store:
//! counting then costs the store nothing, and a pass that is lost because the store cannot be reached is counted, too.

mod file;

use std::time::Duration;

pub use self::file::TallyFile;

/// The upper limits of the buckets, in seconds. There is one more bucket, for longer times.
pub const LIMITS: [f64; 8] = [0.01, 0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 86400.0];

/// An event that is counted.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A run had a slot, or several slots together.
    Passage {
        waited: Duration,
        held: Duration,
        /// Whether the pass was lost before its command ended.
        lost: bool,
    },
    /// A run got no slot, because of `-n` or `-w`.
    NoSlot,
}

/// The events of a hall on this machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub waits: Times,
    pub holds: Times,
    pub no_slot: u64,
    pub lost: u64,
}

/// Durations, counted in buckets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// The number of durations in each bucket. The last bucket contains the durations above all [`LIMITS`].
    buckets: [u64; LIMITS.len() + 1],
    /// The sum of all durations, in microseconds.
    sum: u64,
}

impl Tally {
    fn count(&mut self, event: Event) {
        match event {
            Event::Passage { waited, held, lost } => {
                self.waits.add(waited);
                self.holds.add(held);
                self.lost = self.lost.saturating_add(u64::from(lost));
            }
            Event::NoSlot => self.no_slot = self.no_slot.saturating_add(1),
        }
    }
}

/// Parses the bytes as the file of a tally, counts events, and parses the new contents of the file.
///
/// # Panics
/// Panics if the new contents do not include the counted events. This is a bug in hallpass.
#[cfg(feature = "fuzzing")]
pub fn fuzz(bytes: &[u8]) {
    let Some(mut tally) = file::parse(bytes) else { return };
    tally.count(Event::NoSlot);
    tally.count(Event::Passage { waited: Duration::ZERO, held: Duration::MAX, lost: true });
    assert!(tally.waits.cumulative().is_sorted() && tally.holds.cumulative().is_sorted());
    assert_eq!(file::parse(file::written(&tally).as_bytes()), Some(tally));
}

impl Times {
    fn add(&mut self, time: Duration) {
        let seconds = time.as_secs_f64();
        let bucket = LIMITS.iter().position(|limit| seconds <= *limit).unwrap_or(LIMITS.len());
        self.buckets[bucket] = self.buckets[bucket].saturating_add(1);
        self.sum = self.sum.saturating_add(time.as_micros() as u64);
    }

    /// Returns for each of [`LIMITS`] the number of durations that are not longer, and then the number of all
    /// durations.
    pub fn cumulative(&self) -> impl Iterator<Item = u64> {
        self.buckets.iter().scan(0_u64, |sum, count| {
            *sum = sum.saturating_add(*count);
            Some(*sum)
        })
    }

    /// Returns the sum of all durations, in seconds.
    pub fn seconds(&self) -> f64 {
        self.sum as f64 / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_in_every_bucket_that_is_long_enough() {
        let mut times = Times::default();
        for millis in [0, 10, 11, 5_000, 90_000_000] {
            times.add(Duration::from_millis(millis));
        }
        assert!(times.cumulative().eq([2, 3, 3, 4, 4, 4, 4, 4, 5]));
        assert_eq!(times.seconds(), 90_005.021);
    }
}
