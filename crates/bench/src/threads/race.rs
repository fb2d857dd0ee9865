//! Runs threads on one semaphore for some time, and returns one sample.
//!
//! All threads start at a barrier. The warm-up begins when every thread has run, which takes a while on few cores.
//! The measurement begins after the warm-up. The main thread begins and ends the measured interval. A passage
//! counts if it begins within the interval. At most one passage of each thread overlaps the beginning; it does not
//! count. At most one passage of each thread overlaps the end; it counts.

use std::{
    panic,
    sync::{
        Barrier,
        atomic::{
            AtomicU8, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::{Duration, Instant},
};

use hdrhistogram::Histogram;

use super::witness::Witness;
use crate::common::{Padded, Sample, Semaphore, work::Work};

/// The load on the semaphore.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Number of threads.
    pub threads: usize,
    /// Number of slots.
    pub k: usize,
    /// Work inside the critical section.
    pub inside: Work,
    /// Work outside the critical section.
    pub outside: Work,
    /// The length of the measured interval.
    pub time: Duration,
}

impl Load {
    /// Returns the length of the warm-up.
    fn warm_up(&self) -> Duration {
        (self.time / 5).min(Duration::from_millis(20))
    }
}

/// The observations that the threads make, besides counting passages.
#[derive(Clone, Copy, Debug)]
pub enum Observe<'a> {
    /// No observations, so that passages are as fast as possible.
    Nothing,
    /// How long each wait lasts.
    Waits,
    /// The holders and their slots.
    Holders(&'a Witness),
}

/// Runs the threads on `semaphore`, and returns the sample.
pub fn run<S: Semaphore>(semaphore: S, load: &Load, observe: Observe<'_>) -> Sample {
    let semaphore = Padded(semaphore);
    match observe {
        Observe::Nothing => race(&semaphore.0, load, || Nothing),
        Observe::Waits => race(&semaphore.0, load, Stopwatch::new),
        Observe::Holders(witness) => race(&semaphore.0, load, || Witnessing(witness)),
    }
}

const WARMING: u8 = 0;
const MEASURING: u8 = 1;
const OVER: u8 = 2;

/// ORDERING: Relaxed, because the phase only decides whether a passage counts; no other access depends on it.
type Phase = AtomicU8;

fn race<S: Semaphore, W: Observer>(
    semaphore: &S,
    load: &Load,
    observer: impl Fn() -> W + Sync,
) -> Sample {
    let phase = Padded(Phase::new(WARMING));
    let start = Barrier::new(load.threads + 1);
    let running = AtomicUsize::new(0);
    thread::scope(|scope| {
        let thread = |number: usize| {
            let (phase, start, running, observer) = (&phase.0, &start, &running, &observer);
            scope.spawn(move || {
                let mut observer = observer();
                start.wait();
                running.fetch_add(1, SeqCst);
                let passages = passages(semaphore, load, number, phase, &mut observer);
                (passages, observer.waits())
            })
        };
        let threads: Vec<_> = (0..load.threads).map(thread).collect();
        start.wait();
        while running.load(SeqCst) < load.threads {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(load.warm_up());
        let begun = Instant::now();
        phase.0.store(MEASURING, Relaxed);
        thread::sleep(load.time);
        phase.0.store(OVER, Relaxed);
        let wall = begun.elapsed();
        let mut sample = Sample { wall, passages: Vec::new(), waits: None };
        for thread in threads {
            let (passages, waits) = thread.join().unwrap_or_else(|why| panic::resume_unwind(why));
            sample.passages.push(passages);
            sample.waits = match (sample.waits, waits) {
                (Some(all), Some(more)) => Some(all + more),
                (one, other) => one.or(other),
            };
        }
        sample
    })
}

/// Makes passages until the time is over, and returns how many of them count.
fn passages<S: Semaphore>(
    semaphore: &S,
    load: &Load,
    number: usize,
    phase: &Phase,
    observer: &mut impl Observer,
) -> u64 {
    let mut counted = 0;
    loop {
        let now = phase.load(Relaxed);
        if now == OVER {
            return counted;
        }
        observer.asks();
        let guard = semaphore.enter(number);
        observer.enters(S::slot(&guard), phase);
        load.inside.run();
        observer.leaves(S::slot(&guard));
        drop(guard);
        load.outside.run();
        counted += u64::from(now == MEASURING);
    }
}

/// Observations of one thread during its passages.
trait Observer {
    fn asks(&mut self) {}
    fn enters(&mut self, _slot: Option<usize>, _phase: &Phase) {}
    fn leaves(&mut self, _slot: Option<usize>) {}
    fn waits(self) -> Option<Histogram<u64>>
    where
        Self: Sized,
    {
        None
    }
}

struct Nothing;

impl Observer for Nothing {}

struct Witnessing<'a>(&'a Witness);

impl Observer for Witnessing<'_> {
    fn enters(&mut self, slot: Option<usize>, _: &Phase) {
        self.0.enters(slot);
        // If the semaphore is wrong, this gives another thread time to enter.
        thread::yield_now();
    }

    fn leaves(&mut self, slot: Option<usize>) {
        self.0.leaves(slot);
    }
}

/// Records the length of each wait, with three significant digits.
struct Stopwatch {
    asked: Instant,
    waits: Histogram<u64>,
}

impl Stopwatch {
    /// The largest wait that is recorded, in nanoseconds. A longer wait counts as a wait of this length.
    const LONGEST: u64 = 600_000_000_000;
    const DIGITS: u8 = 3;

    fn new() -> Self {
        let waits = Histogram::new_with_bounds(1, Self::LONGEST, Self::DIGITS);
        Stopwatch { asked: Instant::now(), waits: waits.expect("the bounds are valid") }
    }
}

impl Observer for Stopwatch {
    fn asks(&mut self) {
        self.asked = Instant::now();
    }

    /// Records a wait, unless it ended before the measured interval. So if a thread waits during the whole
    /// interval and enters at its end, its long wait is recorded.
    fn enters(&mut self, _: Option<usize>, phase: &Phase) {
        let waited = self.asked.elapsed().as_nanos();
        if phase.load(Relaxed) != WARMING {
            self.waits.saturating_record(u64::try_from(waited).unwrap_or(u64::MAX));
        }
    }

    fn waits(self) -> Option<Histogram<u64>> {
        Some(self.waits)
    }
}
