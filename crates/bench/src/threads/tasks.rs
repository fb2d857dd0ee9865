//! Measures tasks on one semaphore. The tasks are futures that one thread polls, so the measured time does not include
//! a scheduler.

use std::{
    future::Future,
    hint::black_box,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use hallpass_threads::{Hall, Pass, Passes};
use tokio::sync::{Semaphore as Tokio, SemaphorePermit};

use super::workloads::Group;
use crate::common::Sample;

/// A semaphore with slots that tasks can wait for.
pub trait TaskSemaphore: Sized {
    /// The guard of a holder. Dropping it frees the slot.
    type Guard<'a>
    where
        Self: 'a;
    /// The guard of a task that took several slots at once.
    type Many<'a>
    where
        Self: 'a;

    /// Makes a semaphore with `k` slots.
    fn with_slots(k: usize) -> Self;
    /// Waits until a slot is free, and takes it.
    fn wait(&self) -> impl Future<Output = Self::Guard<'_>>;
    /// Takes a slot if one is free.
    fn take(&self) -> Option<Self::Guard<'_>>;
    /// Takes `m` slots together. Returns `None` if fewer than `m` are free, or if the semaphore cannot take several
    /// slots together.
    fn take_many(&self, m: usize) -> Option<Self::Many<'_>>;
}

impl TaskSemaphore for Hall {
    type Guard<'a> = Pass<'a>;
    type Many<'a> = Passes<'a>;

    fn with_slots(k: usize) -> Self {
        Hall::new(k)
    }

    #[inline]
    async fn wait(&self) -> Pass<'_> {
        self.acquire_async().await.expect("nobody closes the hall")
    }

    #[inline]
    fn take(&self) -> Option<Pass<'_>> {
        self.try_acquire().ok()
    }

    #[inline]
    fn take_many(&self, m: usize) -> Option<Passes<'_>> {
        self.try_acquire_many(m).ok()
    }
}

impl TaskSemaphore for Tokio {
    type Guard<'a> = SemaphorePermit<'a>;
    type Many<'a> = SemaphorePermit<'a>;

    fn with_slots(k: usize) -> Self {
        Tokio::new(k)
    }

    #[inline]
    async fn wait(&self) -> SemaphorePermit<'_> {
        self.acquire().await.expect("nobody closes the semaphore")
    }

    #[inline]
    fn take(&self) -> Option<SemaphorePermit<'_>> {
        self.try_acquire().ok()
    }

    #[inline]
    fn take_many(&self, m: usize) -> Option<SemaphorePermit<'_>> {
        self.try_acquire_many(m as u32).ok()
    }
}

impl TaskSemaphore for async_lock::Semaphore {
    type Guard<'a> = async_lock::SemaphoreGuard<'a>;
    type Many<'a> = ();

    fn with_slots(k: usize) -> Self {
        async_lock::Semaphore::new(k)
    }

    #[inline]
    async fn wait(&self) -> async_lock::SemaphoreGuard<'_> {
        self.acquire().await
    }

    #[inline]
    fn take(&self) -> Option<async_lock::SemaphoreGuard<'_>> {
        self.try_acquire()
    }

    fn take_many(&self, _: usize) -> Option<()> {
        None
    }
}

/// The number of tasks that wait at the same time in [`Group::Crowd`].
pub const CROWD: usize = 10_000;
/// The number of slots that [`Group::Many`] takes at once.
pub const MANY: usize = 3;
/// The number of passages between two readings of the clock. In [`Group::Crowd`], there are [`CROWD`] passages instead.
const BATCH: u64 = 500;

/// Runs tasks on a new semaphore with `k` slots for some time.
///
/// # Errors
/// Returns the reason if the group needs several slots at once, but the semaphore cannot take them, or if the group is
/// measured with threads.
pub fn run<S: TaskSemaphore>(group: Group, k: usize, time: Duration) -> Result<Sample, String> {
    let semaphore = S::with_slots(k);
    let batch: fn(&S, usize) -> u64 = match group {
        Group::Many if semaphore.take_many(MANY).is_none() => {
            return Err("takes one slot at a time".into());
        }
        Group::Ready => ready_immediately,
        Group::Many => many,
        Group::Cancel => cancel,
        Group::HandOver => hand_over,
        Group::Crowd => crowd,
        Group::Alone | Group::Contended | Group::Oversubscribed | Group::Latency => {
            return Err("measured with threads".into());
        }
    };
    let (begun, mut passages) = (Instant::now(), 0);
    while begun.elapsed() < time {
        passages += batch(&semaphore, k);
    }
    Ok(Sample { wall: begun.elapsed(), passages: vec![passages], waits: None })
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn finish<F: Future>(future: Pin<&mut F>) -> F::Output {
    match poll(future) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("a slot is free"),
    }
}

/// Measures a future that finds a slot free.
fn ready_immediately<S: TaskSemaphore>(semaphore: &S, _: usize) -> u64 {
    for _ in 0..BATCH {
        drop(black_box(finish(pin!(black_box(semaphore).wait()))));
    }
    BATCH
}

/// Measures a request for several slots at once.
fn many<S: TaskSemaphore>(semaphore: &S, _: usize) -> u64 {
    for _ in 0..BATCH {
        drop(black_box(black_box(semaphore).take_many(MANY)));
    }
    BATCH
}

/// Measures a future that joins the queue and is dropped.
fn cancel<S: TaskSemaphore>(semaphore: &S, _: usize) -> u64 {
    let held = semaphore.take();
    for _ in 0..BATCH {
        let waits = poll(pin!(black_box(semaphore).wait())).is_pending();
        assert!(waits, "the slot is held");
    }
    drop(held);
    BATCH
}

/// Measures a hand-over: a task joins the queue, the holder leaves, and the task gets the slot.
fn hand_over<S: TaskSemaphore>(semaphore: &S, _: usize) -> u64 {
    let mut held = semaphore.take();
    for _ in 0..BATCH {
        let mut next = pin!(black_box(semaphore).wait());
        assert!(poll(next.as_mut()).is_pending(), "the slot is held");
        drop(held.take());
        held = Some(finish(next));
    }
    BATCH
}

/// Measures [`CROWD`] tasks that wait and enter one after another.
fn crowd<S: TaskSemaphore>(semaphore: &S, k: usize) -> u64 {
    let held: Vec<_> = (0..k).map(|_| semaphore.take()).collect();
    let mut tasks: Vec<_> = (0..CROWD).map(|_| Box::pin(semaphore.wait())).collect();
    let waiting =
        tasks.iter_mut().filter_map(|task| poll(task.as_mut()).is_pending().then_some(()));
    assert_eq!(waiting.count(), CROWD, "all slots are held");
    drop(held);
    tasks.iter_mut().for_each(|task| drop(finish(task.as_mut())));
    CROWD as u64
}
