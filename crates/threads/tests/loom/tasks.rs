//! Tasks that wait, are polled with a different waker, and are dropped.

use std::{
    future::Future,
    sync::Arc,
    task::{Context, Wake, Waker},
};

use hallpass_threads::Hall;
use loom::thread;

use crate::support::{Alarm, GuardedHall, meanwhile, model, task};

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
fn a_future_in_a_barging_hall_tries_again_or_is_dropped() {
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

/// A waker that wakes its task, and then blocks in another hall. A thread that waits in the first hall may call this
/// waker and park in the other hall. It may then consume a wake-up that belongs to its wait in the first hall.
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

/// A future is dropped while it gets a grant. The future behind it gets the slot.
#[test]
fn a_future_is_dropped_during_a_grant_while_another_future_waits() {
    model(3, || {
        let guarded = GuardedHall::new(1, 1);
        meanwhile(&guarded, vec![|guarded| task(guarded, Some(1)), |guarded| task(guarded, None)]);
        assert!(guarded.touched() >= 2);
    });
}
