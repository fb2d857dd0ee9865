//! Resizing.

use hallpass_threads::{Hall, MAX_SLOTS, ResizeError};

use crate::support::{Task, assert_whole, halls, queue};

#[test]
fn more_slots_are_the_waiters_before_resize_returns() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let tasks: Vec<_> = (0..4).map(|_| Task::new(hall.acquire_async()).waits()).collect();
        let thread = queue(&hall, |hall| hall.acquire_owned().unwrap());
        hall.resize(3).unwrap();
        assert!(tasks.iter().map(Task::rung).eq([1, 1, 0, 0]));
        assert_eq!((hall.slots(), hall.available(), hall.waiting()), (3, 0, 3));
        hall.resize(6).unwrap();
        let last = thread.join().unwrap();
        assert!(tasks.iter().all(|task| task.rung() == 1));
        let passes: Vec<_> = tasks.into_iter().map(|task| task.done().unwrap()).collect();
        let mut slots: Vec<_> = passes.iter().map(|pass| pass.slot()).collect();
        slots.push(last.slot());
        slots.sort_unstable();
        assert_eq!(slots, [1, 2, 3, 4, 5]);
        drop((held, passes, last));
        assert_whole(&hall);
    }
}

#[test]
fn nobody_gets_in_before_fewer_than_k_are_in() {
    for hall in halls(4) {
        let mut held: Vec<_> = (0..4).map(|_| hall.acquire().unwrap()).collect();
        hall.resize(2).unwrap();
        assert!(held.iter().map(|pass| pass.slot()).eq(0..4));
        assert_eq!((hall.slots(), hall.available(), hall.waiting()), (2, 0, 0));
        // Two passes too many are held. Nobody gets in before two are dropped, whichever they are.
        drop(held.remove(0));
        assert_eq!((hall.available(), hall.waiting()), (0, 0));
        assert!(hall.try_acquire().is_err());
        drop(held.remove(0));
        assert_eq!((hall.available(), hall.waiting()), (0, 0));
        assert!(hall.try_acquire().is_err());
        // Slots 2 and 3 are held. When one is dropped, a caller gets in with a slot below 2.
        drop(held.remove(0));
        assert_eq!(hall.available(), 1);
        let small = hall.acquire().unwrap();
        assert_eq!(small.slot(), 0);
        assert!(hall.try_acquire().is_err());
        held.clear();
        assert_eq!(hall.acquire().unwrap().slot(), 1);
        drop(small);
        assert_whole(&hall);
    }
}

#[test]
fn a_hall_can_grow_again_while_removed_slots_are_held() {
    for hall in halls(4) {
        let mut held: Vec<_> = (0..4).map(|_| hall.acquire().unwrap()).collect();
        hall.resize(1).unwrap();
        held.drain(..2);
        assert_eq!(hall.available(), 0);
        hall.resize(3).unwrap(); // 2 and 3 are held
        assert_eq!((hall.slots(), hall.available(), hall.waiting()), (3, 1, 0));
        let small = hall.acquire().unwrap();
        assert_eq!(small.slot(), 0);
        assert!(hall.try_acquire().is_err());
        hall.resize(5).unwrap();
        assert_eq!(hall.available(), 2);
        let rest = hall.acquire_many(2).unwrap();
        assert!(rest.slots().eq([1, 4]));
        drop((held, small, rest));
        assert_whole(&hall);
        hall.resize(2).unwrap();
        assert_whole(&hall);
    }
}

#[test]
fn a_hall_cannot_grow_beyond_its_room() {
    let hall = Hall::new(2);
    assert_eq!(hall.resize(0), Err(ResizeError { asked: 0, max: 32 }));
    assert_eq!(hall.resize(33), Err(ResizeError { asked: 33, max: 32 }));
    assert_eq!(
        hall.resize(33).unwrap_err().to_string(),
        "this hall can have 1 to 32 slots, got 33; use `Hall::builder(k).max_slots(m)` to make room for more"
    );
    hall.resize(32).unwrap();
    assert_whole(&hall);
    let hall = Hall::builder(2).max_slots(3).build().unwrap();
    assert_eq!(hall.resize(4), Err(ResizeError { asked: 4, max: 3 }));
    hall.resize(3).unwrap();
    assert_whole(&hall);
    let hall = Hall::new(40);
    assert_eq!(hall.resize(41), Err(ResizeError { asked: 41, max: 40 }));
    hall.resize(1).unwrap();
    assert_whole(&hall);
    let hall = Hall::builder(1).max_slots(MAX_SLOTS).build().unwrap();
    hall.resize(MAX_SLOTS).unwrap();
    assert_whole(&hall);
    hall.resize(1).unwrap();
    assert_whole(&hall);
}
