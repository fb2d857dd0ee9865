//! Threads on one queue, and the view of the thread that measures them.
//!
//! Those who are counted work off a number of operations, or go on until it is over. *Victims* work
//! too, are not counted, and stop inside an operation once they are asked to. When the measurement is
//! over they are let go, and all threads end before the next one begins.

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
}

impl Crew {
    /// Operations of one thread.
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
    /// ORDERING: Relaxed, for it orders nothing else.
    over: Padded<AtomicBool>,
    /// Victims are to stop. ORDERING: as above.
    trap: AtomicBool,
    gate: Arc<Gate>,
    workers: Vec<Padded<Worker>>,
    ends: Mutex<Ends>,
    /// For the thread that measures.
    ended: Condvar,
    /// For those who are through.
    dismissed: Condvar,
}

/// A thread that is counted.
#[derive(Debug, Default)]
struct Worker {
    /// ORDERING: Relaxed; its owner alone writes it, and a sum of what was true a moment ago will do.
    done: AtomicU64,
    /// The thread's system identifier, valid from before its start until after its end.
    id: AtomicU32,
    finished: AtomicBool,
}

#[derive(Debug, Default)]
struct Ends {
    /// When each that is through with its share began and ended.
    times: Vec<(Instant, Instant)>,
    /// Lets finished threads exit. Until then the system does not reuse their identifiers.
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

    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `is_so`, or until `end`. Whether it is.
    fn wait_until(&self, end: Instant, is_so: impl Fn(&Ends) -> bool) -> bool {
        let mut ends = self.ends();
        while !is_so(&ends) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.ended.wait_timeout(ends, left);
            ends = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Waits until all shares are done, or until `end`. Whether they are.
    pub fn wait_for_all(&self, end: Instant) -> bool {
        self.wait_until(end, |ends| ends.times.len() == self.workers.len())
    }

    /// From the first beginning to the last end of those who are through.
    pub fn wall(&self) -> Duration {
        let ends = self.ends();
        let first = ends.times.iter().map(|(begun, _)| *begun).min();
        let last = ends.times.iter().map(|(_, ended)| *ended).max();
        first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first)
    }

    /// Number of operations done.
    pub fn done(&self) -> u64 {
        self.workers.iter().map(|worker| worker.0.done.load(Relaxed)).sum()
    }

    /// Stops this many victims inside an operation. Returns `false` if the time ran out first.
    pub fn stop_victims(&self, count: usize, time: Duration) -> bool {
        self.trap.store(true, Relaxed);
        self.gate.wait_for(count, time)
    }

    /// The system's numbers of those who are counted, in order; none for who is through.
    pub fn ids(&self) -> Vec<Option<u32>> {
        let id = |worker: &Padded<Worker>| {
            (!worker.0.finished.load(SeqCst)).then(|| worker.0.id.load(SeqCst))
        };
        self.workers.iter().map(id).collect()
    }
}

/// Runs a crew while `direct` says what is to happen. An error if threads do not come back.
pub fn run<Q: Queue>(queue: Q, crew: &Crew, direct: &mut dyn FnMut(&Stage)) -> Result<(), String> {
    let stage = Arc::new(Stage::new(crew));
    let queue = Arc::new(Padded(queue));
    let crew = *crew;
    let spawn = |number: usize| {
        let (stage, queue) = (Arc::clone(&stage), Arc::clone(&queue));
        thread::spawn(move || {
            // Even if it panics it counts as gone.
            let _gone = Gone(&stage);
            match number.checked_sub(crew.threads) {
                None => work(&queue.0, &crew, &stage, number),
                Some(_) => fall(&queue.0, &stage, number),
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
    stage.ends().dismissed = true;
    stage.dismissed.notify_all();
    if !stage.wait_until(Instant::now() + PATIENCE, |ends| ends.gone == all) {
        return Err(format!("threads did not come back in {} s", PATIENCE.as_secs()));
    }
    for thread in threads {
        thread.join().unwrap_or_else(|why| panic::resume_unwind(why));
    }
    Ok(())
}

struct Gone<'a>(&'a Stage);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        self.0.ends().gone += 1;
        self.0.ended.notify_one();
    }
}

/// A thread that is counted.
fn work<Q: Queue>(queue: &Q, crew: &Crew, stage: &Stage, number: usize) {
    let worker = &stage.workers[number].0;
    worker.id.store(preempt::own_id(), SeqCst);
    let (mut ops, mut handle) = (Ops::new(number), queue.join());
    let share = crew.share(number);
    stage.start.wait();
    let begun = Instant::now();
    let mut done = 0;
    while done < share && !stage.over.0.load(Relaxed) {
        std::hint::black_box(queue.apply(&mut handle, ops.next()));
        done += 1;
        worker.done.store(done, Relaxed);
    }
    let ended = Instant::now();
    worker.finished.store(true, SeqCst);
    let mut ends = stage.ends();
    if done == share {
        ends.times.push((begun, ended));
    }
    stage.ended.notify_one();
    drop(stage.dismissed.wait_while(ends, |ends| !ends.dismissed));
}

/// A victim.
fn fall<Q: Queue>(queue: &Q, stage: &Stage, number: usize) {
    let (mut ops, mut handle) = (Ops::new(number), queue.join());
    let mut armed = false;
    stage.start.wait();
    while !stage.over.0.load(Relaxed) {
        if !armed && stage.trap.load(Relaxed) {
            armed = true;
            stall::arm(Arc::clone(&stage.gate));
        }
        // Others may do what it asks for before it does so itself: then it asks again.
        std::hint::black_box(queue.apply(&mut handle, ops.next()));
    }
}
