//! The behaviours that the tests of tokio's semaphores check (`sync_semaphore`, `sync_semaphore_owned`, and its batch
//! semaphore).

use std::{
    future::Future,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread,
};

use hallpass_threads::{
    AcquireError, Acquirer, Hall, MAX_SLOTS, OwnedPass, ResizeError, TryAcquireError,
};

use crate::{
    all_halls,
    support::{Task, assert_all_slots_free, halls, queue},
};

/// A hall cannot be created without slots. But it can be paused, which has the same effect for callers that ask for one
/// permit.
#[test]
fn without_permits_callers_wait_until_permits_are_added() {
    for hall in all_halls(1) {
        hall.resize(0).unwrap();
        assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
        let task = Task::new(hall.acquire_async()).waits();
        assert_eq!(hall.add_slots(1), Ok(1));
        assert_eq!(task.wake_ups(), 1);
        drop(task.done().unwrap());
        assert_all_slots_free(&hall);
    }
}

#[test]
fn try_acquire_takes_a_permit_that_can_be_taken_again_after_its_release() {
    for hall in all_halls(1) {
        let pass = hall.try_acquire().unwrap();
        assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
        drop(pass);
        drop(hall.try_acquire().unwrap());
        assert_all_slots_free(&hall);
    }
}

#[test]
fn several_permits_are_taken_together_or_not_at_all() {
    for hall in all_halls(42) {
        let all = hall.try_acquire_many(42).unwrap();
        assert_eq!(all.len(), 42);
        assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
        drop(all);
        let some = hall.try_acquire_many(32).unwrap();
        assert_eq!(hall.try_acquire_many(11).unwrap_err(), TryAcquireError::NoPermits);
        drop(hall.try_acquire_many(10).unwrap());
        drop(some);
        assert_all_slots_free(&hall);
    }
}

#[test]
fn a_request_for_zero_permits_always_succeeds() {
    for hall in all_halls(1) {
        assert!(hall.try_acquire_many(0).unwrap().is_empty());
        let held = hall.acquire().unwrap();
        assert!(hall.try_acquire_many(0).unwrap().is_empty());
        assert!(Task::new(hall.acquire_many_async(0)).done().unwrap().is_empty());
        drop(held);
        assert_all_slots_free(&hall);
    }
}

#[test]
fn a_waiting_task_gets_the_permit_that_is_dropped() {
    for hall in all_halls(1) {
        let held = hall.try_acquire_owned().unwrap();
        let task = Task::new(hall.acquire_owned_async()).waits();
        thread::spawn(move || drop(held)).join().unwrap();
        assert_eq!((task.wake_ups(), task.done().unwrap().slot()), (1, 0));
        assert_all_slots_free(&hall);
    }
}

#[test]
fn waiting_tasks_get_permits_one_after_another() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let first = Task::new(hall.acquire_async()).waits();
        let second = Task::new(hall.acquire_async()).waits();
        drop(held);
        assert_eq!((first.wake_ups(), second.wake_ups()), (1, 0));
        let pass = first.done().unwrap();
        let second = second.waits();
        drop(pass);
        assert_eq!(second.wake_ups(), 1);
        drop(second.done().unwrap());
        assert_all_slots_free(&hall);
    }
}

/// tokio gives permits to a large request one by one. A hall leaves the slots free until there are enough.
#[test]
fn a_large_request_waits_for_all_of_its_permits() {
    for hall in halls(8) {
        let held: Vec<_> = (0..8).map(|_| hall.acquire().unwrap()).collect();
        let large = Task::new(hall.acquire_many_async(5)).waits();
        for (released, pass) in held.into_iter().enumerate() {
            assert_eq!(large.wake_ups(), usize::from(released >= 5));
            drop(pass);
        }
        let passes = large.done().unwrap();
        assert_eq!((passes.len(), hall.available()), (5, 3));
        drop(passes);
        assert_all_slots_free(&hall);
    }
}

#[test]
fn permits_can_be_added_while_tasks_wait() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let waiting: Vec<_> = (0..3).map(|_| Task::new(hall.acquire_async()).waits()).collect();
        assert_eq!(hall.add_slots(3), Ok(4));
        assert!(waiting.iter().all(|task| task.wake_ups() == 1));
        let passes: Vec<_> = waiting.into_iter().map(|task| task.done().unwrap()).collect();
        assert_eq!(passes.iter().map(|pass| pass.slot()).collect::<Vec<_>>(), [1, 2, 3]);
        drop((held, passes));
        assert_all_slots_free(&hall);
    }
}

#[test]
fn a_forgotten_permit_is_gone() {
    for hall in all_halls(2) {
        hall.acquire().unwrap().forget();
        let pass = hall.acquire().unwrap();
        assert_eq!((pass.slot(), hall.available()), (1, 0));
        assert!(hall.try_acquire().is_err());
        drop(pass);
        assert_eq!(hall.available(), 1);
    }
}

/// tokio's `forget_permits` takes only free permits. `remove_slots` also takes permits that are held, as soon as
/// they are free.
#[test]
fn permits_can_be_taken_away() {
    for hall in all_halls(10) {
        assert_eq!(hall.remove_slots(3), Ok(7));
        let held = hall.acquire_many(5).unwrap();
        assert_eq!(hall.remove_slots(4), Ok(3));
        assert_eq!(hall.available(), 0);
        assert!(hall.remove_slots(4).is_err(), "the hall has three");
        drop(held);
        assert_eq!(hall.available(), 3);
        assert_eq!(hall.add_slots(7), Ok(10));
        assert_all_slots_free(&hall);
    }
}

#[test]
fn the_number_of_permits_can_change_many_times() {
    for hall in all_halls(5) {
        let held = hall.acquire().unwrap();
        let task = Task::new(hall.acquire_many_async(5)).waits();
        for k in [3, 5, 0, 1, 4] {
            hall.resize(k).unwrap();
        }
        drop(held);
        let task = task.waits(); // four are not enough
        hall.resize(5).unwrap();
        assert_eq!(task.done().unwrap().len(), 5);
        assert_all_slots_free(&hall);
    }
}

#[test]
fn permits_can_be_merged_and_split() {
    for hall in all_halls(6) {
        let mut passes = hall.acquire_many(2).unwrap();
        passes.merge(hall.acquire_many(3).unwrap());
        assert_eq!((passes.len(), hall.available()), (5, 1));
        let off = passes.split_off(4).unwrap();
        assert_eq!((passes.len(), off.len()), (1, 4));
        assert!(passes.split_off(2).is_none(), "there is one");
        drop(off);
        assert_eq!(hall.available(), 5);
        drop(passes);
        assert_all_slots_free(&hall);
    }
}

#[test]
#[should_panic(expected = "hall")]
fn permits_of_two_semaphores_cannot_be_merged() {
    let (one, other) = (Hall::new(2), Hall::new(2));
    let mut passes = one.acquire_many(1).unwrap();
    passes.merge(other.acquire_many(1).unwrap());
}

#[test]
fn the_largest_number_of_permits_is_stated() {
    assert!(Hall::builder(MAX_SLOTS).build().is_ok());
    let error = Hall::builder(MAX_SLOTS + 1).build().unwrap_err().to_string();
    assert!(error.contains("65535"), "{error}");
    let hall = Hall::builder(1).max_slots(MAX_SLOTS).build().unwrap();
    assert_eq!(hall.add_slots(MAX_SLOTS - 1), Ok(MAX_SLOTS));
    let refused = |asked| Err(ResizeError::TooMany { asked, max: MAX_SLOTS });
    assert_eq!(hall.add_slots(1), refused(MAX_SLOTS + 1));
    assert_eq!(hall.add_slots(usize::MAX), refused(usize::MAX));
}

#[test]
fn a_closed_semaphore_gives_no_permits() {
    for hall in all_halls(2) {
        let held = hall.acquire().unwrap();
        let one = Task::new(hall.acquire_many_async(2)).waits();
        let thread = queue(&hall, |hall| hall.acquire_many(2).map(drop));
        hall.close();
        assert_eq!(one.wake_ups(), 1);
        assert_eq!(one.done().unwrap_err(), AcquireError::Closed);
        assert_eq!(thread.join().unwrap(), Err(AcquireError::Closed));
        assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::Closed);
        assert_eq!(Task::new(hall.acquire_async()).done().unwrap_err(), AcquireError::Closed);
        assert!(hall.is_closed());
        drop(held);
        assert_eq!(hall.available(), 2);
    }
}

#[test]
fn a_dropped_future_releases_its_permits() {
    for hall in all_halls(10) {
        let held = hall.acquire_many(8).unwrap();
        let task = Task::new(hall.acquire_many_async(8)).waits();
        drop(held);
        drop(task);
        assert_all_slots_free(&hall);
    }
}

#[test]
fn a_future_that_was_never_polled_takes_nothing() {
    for hall in all_halls(1) {
        drop(hall.acquire_async());
        drop(hall.acquire_many_owned_async(1));
        assert_all_slots_free(&hall);
    }
}

#[test]
fn an_owned_permit_outlives_other_references() {
    let hall = Arc::new(Hall::new(1));
    let pass = hall.acquire_owned().unwrap();
    let seen = Arc::downgrade(&hall);
    drop(hall);
    assert!(seen.upgrade().is_some_and(|hall| hall.available() == 0));
    drop(pass);
    assert!(seen.upgrade().is_none());
}

#[test]
fn many_tasks_on_many_threads_acquire_and_release() {
    for hall in all_halls(5) {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let hall = Arc::clone(&hall);
                thread::spawn(move || {
                    for round in 0..200 {
                        let passes = hall.acquire_many_async(1 + round % 5);
                        drop(pollster::block_on(passes).unwrap());
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_all_slots_free(&hall);
    }
}

/// A waker that owns a pass frees a slot when it is dropped. This happens while a future replaces its waker.
#[test]
fn a_waker_may_release_a_permit_when_it_is_dropped() {
    struct Owner(#[allow(dead_code)] Option<OwnedPass>);
    impl Wake for Owner {
        fn wake(self: Arc<Self>) {}
    }
    for hall in all_halls(1) {
        let mut task = Task::new(hall.acquire_async());
        let owner = Waker::from(Arc::new(Owner(hall.try_acquire_owned().ok())));
        assert!(task.future.as_mut().poll(&mut Context::from_waker(&owner)).is_pending());
        drop(owner);
        assert_eq!((hall.available(), hall.waiting()), (0, 1));
        // This poll drops the last copy of the owner. The slot that this frees goes to the future itself.
        let pass = match task.poll() {
            Poll::Ready(pass) => pass,
            Poll::Pending => task.done(),
        };
        assert_eq!((pass.unwrap().slot(), hall.waiting()), (0, 0));
        assert_all_slots_free(&hall);
    }
}

/// In tokio, a large request that is dropped gives back the permits that it has gathered. In a hall, these slots were
/// free all the time.
#[test]
fn a_cancelled_large_request_leaves_the_permits_to_others() {
    for hall in halls(10) {
        let held = hall.acquire_many(4).unwrap();
        let large = Task::new(hall.acquire_many_async(8)).waits();
        assert_eq!((hall.available(), hall.waiting()), (6, 1)); // tokio: 0 available
        assert!(hall.try_acquire().is_err());
        drop(large);
        assert_eq!(hall.try_acquire_many(6).unwrap().len(), 6);
        drop(held);
        assert_all_slots_free(&hall);
    }
}

/// tokio-util's `PollSemaphore` returns `None` again and again once the semaphore is closed. An acquirer returns
/// errors.
#[test]
fn polling_a_closed_semaphore_always_fails() {
    for hall in all_halls(1) {
        let mut acquirer = Acquirer::new(Arc::clone(&hall));
        let mut context = Context::from_waker(Waker::noop());
        let held = hall.acquire().unwrap();
        assert!(acquirer.poll_acquire(&mut context).is_pending());
        hall.close();
        for _ in 0..3 {
            let polled = acquirer.poll_acquire(&mut context);
            assert!(matches!(polled, Poll::Ready(Err(AcquireError::Closed))));
        }
        drop(held);
    }
}
