//! Futures of every kind, and their wakers.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Waker},
    thread,
};

use crate::support::{Alarm, Task, assert_all_slots_free, halls, wait_until};

#[test]
fn every_kind_of_future_gets_a_free_slot_at_its_first_poll() {
    for hall in halls(4) {
        let one = Task::new(hall.acquire_async()).done().unwrap();
        let owned = Task::new(hall.acquire_owned_async()).done().unwrap();
        let many = Task::new(hall.acquire_many_async(2)).done().unwrap();
        assert_eq!((one.slot(), owned.slot(), many.slots().collect()), (0, 1, vec![2, 3]));
        drop(many);
        let many = Task::new(hall.acquire_many_owned_async(2)).done().unwrap();
        assert!(many.slots().eq([2, 3]));
        drop((one, owned, many));
        assert_all_slots_free(&hall);
    }
}

#[test]
fn a_future_dropped_before_its_first_poll_holds_no_slot() {
    for hall in halls(1) {
        drop(Task::new(hall.acquire_async()));
        drop(Task::new(hall.acquire_owned_async()));
        let held = hall.acquire().unwrap();
        drop(Task::new(hall.acquire_many_async(1)));
        drop(Task::new(hall.acquire_many_owned_async(1)));
        drop(held);
        assert_eq!(Arc::strong_count(&hall), 1);
        assert_all_slots_free(&hall);
    }
}

#[test]
fn a_large_request_dropped_after_its_grant_passes_all_slots_on() {
    for hall in halls(3) {
        let held = hall.acquire_many(3).unwrap();
        let granted = Task::new(hall.acquire_many_async(3)).waits();
        let next: Vec<_> = (0..3).map(|_| Task::new(hall.acquire_async()).waits()).collect();
        drop(held);
        assert_eq!(granted.wake_ups(), 1);
        drop(granted);
        assert!(next.iter().all(|task| task.wake_ups() == 1));
        drop(next);
        assert_all_slots_free(&hall);
    }
}

/// When a large request is dropped, the waiters behind it get the free slots.
#[test]
fn a_large_request_dropped_in_the_queue_admits_the_waiters_behind_it() {
    for hall in halls(3) {
        let held = hall.acquire().unwrap();
        let many = Task::new(hall.acquire_many_async(3)).waits();
        let next: Vec<_> = (0..3).map(|_| Task::new(hall.acquire_async()).waits()).collect();
        drop(many);
        assert!(next.iter().map(Task::wake_ups).eq([1, 1, 0]));
        drop(held);
        assert!(next.iter().map(Task::wake_ups).eq([1, 1, 1]));
        drop(next);
        assert_all_slots_free(&hall);
    }
}

/// The grant wakes the waker of the last poll.
#[test]
fn a_replaced_waker_is_not_woken() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let mut task = Task::new(hall.acquire_async()).waits();
        let old = std::mem::take(&mut task.alarm);
        assert!(task.poll().is_pending());
        assert_eq!(Arc::strong_count(&old), 1, "nothing keeps the old waker");
        drop(held);
        assert_eq!((old.wake_ups(), task.wake_ups()), (0, 1));
        drop(task.done());
        assert_all_slots_free(&hall);
    }
}

/// The waker is replaced after the grant was made.
#[test]
fn a_poll_with_a_new_waker_finds_an_earlier_grant() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let mut task = Task::new(hall.acquire_async()).waits();
        drop(held);
        let old = std::mem::replace(&mut task.alarm, Arc::new(Alarm::default()));
        assert_eq!(old.wake_ups(), 1);
        assert_eq!(task.done().unwrap().slot(), 0);
        assert_all_slots_free(&hall);
    }
}

#[test]
fn polling_after_the_future_has_returned_panics() {
    for hall in halls(1) {
        let mut task = Task::new(hall.acquire_async());
        let pass = task.poll();
        let mut context = Context::from_waker(Waker::noop());
        let poll = AssertUnwindSafe(|| task.future.as_mut().poll(&mut context).is_ready());
        let text = catch_unwind(poll).unwrap_err();
        assert!(text.downcast_ref::<&str>().unwrap().contains("polled after it had returned"));
        drop((pass, task));
        assert_all_slots_free(&hall);
    }
}

/// Owned futures keep the hall alive until they are dropped.
#[test]
fn owned_futures_keep_the_hall_alive() {
    for hall in halls(1) {
        let weak = Arc::downgrade(&hall);
        let held = hall.acquire_owned().unwrap();
        let queued = Task::new(hall.acquire_owned_async()).waits();
        let granted = Task::new(hall.acquire_many_owned_async(1)).waits();
        drop((hall, queued, held));
        assert_eq!(granted.wake_ups(), 1);
        assert!(weak.upgrade().is_some());
        drop(granted);
        assert!(weak.upgrade().is_none());
    }
}

/// Tasks on a real executor and threads use one hall.
#[test]
fn tasks_of_an_executor_and_threads_together_keep_the_limit() {
    for k in [2, 40] {
        for hall in halls(k) {
            let inside = AtomicUsize::new(0);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        pollster::block_on(async {
                            for _ in 0..2000 {
                                let pass = hall.acquire_async().await.unwrap();
                                assert!(inside.fetch_add(1, SeqCst) < k);
                                assert!(pass.slot() < k);
                                inside.fetch_sub(1, SeqCst);
                            }
                        });
                    });
                    scope.spawn(|| {
                        for _ in 0..2000 {
                            let _passes = hall.acquire_many(2).unwrap();
                            assert!(inside.fetch_add(2, SeqCst) < k - 1);
                            inside.fetch_sub(2, SeqCst);
                        }
                    });
                }
            });
            wait_until("nobody waits", || hall.waiting() == 0);
            assert_all_slots_free(&hall);
        }
    }
}
