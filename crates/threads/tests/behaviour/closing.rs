//! A closed hall.

use std::{sync::Arc, time::Duration};

use hallpass_threads::{AcquireError, Hall, TryAcquireError};

use crate::support::{Task, halls, queue};

/// Checks that the hall is closed, and that calls of every kind report this: of threads and tasks, for one slot or
/// several.
fn assert_closed(hall: &Arc<Hall>) {
    assert!(hall.is_closed());
    let time = Duration::from_secs(600);
    assert_eq!(hall.acquire().unwrap_err(), AcquireError::Closed);
    assert_eq!(hall.acquire_owned().unwrap_err(), AcquireError::Closed);
    assert_eq!(hall.acquire_many(1).unwrap_err(), AcquireError::Closed);
    assert_eq!(hall.acquire_many_owned(1).unwrap_err(), AcquireError::Closed);
    assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::Closed);
    assert_eq!(hall.try_acquire_owned().unwrap_err(), TryAcquireError::Closed);
    assert_eq!(hall.try_acquire_many(1).unwrap_err(), TryAcquireError::Closed);
    assert_eq!(hall.try_acquire_for(time).unwrap_err(), TryAcquireError::Closed);
    assert_eq!(hall.try_acquire_many_for(1, time).unwrap_err(), TryAcquireError::Closed);
    let closed = Some(AcquireError::Closed);
    assert_eq!(Task::new(hall.acquire_async()).done().err(), closed);
    assert_eq!(Task::new(hall.acquire_owned_async()).done().err(), closed);
    assert_eq!(Task::new(hall.acquire_many_async(1)).done().err(), closed);
    assert_eq!(Task::new(hall.acquire_many_owned_async(1)).done().err(), closed);
    assert_eq!(hall.waiting(), 0);
}

#[test]
fn calls_of_every_kind_fail_after_close() {
    for hall in halls(2) {
        assert!(!hall.is_closed());
        hall.close();
        assert_closed(&hall);
        hall.close(); // has no effect
        assert_closed(&hall);
        assert_eq!(hall.available(), 2);
    }
}

#[test]
fn closing_wakes_every_waiting_task_once() {
    for hall in halls(2) {
        let held = hall.acquire_many(2).unwrap();
        let task = Task::new(hall.acquire_async()).waits();
        let dropped = Task::new(hall.acquire_async()).waits();
        let several = Task::new(hall.acquire_many_async(2)).waits();
        let owned = queue(&hall, |hall| hall.acquire_owned().map(drop));
        hall.close();
        assert_eq!(owned.join().unwrap(), Err(AcquireError::Closed));
        assert_eq!((task.wake_ups(), dropped.wake_ups(), several.wake_ups()), (1, 1, 1));
        drop(dropped);
        assert_eq!(task.done().unwrap_err(), AcquireError::Closed);
        assert_eq!(several.done().unwrap_err(), AcquireError::Closed);
        assert_closed(&hall);
        drop(held);
        assert_closed(&hall);
    }
}

#[test]
fn slots_freed_after_closing_are_counted_as_free() {
    for hall in halls(3) {
        let (one, two) = (hall.acquire().unwrap(), hall.acquire_many(2).unwrap());
        hall.close();
        assert_eq!((one.slot(), two.slots().collect()), (0, vec![1, 2]));
        assert_eq!(hall.available(), 0);
        drop(one);
        assert_eq!((hall.slots(), hall.available(), hall.waiting()), (3, 1, 0));
        drop(two);
        assert_eq!((hall.slots(), hall.available(), hall.waiting()), (3, 3, 0));
        assert_closed(&hall);
    }
}

#[test]
fn a_closed_hall_can_be_resized_and_stays_closed() {
    for hall in halls(2) {
        let held = hall.acquire_many(2).unwrap();
        hall.close();
        hall.resize(1).unwrap();
        assert_eq!((hall.slots(), hall.available(), hall.waiting()), (1, 0, 0));
        assert_closed(&hall);
        drop(held);
        assert_eq!((hall.slots(), hall.available(), hall.waiting()), (1, 1, 0));
        hall.resize(4).unwrap();
        assert_eq!((hall.slots(), hall.available(), hall.waiting()), (4, 4, 0));
        assert_closed(&hall);
    }
}
