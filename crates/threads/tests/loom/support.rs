//! Halls whose slots guard cells, and tasks that poll by hand.

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

use hallpass_threads::{AcquireOwned, Hall};
use loom::{
    cell::UnsafeCell,
    model::Builder,
    sync::{Condvar, Mutex},
    thread,
};

/// Explores all runs with at most `preemptions` preemptions.
pub fn model(preemptions: usize, f: impl Fn() + Sync + Send + 'static) {
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
pub struct GuardedHall {
    pub hall: Arc<Hall>,
    cells: Vec<UnsafeCell<u32>>,
}

impl GuardedHall {
    pub fn new(k: usize, max: usize) -> Arc<Self> {
        Self::of(Hall::builder(k).max_slots(max).build().unwrap())
    }

    pub fn barging(k: usize) -> Arc<Self> {
        Self::of(Hall::builder(k).barging().build().unwrap())
    }

    pub fn bypass(k: usize, limit: u32) -> Arc<Self> {
        Self::of(Hall::builder(k).bypass(limit).build().unwrap())
    }

    pub fn of(hall: Hall) -> Arc<Self> {
        let cells = (0..hall.slots()).map(|_| UnsafeCell::new(0)).collect();
        Arc::new(GuardedHall { hall: Arc::new(hall), cells })
    }

    pub fn touch(&self, slot: usize) {
        // SAFETY: the caller holds this slot. Loom checks that no other thread accesses the cell.
        self.cells[slot].with_mut(|cell| unsafe { *cell += 1 });
    }

    pub fn pass(&self) {
        let pass = self.hall.acquire().unwrap();
        self.touch(pass.slot());
    }

    /// Returns the number of times that the cells were accessed. No other caller holds a slot.
    pub fn touched(&self) -> u32 {
        let hall = &self.hall;
        assert_eq!((hall.available(), hall.waiting()), (hall.slots(), 0));
        let all = hall.try_acquire_many(hall.slots()).unwrap();
        // SAFETY: the caller holds all slots.
        all.slots().map(|slot| self.cells[slot].with(|cell| unsafe { *cell })).sum()
    }
}

/// Runs `others` in threads while a holder leaves.
pub fn meanwhile(guarded: &Arc<GuardedHall>, others: Vec<fn(&GuardedHall)>) {
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

/// A waker. A thread can wait until the waker is woken.
#[derive(Default)]
pub struct Alarm {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Alarm {
    /// Sleeps until this waker is woken; other wakers do not count.
    pub fn wait(&self) {
        let mut woken = self.woken.lock().unwrap();
        while !*woken {
            woken = self.changed.wait(woken).unwrap();
        }
        *woken = false;
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        *self.woken.lock().unwrap() = true;
        self.changed.notify_one();
    }
}

pub type Polled = Poll<<AcquireOwned as Future>::Output>;

pub fn poll(future: &mut Pin<Box<AcquireOwned>>, alarm: &Arc<Alarm>) -> Polled {
    let waker = Waker::from(Arc::clone(alarm));
    future.as_mut().poll(&mut Context::from_waker(&waker))
}

/// Polls a future with a new waker each time; only the last waker matters. Gives up after `polls` polls. If
/// `polls` is `None`, it never gives up.
pub fn task(guarded: &GuardedHall, polls: Option<usize>) {
    let mut future = Box::pin(guarded.hall.acquire_owned_async());
    let mut alarm = Arc::<Alarm>::default();
    let mut old = Vec::new();
    for _ in 0..polls.unwrap_or(2) {
        old.push(mem::take(&mut alarm)); // see the notes on wakers in main.rs
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
