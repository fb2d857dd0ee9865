//! Resizing.

use std::thread;

use hallpass_threads::{AcquireError, Hall, MAX_SLOTS, ResizeError};

use crate::support::{Task, assert_all_slots_free, halls, queue};

#[test]
fn new_slots_belong_to_the_waiters_before_resize_returns() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let tasks: Vec<_> = (0..4).map(|_| Task::new(hall.acquire_async()).waits()).collect();
        let thread = queue(&hall, |hall| hall.acquire_owned().unwrap());
        hall.resize(3).unwrap();
        assert!(tasks.iter().map(Task::wake_ups).eq([1, 1, 0, 0]));
        assert_eq!((hall.slots(), hall.available(), hall.waiting()), (3, 0, 3));
        hall.resize(6).unwrap();
        let last = thread.join().unwrap();
        assert!(tasks.iter().all(|task| task.wake_ups() == 1));
        let passes: Vec<_> = tasks.into_iter().map(|task| task.done().unwrap()).collect();
        let mut slots: Vec<_> = passes.iter().map(|pass| pass.slot()).collect();
        slots.push(last.slot());
        slots.sort_unstable();
        assert_eq!(slots, [1, 2, 3, 4, 5]);
        drop((held, passes, last));
        assert_all_slots_free(&hall);
    }
}

#[test]
fn nobody_gets_a_slot_until_fewer_than_k_passes_are_held() {
    for hall in halls(4) {
        let mut held: Vec<_> = (0..4).map(|_| hall.acquire().unwrap()).collect();
        hall.resize(2).unwrap();
        assert!(held.iter().map(|pass| pass.slot()).eq(0..4));
        assert_eq!((hall.slots(), hall.available(), hall.waiting()), (2, 0, 0));
        // Four passes are held, and the hall has two slots. So nobody gets a slot before three passes are dropped.
        drop(held.remove(0));
        assert_eq!((hall.available(), hall.waiting()), (0, 0));
        assert!(hall.try_acquire().is_err());
        drop(held.remove(0));
        assert_eq!((hall.available(), hall.waiting()), (0, 0));
        assert!(hall.try_acquire().is_err());
        // Slots 2 and 3 are held. When one of them is freed, a caller gets a slot below 2.
        drop(held.remove(0));
        assert_eq!(hall.available(), 1);
        let small = hall.acquire().unwrap();
        assert_eq!(small.slot(), 0);
        assert!(hall.try_acquire().is_err());
        held.clear();
        assert_eq!(hall.acquire().unwrap().slot(), 1);
        drop(small);
        assert_all_slots_free(&hall);
    }
}

#[test]
fn a_hall_can_grow_again_while_removed_slots_are_held() {
    for hall in halls(4) {
        let mut held: Vec<_> = (0..4).map(|_| hall.acquire().unwrap()).collect();
        hall.resize(1).unwrap();
        held.drain(..2);
        assert_eq!(hall.available(), 0);
        hall.resize(3).unwrap(); // slots 2 and 3 are held
        assert_eq!((hall.slots(), hall.available(), hall.waiting()), (3, 1, 0));
        let small = hall.acquire().unwrap();
        assert_eq!(small.slot(), 0);
        assert!(hall.try_acquire().is_err());
        hall.resize(5).unwrap();
        assert_eq!(hall.available(), 2);
        let rest = hall.acquire_many(2).unwrap();
        assert!(rest.slots().eq([1, 4]));
        drop((held, small, rest));
        assert_all_slots_free(&hall);
        hall.resize(2).unwrap();
        assert_all_slots_free(&hall);
    }
}

#[test]
fn a_hall_cannot_grow_beyond_its_limit() {
    let hall = Hall::new(2);
    assert_eq!(hall.resize(33), Err(ResizeError::TooMany { asked: 33, max: 32 }));
    assert_eq!(
        hall.resize(33).unwrap_err().to_string(),
        "this hall can have 0 to 32 slots, got 33; use `Hall::builder(k).max_slots(m)` to make room for more"
    );
    hall.resize(32).unwrap();
    assert_all_slots_free(&hall);
    let hall = Hall::builder(2).max_slots(3).build().unwrap();
    assert_eq!(hall.resize(4), Err(ResizeError::TooMany { asked: 4, max: 3 }));
    hall.resize(3).unwrap();
    assert_all_slots_free(&hall);
    let hall = Hall::new(40);
    assert_eq!(hall.resize(41), Err(ResizeError::TooMany { asked: 41, max: 40 }));
    hall.resize(1).unwrap();
    assert_all_slots_free(&hall);
    let hall = Hall::builder(1).max_slots(MAX_SLOTS).build().unwrap();
    hall.resize(MAX_SLOTS).unwrap();
    assert_all_slots_free(&hall);
    hall.resize(1).unwrap();
    assert_all_slots_free(&hall);
}

/// If the hall has no slots, callers wait until it has slots again.
#[test]
fn a_hall_with_no_slots_pauses() {
    for hall in halls(2) {
        let held = hall.acquire().unwrap();
        hall.resize(0).unwrap();
        assert_eq!((hall.slots(), hall.available()), (0, 0));
        assert!(hall.try_acquire().is_err());
        let error = AcquireError::TooMany { asked: 2, slots: 0 };
        assert_eq!(hall.acquire_many(2).unwrap_err(), error);
        let one = Task::new(hall.acquire_async()).waits();
        let other = Task::new(hall.acquire_many_async(1)).waits();
        drop(held);
        assert_eq!((one.wake_ups(), hall.available(), hall.waiting()), (0, 0, 2));
        hall.resize(1).unwrap();
        assert_eq!((one.wake_ups(), other.wake_ups()), (1, 0));
        drop(one.done());
        drop(other.done());
        hall.resize(2).unwrap();
        assert_all_slots_free(&hall);
    }
}

#[test]
fn a_number_of_slots_can_be_added_and_removed() {
    for hall in halls(3) {
        assert_eq!(hall.add_slots(2).unwrap(), 5);
        assert_eq!(hall.remove_slots(4).unwrap(), 1);
        assert_eq!(hall.remove_slots(1).unwrap(), 0);
        let error = hall.remove_slots(1).unwrap_err();
        assert_eq!(error, ResizeError::TooFew { removed: 1, slots: 0 });
        assert_eq!(error.to_string(), "cannot remove 1 slot: the hall has only 0");
        let error = hall.add_slots(usize::MAX).unwrap_err();
        assert!(matches!(error, ResizeError::TooMany { asked: usize::MAX, .. }), "{error}");
        assert_eq!(hall.add_slots(3).unwrap(), 3);
        assert_all_slots_free(&hall);
    }
}

/// Repeats an attempt until it has succeeded 300 times.
fn repeat(attempt: impl Fn() -> bool) {
    let mut left = 300;
    while left > 0 {
        left -= u32::from(attempt());
        thread::yield_now();
    }
}

/// Several threads change the number of slots at the same time, while other threads use the hall.
#[test]
fn no_change_of_the_number_of_slots_is_lost() {
    for hall in halls(3) {
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| repeat(|| hall.add_slots(2).is_ok()));
                scope.spawn(|| repeat(|| hall.remove_slots(2).is_ok()));
            }
            scope.spawn(|| repeat(|| hall.acquire().is_ok()));
        });
        assert_eq!(hall.slots(), 3);
        assert_all_slots_free(&hall);
    }
}
