//! The parking layer under [loom](https://docs.rs/loom): `seat`, `waiter`, `future` and `patience` as
//! they are, over loom's atomics, cells and threads.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p hallpass-threads --release --test loom --target-dir target/loom
//! ```
//!
//! The lab has explored all runs of the machine's lines, sequentially consistent, with a queue and a
//! bell that are correct by definition. What it cannot see, and loom does:
//! - the queue is a list of nodes on stacks and in futures: that the lock keeps everybody else away
//!   from its cells, and that what is written in it is seen by the next one (loom's cells say so);
//! - the bell is a thread's `unpark` or a task's waker, which is taken out and replaced under the lock;
//! - futures: dropped or polled with another waker at any time against a grant;
//! - release and acquire: what one did inside, the next one inside sees (again by cells).
//!
//! Loom takes sequentially consistent accesses for acquire and release, which is less than we use: what
//! passes here does not need more. What it does not do: time limits (it has no clock; giving up runs
//! through `try_acquire` and dropped futures), and runs with more preemptions than the bound.
#![cfg(loom)]

use std::{
    future::Future,
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

/// Explores all runs with at most so many preemptions.
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

/// A hall, and a cell for each slot that only its holder may touch.
struct Room {
    hall: Arc<Hall>,
    cells: Vec<UnsafeCell<u32>>,
}

impl Room {
    fn new(k: usize, most: usize) -> Arc<Self> {
        Self::of(Hall::builder(k).max_slots(most).build().unwrap())
    }

    fn barging(k: usize) -> Arc<Self> {
        Self::of(Hall::builder(k).barging().build().unwrap())
    }

    fn of(hall: Hall) -> Arc<Self> {
        let cells = (0..hall.slots()).map(|_| UnsafeCell::new(0)).collect();
        Arc::new(Room { hall: Arc::new(hall), cells })
    }

    fn touch(&self, slot: usize) {
        // SAFETY: this slot is ours, which is what loom checks.
        self.cells[slot].with_mut(|cell| unsafe { *cell += 1 });
    }

    fn pass(&self) {
        let pass = self.hall.acquire().unwrap();
        self.touch(pass.slot());
    }

    /// How often cells were touched; everybody is out.
    fn touched(&self) -> u32 {
        let hall = &self.hall;
        assert_eq!((hall.available(), hall.waiting()), (hall.slots(), 0));
        let all = hall.try_acquire_many(hall.slots()).unwrap();
        // SAFETY: all slots are ours.
        all.slots().map(|slot| self.cells[slot].with(|cell| unsafe { *cell })).sum()
    }
}

/// So many threads, each of which gets in once.
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

/// A task's waker, for which one can wait.
#[derive(Default)]
struct Alarm {
    rung: Mutex<bool>,
    news: Condvar,
}

impl Alarm {
    /// Sleeps until this one is rung; another one does not count.
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

/// Polls with a new waker each time; only the last one counts. It gives up after `polls`, if that is
/// not for ever.
fn task(room: &Room, polls: Option<usize>) {
    let mut future = Box::pin(room.hall.acquire_owned_async());
    let mut alarm = Arc::<Alarm>::default();
    for _ in 0..polls.unwrap_or(2) {
        alarm = Arc::<Alarm>::default();
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

/// Somebody is in and leaves; meanwhile others come.
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

/// The waker is replaced while the grant is on its way.
#[test]
fn a_replaced_waker_against_a_grant() {
    model(8, || {
        let room = Room::new(1, 1);
        meanwhile(&room, vec![|room| task(room, None)]);
        assert_eq!(room.touched(), 2);
    });
}

/// A future is dropped while the grant is on its way; the thread behind it gets in.
#[test]
fn a_dropped_future_against_a_grant() {
    model(3, || {
        let room = Room::new(1, 1);
        meanwhile(&room, vec![|room| task(room, Some(1)), Room::pass]);
        assert!(room.touched() >= 2);
    });
}

/// The same with a waker that was replaced before.
#[test]
fn a_future_dropped_after_its_waker_was_replaced() {
    model(8, || {
        let room = Room::new(1, 1);
        meanwhile(&room, vec![|room| task(room, Some(2))]);
        assert!(room.touched() >= 1);
    });
}

/// With barging, a future is only told to try again: if it is dropped instead, somebody else is told.
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

/// Two futures, both dropped or let in: one hands on to the other.
#[test]
fn two_futures_against_a_grant() {
    model(3, || {
        let room = Room::new(1, 1);
        meanwhile(&room, vec![|room| task(room, Some(1)), |room| task(room, None)]);
        assert!(room.touched() >= 2);
    });
}

/// Who tries joins the queue for a moment, if a slot is free that is somebody else's.
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

/// A future that finds the hall closed while its waker is replaced.
#[test]
fn closing_against_a_future() {
    model(6, || {
        let room = Room::new(1, 1);
        let held = room.hall.acquire().unwrap();
        let waiter = thread::spawn({
            let room = Arc::clone(&room);
            move || {
                let mut future = Box::pin(room.hall.acquire_owned_async());
                let mut polled = poll(&mut future, &Arc::<Alarm>::default());
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
