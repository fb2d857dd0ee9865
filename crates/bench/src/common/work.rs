//! Work of a known length: a loop that the compiler cannot shorten and that accesses no shared memory.

use std::{hint::black_box, sync::OnceLock, time::Instant};

/// Work of a known length: a number of turns of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    turns: u64,
}

impl Work {
    /// No work at all.
    pub const NONE: Work = Work { turns: 0 };

    /// Creates work that takes about this many nanoseconds on this machine.
    pub fn of_nanos(nanos: u64) -> Self {
        Work { turns: (nanos as f64 / nanos_per_turn()).round() as u64 }
    }

    /// Does the work.
    #[inline]
    pub fn run(self) {
        let mut state = self.turns;
        for _ in 0..self.turns {
            state = black_box(state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1));
        }
    }
}

/// Returns the time of a turn, which is measured once. The fastest of several tries counts, because every
/// disturbance makes a try slower.
fn nanos_per_turn() -> f64 {
    const TURNS: u64 = 20_000;
    const TRIES: usize = 50;
    static NANOS: OnceLock<f64> = OnceLock::new();
    *NANOS.get_or_init(|| {
        let take = |_| {
            let begun = Instant::now();
            Work { turns: TURNS }.run();
            begun.elapsed().as_nanos() as f64 / TURNS as f64
        };
        // A coarse clock may measure 0. The lower bound keeps the number of turns finite.
        (0..TRIES).map(take).fold(f64::INFINITY, f64::min).max(0.05)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_nanoseconds_are_more_turns() {
        assert_eq!(Work::of_nanos(0), Work::NONE);
        assert!(Work::of_nanos(1_000).turns > Work::of_nanos(100).turns);
    }
}
