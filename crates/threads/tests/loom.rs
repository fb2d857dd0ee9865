//! The layer around the step machine under [loom](https://docs.rs/loom): `environment`, `waiter`, `future` and
//! `parking`, unchanged, on loom's atomics, cells and threads.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p hallpass-threads --release --test loom --target-dir target/loom
//! ```
//!
//! The lab explores all sequentially consistent runs of the step machine, with a queue and wake-ups that are
//! correct by definition. Loom checks what the lab does not see:
//! - The queue is a list of nodes on stacks and in futures. Because of the lock, only the server accesses its
//!   cells, and each server sees what the server before it wrote (loom's cells check both).
//! - A wake-up is a thread's `unpark` or a task's waker, which is taken out and replaced under the lock.
//! - Futures may be dropped, or polled with another waker, at any time before, during or after a grant.
//! - A release happens before the acquire that it lets in (again checked by cells).
//!
//! Loom treats sequentially consistent accesses as acquire and release, which is weaker than what the code
//! uses. So the results also hold for the code. A future recognises its waker by its address. Memory is freed
//! before it is allocated again, but loom does not model this order, so the tests keep old wakers alive.
//!
//! Not covered: time limits (loom has no clock; giving up is tested with `try_acquire` and dropped futures), and
//! runs with more preemptions than the bound.
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
struct Room {
    hall: Arc<Hall>,
    cells: Vec<UnsafeCell<u32>>,
}

impl Room {
    fn new(k: usize, max: usize) -> Arc<Self> {
        Self::of(Hall::builder(k).max_slots(max).build().unwrap())
    }

    fn barging(k: usize) -> Arc<Self> {
        Self::of(Hall::builder(k).barging().build().unwrap())
    }

    fn of(hall: Hall) -> Arc<Self> {
        let cells = (0..hall.slots()).map(|_| UnsafeCell::new(0)).collect();
        Arc::new(Room { hall: Arc::new(hall), cells })
    }

    fn touch(&self, slot: usize) {
        // SAFETY: the caller holds this slot, which is what loom checks.
        self.cells[slot].with_mut(|cell| unsafe { *cell += 1 });
    }

    fn pass(&self) {
        let pass = self.hall.acquire().unwrap();
        self.touch(pass.slot());
    }

    /// Returns how many times cells were accessed. Nobody is inside.
    fn touched(&self) -> u32 {
        let hall = &self.hall;
        assert_eq!((hall.available(), hall.waiting()), (hall.slots(), 0));
        let all = hall.try_acquire_many(hall.slots()).unwrap();
        // SAFETY: the caller holds all slots.
        all.slots().map(|slot| self.cells[slot].with(|cell| unsafe { *cell })).sum()
    }
}

/// Runs `threads` threads, each of which gets in once.
fn crowd(room: Arc<Room>, threads: u32) {
    let others: Vec<_> = (1..threads)
        .map(|_| {
            let room = Arc::clone(&room);
            thread::spawn(move || room.pass())
        })
        .collect();
    room.pass();
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(room.touched(), threads);
}

#[test]
fn two_threads_one_slot() {
    model(8, || crowd(Room::new(1, 1), 2));
    model(8, || crowd(Room::new(1, 33), 2));
}

#[test]
fn three_threads_one_slot() {
    model(3, || crowd(Room::new(1, 1), 3));
}

#[test]
fn three_threads_two_slots() {
    model(3, || crowd(Room::new(2, 2), 3));
    model(3, || crowd(Room::new(2, 33), 3));
}

#[test]
fn threads_that_barge() {
    model(8, || crowd(Room::barging(1), 2));
    model(3, || crowd(Room::barging(1), 3));
    model(3, || crowd(Room::barging(2), 3));
}

/// A waker whose wake-up a thread can wait for.
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

/// Polls with a new waker each time; only the last waker counts. Gives up after `polls` polls, or never if
/// `polls` is `None`.
fn task(room: &Room, polls: Option<usize>) {
    let mut future = Box::pin(room.hall.acquire_owned_async());
    let mut alarm = Arc::<Alarm>::default();
    let mut old = Vec::new();
    for _ in 0..polls.unwrap_or(2) {
        old.push(mem::take(&mut alarm)); // see the notes on wakers at the top
        if let Poll::Ready(pass) = poll(&mut future, &alarm) {
            return room.touch(pass.unwrap().slot());
        }
    }
    while polls.is_none() {
        alarm.wait();
        if let Poll::Ready(pass) = poll(&mut future, &alarm) {
            return room.touch(pass.unwrap().slot());
        }
    }
}

/// A holder leaves while others arrive.
fn meanwhile(room: &Arc<Room>, others: Vec<fn(&Room)>) {
    let held = room.hall.acquire().unwrap();
    let others: Vec<_> = others
        .into_iter()
        .map(|other| {
            let room = Arc::clone(room);
            thread::spawn(move || other(&room))
        })
        .collect();
    room.touch(held.slot());
    drop(held);
    others.into_iter().for_each(|other| other.join().unwrap());
}

#[test]
fn a_slot_is_handed_over() {
    model(3, || {
        let room = Room::new(1, 1);
        meanwhile(&room, vec![Room::pass, Room::pass]);
        assert_eq!(room.touched(), 3);
    });
}

/// The waker is replaced while the future is granted a pass.
#[test]
fn a_replaced_waker_against_a_grant() {
    model(8, || {
        let room = Room::new(1, 1);
        meanwhile(&room, vec![|room| task(room, None)]);
        assert_eq!(room.touched(), 2);
    });
}

/// A future is dropped while it is granted a pass; the thread behind it gets in.
#[test]
fn a_dropped_future_against_a_grant() {
    model(3, || {
        let room = Room::new(1, 1);
        meanwhile(&room, vec![|room| task(room, Some(1)), Room::pass]);
        assert!(room.touched() >= 2);
    });
}

/// A future is dropped while it is granted a pass, after its waker was replaced.
#[test]
fn a_future_dropped_after_its_waker_was_replaced() {
    model(8, || {
        let room = Room::new(1, 1);
        meanwhile(&room, vec![|room| task(room, Some(2))]);
        assert!(room.touched() >= 1);
    });
}

/// In a barging hall, a future is only told to try again. If it is dropped instead, another waiter is told.
#[test]
fn futures_that_barge() {
    model(3, || {
        let room = Room::barging(1);
        meanwhile(&room, vec![|room| task(room, Some(1)), Room::pass]);
        assert!(room.touched() >= 2);
    });
    model(3, || {
        let room = Room::barging(1);
        meanwhile(&room, vec![|room| task(room, Some(1)), |room| task(room, None)]);
        assert!(room.touched() >= 2);
    });
    model(8, || {
        let room = Room::barging(1);
        meanwhile(&room, vec![|room| task(room, None)]);
        assert_eq!(room.touched(), 2);
    });
}

/// Wakes its task, and then blocks in another hall. The parking there may consume a wake-up of this hall.
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

/// A thread that waits and has called a task runs the task's waker, which blocks.
#[test]
fn a_waker_that_blocks_against_a_call() {
    model(2, || {
        let (room, other) = (Room::barging(2), Arc::new(Hall::new(1)));
        let both = thread::spawn({
            let room = Arc::clone(&room);
            move || drop(room.hall.acquire_many(2).unwrap())
        });
        let holder = thread::spawn({
            let other = Arc::clone(&other);
            move || drop(other.acquire().unwrap())
        });
        let pass = room.hall.acquire();
        let alarm = Arc::<Alarm>::default();
        let blocks = Arc::new(Blocks { alarm: Arc::clone(&alarm), other: Arc::clone(&other) });
        let waker = Waker::from(blocks);
        let mut future = Box::pin(room.hall.acquire_owned_async());
        let mut polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        drop(pass);
        while polled.is_pending() {
            alarm.wait();
            polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        }
        drop(polled);
        both.join().unwrap();
        holder.join().unwrap();
        assert_eq!((room.hall.available(), room.hall.waiting()), (2, 0));
    });
}

/// Two futures that are dropped or let in: the first hands its grant to the second.
#[test]
fn two_futures_against_a_grant() {
    model(3, || {
        let room = Room::new(1, 1);
        meanwhile(&room, vec![|room| task(room, Some(1)), |room| task(room, None)]);
        assert!(room.touched() >= 2);
    });
}

/// `try_acquire` joins the queue for a moment, if the free slot belongs to a waiter.
#[test]
fn an_attempt_against_a_waiter() {
    model(4, || {
        let room = Room::new(1, 1);
        meanwhile(
            &room,
            vec![Room::pass, |room| {
                if let Ok(pass) = room.hall.try_acquire() {
                    room.touch(pass.slot());
                }
            }],
        );
        assert!(room.touched() >= 2);
    });
}

#[test]
fn many_against_one() {
    model(4, || {
        let room = Room::new(2, 2);
        meanwhile(
            &room,
            vec![Room::pass, |room| {
                let both = room.hall.acquire_many(2).unwrap();
                both.slots().for_each(|slot| room.touch(slot));
            }],
        );
        assert_eq!(room.touched(), 4);
    });
}

#[test]
fn closing_against_a_waiter() {
    model(8, || {
        let room = Room::new(1, 1);
        let held = room.hall.acquire().unwrap();
        let waiter = thread::spawn({
            let room = Arc::clone(&room);
            move || assert_eq!(room.hall.acquire().err(), Some(AcquireError::Closed))
        });
        room.hall.close();
        drop(held);
        waiter.join().unwrap();
        assert_eq!((room.hall.available(), room.hall.waiting()), (1, 0));
    });
}

/// A future finds the hall closed while its waker is replaced.
#[test]
fn closing_against_a_future() {
    model(6, || {
        let room = Room::new(1, 1);
        let held = room.hall.acquire().unwrap();
        let waiter = thread::spawn({
            let room = Arc::clone(&room);
            move || {
                let mut future = Box::pin(room.hall.acquire_owned_async());
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
        room.hall.close();
        drop(held);
        waiter.join().unwrap();
        assert_eq!((room.hall.available(), room.hall.waiting()), (1, 0));
    });
}

#[test]
fn more_slots_against_a_waiter() {
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
