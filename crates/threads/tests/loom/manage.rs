//! Halls that are closed or resized while others wait.

use std::{sync::Arc, task::Poll};

use hallpass_threads::{AcquireError, Hall};
use loom::thread;

use crate::support::{Alarm, GuardedHall, model, poll};

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
