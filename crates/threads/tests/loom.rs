//! Explores the code around the step machine under [loom](https://docs.rs/loom). The modules `environment`, `waiter`,
//! `future` and `parking` run unchanged on loom's atomics, cells and threads.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p hallpass-threads --release --test loom --target-dir target/loom
//! ```
//!
//! The lab explores all sequentially consistent runs of the step machine, with a queue and wake-ups that are
//! correct by definition. Loom checks the parts that the lab's model leaves out:
//! - The queue is a list of nodes on stacks and in futures. Because of the lock, only the server accesses its
//!   cells, and each server sees what the server before it wrote (loom's cells check both).
//! - A wake-up is a thread's `unpark` or a task's waker. Wakers are taken out and replaced under the lock.
//! - Futures may be dropped, or polled with another waker, at any time before, during or after a grant.
//! - A release happens before the next acquire of the slot (loom's cells check this too).
//!
//! Loom treats sequentially consistent accesses as acquire and release, which is weaker. So results under loom
//! also hold for the code. A future recognises its waker by its address. In a real program, memory is freed before
//! it is allocated again, but loom does not model this order. So the tests keep old wakers alive.
//!
//! The tests do not cover time limits, because loom has no clock; they cover giving up with `try_acquire` and with
//! dropped futures. They do not cover runs with more preemptions than the bound either.
#![cfg(loom)]

use std::{
    future::Future,
    mem,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

use hallpass_threads::{AcquireError, AcquireOwned, Hall};
use loom::{
    cell::UnsafeCell,
    model::Builder,
    sync::{Condvar, Mutex},
    thread,
};

/// Explores all runs with at most `preemptions` preemptions.
fn model(preemptions: usize, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 10_000;
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    builder.check(move || {
        counted.fetch_add(1, Relaxed);
        f();
    });
    println!("{} runs with at most {preemptions} preemptions", runs.load(Relaxed));
}

/// A hall, and for each slot a cell that only its holder may access.
struct GuardedHall {
    hall: Arc<Hall>,
    cells: Vec<UnsafeCell<u32>>,
}

impl GuardedHall {
    fn new(k: usize, max: usize) -> Arc<Self> {
        Self::of(Hall::builder(k).max_slots(max).build().unwrap())
    }

    fn barging(k: usize) -> Arc<Self> {
        Self::of(Hall::builder(k).barging().build().unwrap())
    }

    fn bypass(k: usize, limit: u32) -> Arc<Self> {
        Self::of(Hall::builder(k).bypass(limit).build().unwrap())
    }

    fn of(hall: Hall) -> Arc<Self> {
        let cells = (0..hall.slots()).map(|_| UnsafeCell::new(0)).collect();
        Arc::new(GuardedHall { hall: Arc::new(hall), cells })
    }

    fn touch(&self, slot: usize) {
        // SAFETY: the caller holds this slot. Loom checks that no other thread accesses the cell.
        self.cells[slot].with_mut(|cell| unsafe { *cell += 1 });
    }

    fn pass(&self) {
        let pass = self.hall.acquire().unwrap();
        self.touch(pass.slot());
    }

    /// Returns how many times the cells were accessed. No other caller holds a slot.
    fn touched(&self) -> u32 {
        let hall = &self.hall;
        assert_eq!((hall.available(), hall.waiting()), (hall.slots(), 0));
        let all = hall.try_acquire_many(hall.slots()).unwrap();
        // SAFETY: the caller holds all slots.
        all.slots().map(|slot| self.cells[slot].with(|cell| unsafe { *cell })).sum()
    }
}

/// Runs `threads` threads. Each of them acquires a slot once.
fn crowd(guarded: Arc<GuardedHall>, threads: u32) {
    let others: Vec<_> = (1..threads)
        .map(|_| {
            let guarded = Arc::clone(&guarded);
            thread::spawn(move || guarded.pass())
        })
        .collect();
    guarded.pass();
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(guarded.touched(), threads);
}

#[test]
fn two_threads_one_slot() {
    model(8, || crowd(GuardedHall::new(1, 1), 2));
    model(8, || crowd(GuardedHall::new(1, 33), 2));
}

#[test]
fn three_threads_one_slot() {
    model(3, || crowd(GuardedHall::new(1, 1), 3));
}

#[test]
fn three_threads_two_slots() {
    model(3, || crowd(GuardedHall::new(2, 2), 3));
    model(3, || crowd(GuardedHall::new(2, 33), 3));
}

#[test]
fn threads_that_barge() {
    model(8, || crowd(GuardedHall::barging(1), 2));
    model(3, || crowd(GuardedHall::barging(1), 3));
    model(3, || crowd(GuardedHall::barging(2), 3));
}

#[test]
fn threads_that_may_overtake_once() {
    model(8, || crowd(GuardedHall::bypass(1, 1), 2));
    model(3, || crowd(GuardedHall::bypass(1, 1), 3));
    model(3, || crowd(GuardedHall::bypass(2, 1), 3));
}

/// A waker. A thread can wait until it is woken.
#[derive(Default)]
struct Alarm {
    rung: Mutex<bool>,
    news: Condvar,
}

impl Alarm {
    /// Sleeps until this waker is woken; other wakers do not count.
    fn wait(&self) {
        let mut rung = self.rung.lock().unwrap();
        while !*rung {
            rung = self.news.wait(rung).unwrap();
        }
        *rung = false;
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        *self.rung.lock().unwrap() = true;
        self.news.notify_one();
    }
}

type Polled = Poll<<AcquireOwned as Future>::Output>;

fn poll(future: &mut Pin<Box<AcquireOwned>>, alarm: &Arc<Alarm>) -> Polled {
    let waker = Waker::from(Arc::clone(alarm));
    future.as_mut().poll(&mut Context::from_waker(&waker))
}

/// Polls a future with a new waker each time; only the last waker matters. Gives up after `polls` polls. If
/// `polls` is `None`, it never gives up.
fn task(guarded: &GuardedHall, polls: Option<usize>) {
    let mut future = Box::pin(guarded.hall.acquire_owned_async());
    let mut alarm = Arc::<Alarm>::default();
    let mut old = Vec::new();
    for _ in 0..polls.unwrap_or(2) {
        old.push(mem::take(&mut alarm)); // see the notes on wakers at the top
        if let Poll::Ready(pass) = poll(&mut future, &alarm) {
            return guarded.touch(pass.unwrap().slot());
        }
    }
    while polls.is_none() {
        alarm.wait();
        if let Poll::Ready(pass) = poll(&mut future, &alarm) {
            return guarded.touch(pass.unwrap().slot());
        }
    }
}

/// Runs `others` in threads while a holder leaves.
fn meanwhile(guarded: &Arc<GuardedHall>, others: Vec<fn(&GuardedHall)>) {
    let held = guarded.hall.acquire().unwrap();
    let others: Vec<_> = others
        .into_iter()
        .map(|other| {
            let guarded = Arc::clone(guarded);
            thread::spawn(move || other(&guarded))
        })
        .collect();
    guarded.touch(held.slot());
    drop(held);
    others.into_iter().for_each(|other| other.join().unwrap());
}

#[test]
fn a_slot_is_handed_over() {
    model(3, || {
        let guarded = GuardedHall::new(1, 1);
        meanwhile(&guarded, vec![GuardedHall::pass, GuardedHall::pass]);
        assert_eq!(guarded.touched(), 3);
    });
}

/// The waker is replaced while the future gets a grant.
#[test]
fn a_waker_is_replaced_during_a_grant() {
    model(8, || {
        let guarded = GuardedHall::new(1, 1);
        meanwhile(&guarded, vec![|guarded| task(guarded, None)]);
        assert_eq!(guarded.touched(), 2);
    });
}

/// A future is dropped while it gets a grant. The thread behind it gets the slot.
#[test]
fn a_future_is_dropped_during_a_grant() {
    model(3, || {
        let guarded = GuardedHall::new(1, 1);
        meanwhile(&guarded, vec![|guarded| task(guarded, Some(1)), GuardedHall::pass]);
        assert!(guarded.touched() >= 2);
    });
}

/// A future is dropped while it gets a grant, after its waker was replaced.
#[test]
fn a_future_is_dropped_after_its_waker_was_replaced() {
    model(8, || {
        let guarded = GuardedHall::new(1, 1);
        meanwhile(&guarded, vec![|guarded| task(guarded, Some(2))]);
        assert!(guarded.touched() >= 1);
    });
}

/// In a barging hall, a future is only woken to try again. If it is dropped instead, another waiter is woken.
#[test]
fn futures_that_barge() {
    model(3, || {
        let guarded = GuardedHall::barging(1);
        meanwhile(&guarded, vec![|guarded| task(guarded, Some(1)), GuardedHall::pass]);
        assert!(guarded.touched() >= 2);
    });
    model(3, || {
        let guarded = GuardedHall::barging(1);
        meanwhile(&guarded, vec![|guarded| task(guarded, Some(1)), |guarded| task(guarded, None)]);
        assert!(guarded.touched() >= 2);
    });
    model(8, || {
        let guarded = GuardedHall::barging(1);
        meanwhile(&guarded, vec![|guarded| task(guarded, None)]);
        assert_eq!(guarded.touched(), 2);
    });
}

/// A waker that wakes its task, and then blocks in another hall. The thread parks there, which may consume a
/// wake-up of this hall.
struct Blocks {
    alarm: Arc<Alarm>,
    other: Arc<Hall>,
}

impl Wake for Blocks {
    fn wake(self: Arc<Self>) {
        Arc::clone(&self.alarm).wake();
        drop(self.other.acquire().unwrap());
    }
}

/// A thread that waits in the queue wakes a task, whose waker blocks.
#[test]
fn a_waiting_thread_runs_a_waker_that_blocks() {
    model(2, || {
        let (guarded, other) = (GuardedHall::barging(2), Arc::new(Hall::new(1)));
        let both = thread::spawn({
            let guarded = Arc::clone(&guarded);
            move || drop(guarded.hall.acquire_many(2).unwrap())
        });
        let holder = thread::spawn({
            let other = Arc::clone(&other);
            move || drop(other.acquire().unwrap())
        });
        let pass = guarded.hall.acquire();
        let alarm = Arc::<Alarm>::default();
        let blocks = Arc::new(Blocks { alarm: Arc::clone(&alarm), other: Arc::clone(&other) });
        let waker = Waker::from(blocks);
        let mut future = Box::pin(guarded.hall.acquire_owned_async());
        let mut polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        drop(pass);
        while polled.is_pending() {
            alarm.wait();
            polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        }
        drop(polled);
        both.join().unwrap();
        holder.join().unwrap();
        assert_eq!((guarded.hall.available(), guarded.hall.waiting()), (2, 0));
    });
}

/// Two futures are dropped or get slots. If the first is dropped after its grant, the second gets the slot.
#[test]
fn two_futures_are_dropped_during_grants() {
    model(3, || {
        let guarded = GuardedHall::new(1, 1);
        meanwhile(&guarded, vec![|guarded| task(guarded, Some(1)), |guarded| task(guarded, None)]);
        assert!(guarded.touched() >= 2);
    });
}

/// `try_acquire` joins the queue for a moment, if the free slot belongs to a waiter.
#[test]
fn an_attempt_while_another_caller_waits() {
    model(4, || {
        let guarded = GuardedHall::new(1, 1);
        meanwhile(
            &guarded,
            vec![GuardedHall::pass, |guarded| {
                if let Ok(pass) = guarded.hall.try_acquire() {
                    guarded.touch(pass.slot());
                }
            }],
        );
        assert!(guarded.touched() >= 2);
    });
}

#[test]
fn a_request_for_many_slots_and_a_request_for_one() {
    model(4, || {
        let guarded = GuardedHall::new(2, 2);
        meanwhile(
            &guarded,
            vec![GuardedHall::pass, |guarded| {
                let both = guarded.hall.acquire_many(2).unwrap();
                both.slots().for_each(|slot| guarded.touch(slot));
            }],
        );
        assert_eq!(guarded.touched(), 4);
    });
}

#[test]
fn a_hall_is_closed_while_a_thread_waits() {
    model(8, || {
        let guarded = GuardedHall::new(1, 1);
        let held = guarded.hall.acquire().unwrap();
        let waiter = thread::spawn({
            let guarded = Arc::clone(&guarded);
            move || assert_eq!(guarded.hall.acquire().err(), Some(AcquireError::Closed))
        });
        guarded.hall.close();
        drop(held);
        waiter.join().unwrap();
        assert_eq!((guarded.hall.available(), guarded.hall.waiting()), (1, 0));
    });
}

/// A future finds the hall closed while its waker is replaced.
#[test]
fn a_hall_is_closed_while_a_future_waits() {
    model(6, || {
        let guarded = GuardedHall::new(1, 1);
        let held = guarded.hall.acquire().unwrap();
        let waiter = thread::spawn({
            let guarded = Arc::clone(&guarded);
            move || {
                let mut future = Box::pin(guarded.hall.acquire_owned_async());
                let old = Arc::<Alarm>::default();
                let mut polled = poll(&mut future, &old);
                let alarm = Arc::<Alarm>::default();
                while polled.is_pending() {
                    polled = poll(&mut future, &alarm);
                    if polled.is_pending() {
                        alarm.wait();
                    }
                }
                assert!(matches!(polled, Poll::Ready(Err(AcquireError::Closed))));
            }
        });
        guarded.hall.close();
        drop(held);
        waiter.join().unwrap();
        assert_eq!((guarded.hall.available(), guarded.hall.waiting()), (1, 0));
    });
}

#[test]
fn a_hall_grows_while_a_thread_waits() {
    model(8, || {
        let hall = Arc::new(Hall::builder(1).max_slots(2).build().unwrap());
        let held = hall.acquire().unwrap();
        let waiter = thread::spawn({
            let hall = Arc::clone(&hall);
            move || assert_eq!(hall.acquire().unwrap().slot(), 1)
        });
        hall.resize(2).unwrap();
        waiter.join().unwrap();
        drop(held);
        assert_eq!((hall.available(), hall.waiting()), (2, 0));
    });
}
