//! Several slots in one call: owned passes, futures and error texts.

use hallpass_threads::{AcquireError, TryAcquireError};

use crate::support::{Task, assert_all_slots_free, halls};

#[test]
fn the_error_for_too_many_slots_names_both_numbers() {
    for hall in halls(3) {
        let (asked, slots) = (4, 3);
        let error = AcquireError::TooMany { asked, slots };
        let try_error = TryAcquireError::TooMany { asked, slots };
        assert_eq!(hall.acquire_many(4).unwrap_err(), error);
        assert_eq!(hall.acquire_many_owned(4).unwrap_err(), error);
        assert_eq!(hall.try_acquire_many(4).unwrap_err(), try_error);
        let time = std::time::Duration::from_secs(600);
        assert_eq!(hall.try_acquire_many_for(4, time).unwrap_err(), try_error);
        assert_eq!(Task::new(hall.acquire_many_async(4)).done().unwrap_err(), error);
        assert_eq!(Task::new(hall.acquire_many_owned_async(4)).done().unwrap_err(), error);
        let text = "cannot acquire 4 slots: the hall has only 3";
        assert_eq!((error.to_string(), try_error.to_string()), (text.into(), text.into()));
        assert_eq!(hall.acquire_many(usize::MAX).unwrap_err().to_string().len(), text.len() + 19);
        assert_all_slots_free(&hall);
    }
}

/// A request for 0 slots does not wait, and dropping its passes frees no slot.
#[test]
fn a_request_for_no_slots_is_granted_by_every_method() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let waiter = Task::new(hall.acquire_async()).waits();
        let none = hall.acquire_many(0).unwrap();
        assert!(none.is_empty() && none.slots().next().is_none());
        drop(none);
        drop(hall.try_acquire_many(0).unwrap());
        drop(hall.acquire_many_owned(0).unwrap());
        drop(Task::new(hall.acquire_many_async(0)).done().unwrap());
        drop(Task::new(hall.acquire_many_owned_async(0)).done().unwrap());
        assert_eq!((hall.available(), hall.waiting(), waiter.wake_ups()), (0, 1, 0));
        drop(held);
        drop(waiter.done());
        assert_all_slots_free(&hall);
    }
}

/// One release of several slots admits all waiters for which there are enough slots, in order.
#[test]
fn one_release_wakes_as_many_tasks_as_fit() {
    for k in [5, 50] {
        for hall in halls(k) {
            let held = hall.acquire_many(k).unwrap();
            let ones: Vec<_> = (0..3).map(|_| Task::new(hall.acquire_async()).waits()).collect();
            let many = Task::new(hall.acquire_many_async(k - 3)).waits();
            let last = Task::new(hall.acquire_async()).waits();
            drop(held);
            assert!(ones.iter().all(|one| one.wake_ups() == 1));
            assert_eq!((many.wake_ups(), last.wake_ups(), hall.waiting()), (1, 0, 1));
            let mut slots: Vec<_> = Vec::new();
            let ones: Vec<_> = ones.into_iter().map(|one| one.done().unwrap()).collect();
            let many = many.done().unwrap();
            assert_eq!((many.len(), many.is_empty()), (k - 3, false));
            slots.extend(ones.iter().map(|pass| pass.slot()));
            slots.extend(many.slots());
            slots.sort_unstable();
            assert!(slots.into_iter().eq(0..k));
            drop(many);
            drop(last.done());
            drop(ones);
            assert_all_slots_free(&hall);
        }
    }
}

/// A hall may be resized between the call that makes a future and its first poll.
#[test]
fn a_request_for_many_slots_is_validated_at_its_first_poll() {
    for hall in halls(2) {
        let early = Task::new(hall.acquire_many_async(3));
        hall.resize(3).unwrap();
        assert_eq!(early.done().unwrap().len(), 3);
        let late = Task::new(hall.acquire_many_owned_async(3));
        hall.resize(2).unwrap();
        let error = AcquireError::TooMany { asked: 3, slots: 2 };
        assert_eq!(late.done().unwrap_err(), error);
        assert_all_slots_free(&hall);
    }
}

#[test]
fn a_request_for_too_many_slots_of_a_closed_hall_fails_as_closed() {
    for hall in halls(1) {
        hall.close();
        assert_eq!(hall.acquire_many(2).unwrap_err(), AcquireError::Closed);
        assert_eq!(hall.try_acquire_many(2).unwrap_err(), TryAcquireError::Closed);
        assert_eq!(Task::new(hall.acquire_many_async(2)).done().unwrap_err(), AcquireError::Closed);
    }
}

/// Requests for many slots of a large hall take the smallest free slots.
#[test]
fn large_requests_get_the_smallest_slots_in_order() {
    let hall = halls(60_000).remove(0);
    let first = hall.acquire_many(30_000).unwrap();
    let second = hall.acquire_many(20_000).unwrap();
    assert!(first.slots().eq(0..30_000) && second.slots().eq(30_000..50_000));
    drop(first);
    let third = hall.acquire_many(40_000).unwrap();
    assert!(third.slots().eq((0..30_000).chain(50_000..60_000)));
    drop((second, third));
    assert_eq!(hall.available(), 60_000);
}
