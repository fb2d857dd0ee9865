//! Runs threads on one queue, while another thread measures them.
//!
//! The operations of *workers* count. A worker makes a number of operations, or continues until the measurement is
//! over. The operations of *victims* do not count. A victim also works, and stops in the middle of an operation
//! when it is asked to. When the measurement is over, the victims are released, and all threads end before the
//! next measurement begins.

use std::{
    panic,
    sync::{
        Arc, Barrier, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicU32, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    contestants::{Draining, Queue},
    heap::Ops,
    preempt,
    stall::{self, Gate},
    stopwatch::Stopwatch,
};
use crate::common::Padded;

/// The threads that work on the queue.
#[derive(Clone, Copy, Debug)]
pub struct Crew {
    /// Number of threads whose operations count.
    pub threads: usize,
    /// Number of additional threads that will be stopped.
    pub victims: usize,
    /// Number of operations that the counted threads share; `None` for no limit.
    pub operations: Option<u64>,
    /// Initial number of elements in the queue.
    pub size: usize,
    /// `true` if each operation of the counted threads is timed. This costs some tens of nanoseconds per operation.
    pub timed: bool,
}

impl Crew {
    /// Returns the number of operations of one thread.
    fn share(&self, thread: usize) -> u64 {
        let threads = self.threads as u64;
        let share = |all: u64| all / threads + u64::from((thread as u64) < all % threads);
        self.operations.map_or(u64::MAX, share)
    }
}

/// Time limit for threads to return.
const PATIENCE: Duration = Duration::from_secs(60);

/// State that the threads share with the thread that measures them.
#[derive(Debug)]
pub struct Stage {
    start: Barrier,
    /// Set when the measurement is over. ORDERING: Relaxed, because no other access depends on it.
    over: Padded<AtomicBool>,
    /// Asks the victims to stop. ORDERING: Relaxed, because no other access depends on it.
    trap: AtomicBool,
    gate: Arc<Gate>,
    workers: Vec<Padded<Worker>>,
    ends: Mutex<Ends>,
    /// Wakes the thread that measures.
    ended: Condvar,
    /// Wakes the workers that have finished.
    dismissed: Condvar,
}

/// The shared record of a thread that makes operations.
#[derive(Debug, Default)]
pub struct Worker {
    /// Number of operations done. ORDERING: Relaxed, because only the owner writes it, and a reader needs no exact
    /// sum.
    done: AtomicU64,
    /// The system's number of the thread. It is valid from before the measurement begins until the thread exits.
    id: AtomicU32,
    finished: AtomicBool,
    /// Grows by one when a pause of this thread begins and when it ends.
    pauses: AtomicU32,
    /// The longest operation in nanoseconds, if operations are timed. ORDERING: Relaxed, because the owner writes it
    /// before it locks the list of ends, and the reader has locked that list since.
    longest: AtomicU64,
}

impl Worker {
    pub(super) fn pauses(&self) -> u32 {
        self.pauses.load(SeqCst)
    }

    pub(super) fn count_pause(&self) {
        self.pauses.fetch_add(1, SeqCst);
    }
}

#[derive(Debug, Default)]
struct Ends {
    /// For each worker that has finished its share, the times at which it began and ended.
    times: Vec<(Instant, Instant)>,
    /// Lets finished threads exit. Until then the system does not reuse their numbers.
    dismissed: bool,
    /// Number of threads that have exited.
    gone: usize,
}

impl Stage {
    fn new(crew: &Crew) -> Self {
        Stage {
            start: Barrier::new(crew.threads + crew.victims + 1),
            over: Padded::default(),
            trap: AtomicBool::new(false),
            gate: Arc::default(),
            workers: (0..crew.threads).map(|_| Padded::default()).collect(),
            ends: Mutex::default(),
            ended: Condvar::new(),
            dismissed: Condvar::new(),
        }
    }

    fn lock_ends(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `condition` holds, or until `end`. Returns whether `condition` holds.
    fn wait_until(&self, end: Instant, condition: impl Fn(&Ends) -> bool) -> bool {
        let mut ends = self.lock_ends();
        while !condition(&ends) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.ended.wait_timeout(ends, left);
            ends = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Waits until all shares are done, or until `end`. Returns whether they are done.
    pub fn wait_for_all(&self, end: Instant) -> bool {
        self.wait_until(end, |ends| ends.times.len() == self.workers.len())
    }

    /// Returns the time from the first beginning to the last end among the workers that have finished.
    pub fn wall(&self) -> Duration {
        let ends = self.lock_ends();
        let first = ends.times.iter().map(|(begun, _)| *begun).min();
        let last = ends.times.iter().map(|(_, ended)| *ended).max();
        first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first)
    }

    /// Returns the number of operations done.
    pub fn done(&self) -> u64 {
        self.workers.iter().map(|worker| worker.0.done.load(Relaxed)).sum()
    }

    /// Returns the time of the longest operation, if operations are timed. Operations during which the
    /// worker itself was paused do not count. The time for which the worker had no core does not count either.
    pub fn longest(&self) -> Duration {
        let longest = self.workers.iter().map(|worker| worker.0.longest.load(Relaxed)).max();
        Duration::from_nanos(longest.unwrap_or(0))
    }

    /// Records that a pause of the thread with this number begins, or ends.
    pub fn count_pause(&self, id: u32) {
        let is_paused = |worker: &&Padded<Worker>| worker.0.id.load(SeqCst) == id;
        if let Some(worker) = self.workers.iter().find(is_paused) {
            worker.0.count_pause();
        }
    }

    /// Stops this many victims in the middle of an operation. Returns `false` if the time ran out first.
    pub fn stop_victims(&self, count: usize, time: Duration) -> bool {
        self.trap.store(true, Relaxed);
        self.gate.wait_for(count, time)
    }

    /// Returns the system's number of each worker, in order; `None` for a worker that has finished.
    pub fn ids(&self) -> Vec<Option<u32>> {
        let id = |worker: &Padded<Worker>| {
            (!worker.0.finished.load(SeqCst)).then(|| worker.0.id.load(SeqCst))
        };
        self.workers.iter().map(id).collect()
    }
}

/// Runs a crew on `queue`. `direct` directs the measurement in this thread. The run ends when `direct` returns.
///
/// # Errors
/// Returns a message if threads do not return from the queue.
pub fn run<Q: Queue>(queue: Q, crew: &Crew, direct: &mut dyn FnMut(&Stage)) -> Result<(), String> {
    let stage = Arc::new(Stage::new(crew));
    let queue = Arc::new(Padded(queue));
    let crew = *crew;
    let spawn = |number: usize| {
        let (stage, queue) = (Arc::clone(&stage), Arc::clone(&queue));
        thread::spawn(move || {
            // A thread that panics also counts as gone.
            let _gone = Gone(&stage);
            match number.checked_sub(crew.threads) {
                None => run_worker(&queue.0, &crew, &stage, number),
                Some(_) => run_victim(&queue.0, &stage, number),
            }
        })
    };
    let all = crew.threads + crew.victims;
    let threads: Vec<_> = (0..all).map(spawn).collect();
    stage.start.wait();
    direct(&stage);
    let _draining = Draining::new();
    stage.over.0.store(true, Relaxed);
    stage.gate.open();
    stage.lock_ends().dismissed = true;
    stage.dismissed.notify_all();
    if !stage.wait_until(Instant::now() + PATIENCE, |ends| ends.gone == all) {
        return Err(format!("threads did not return within {} s", PATIENCE.as_secs()));
    }
    for thread in threads {
        thread.join().unwrap_or_else(|why| panic::resume_unwind(why));
    }
    Ok(())
}

struct Gone<'a>(&'a Stage);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        self.0.lock_ends().gone += 1;
        self.0.ended.notify_one();
    }
}

/// Makes operations until the worker's share is done or the measurement is over.
fn run_worker<Q: Queue>(queue: &Q, crew: &Crew, stage: &Stage, number: usize) {
    let worker = &stage.workers[number].0;
    worker.id.store(preempt::own_id(), SeqCst);
    let (mut ops, mut handle) = (Ops::new(number), queue.join());
    let share = crew.share(number);
    stage.start.wait();
    let begun = Instant::now();
    let mut stopwatch = crew.timed.then(|| Stopwatch::start(worker));
    let mut done = 0;
    while done < share && !stage.over.0.load(Relaxed) {
        std::hint::black_box(queue.apply(&mut handle, ops.next()));
        done += 1;
        worker.done.store(done, Relaxed);
        if let Some(stopwatch) = &mut stopwatch {
            stopwatch.lap();
        }
    }
    let ended = Instant::now();
    if let Some(stopwatch) = stopwatch {
        worker.longest.store(stopwatch.longest().as_nanos() as u64, Relaxed);
    }
    worker.finished.store(true, SeqCst);
    let mut ends = stage.lock_ends();
    if done == share {
        ends.times.push((begun, ended));
    }
    stage.ended.notify_one();
    drop(stage.dismissed.wait_while(ends, |ends| !ends.dismissed));
}

/// Makes operations until the trap is set, and then stops in the middle of an operation.
fn run_victim<Q: Queue>(queue: &Q, stage: &Stage, number: usize) {
    let (mut ops, mut handle) = (Ops::new(number), queue.join());
    let mut armed = false;
    stage.start.wait();
    while !stage.over.0.load(Relaxed) {
        if !armed && stage.trap.load(Relaxed) {
            armed = true;
            stall::arm(Arc::clone(&stage.gate));
        }
        // If another thread applies this operation first, the victim does not stop in this operation, but tries again
        // with the next one.
        std::hint::black_box(queue.apply(&mut handle, ops.next()));
    }
}
