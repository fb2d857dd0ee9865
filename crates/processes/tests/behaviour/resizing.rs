//! Tests that change the number of slots while the hall is in use.

use hallpass_processes::SharedPass;

use crate::support::{NAME, TestHall, a_while, is_full, wait_until};

#[test]
fn waiting_processes_get_new_slots() {
    let test = TestHall::new(1);
    let pass = test.hall.acquire().unwrap();
    let mut waiters: Vec<_> = (0..4).map(|_| test.waiter()).collect();
    test.hall.resize(3).unwrap();
    assert_eq!((waiters[0].answer(), waiters[1].answer()), (Ok(1), Ok(2)));
    a_while();
    assert_eq!((test.hall.slots(), test.hall.waiting()), (3, 2));
    test.hall.resize(100).unwrap();
    assert_eq!((waiters[2].answer(), waiters[3].answer()), (Ok(3), Ok(4)));
    assert_eq!((test.hall.available(), test.hall.waiting()), (95, 0));
    drop((pass, waiters));
    test.assert_all_slots_free();
}

#[test]
fn a_shrunk_hall_admits_nobody_until_fewer_slots_are_held_than_it_has() {
    let test = TestHall::new(4);
    let mut passes: Vec<_> = (0..4).map(|_| test.hall.acquire().unwrap()).collect();
    test.hall.resize(2).unwrap();
    assert_eq!((test.hall.slots(), test.hall.available()), (2, 0));
    assert_eq!(test.hall.status().holders.len(), 4);
    assert!(passes.iter().map(SharedPass::slot).eq(0..4));
    // Slot 0 is free, but slots 1, 2 and 3 are still held.
    drop(passes.remove(0));
    assert!(is_full(&test.hall));
    let mut waiter = test.waiter();
    drop(passes.remove(0));
    a_while();
    assert_eq!((test.hall.waiting(), test.hall.available()), (1, 0));
    drop(passes.pop());
    assert_eq!(waiter.answer(), Ok(0));
    assert!(is_full(&test.hall), "slots 0 and 2 are held");
    drop(passes);
    assert_eq!(test.hall.try_acquire().unwrap().slot(), 1);
    drop(waiter);
    test.assert_all_slots_free();
}

#[test]
fn a_hall_that_shrinks_and_grows_again_admits_as_many_as_before() {
    let test = TestHall::new(3);
    let last = test.hall.acquire_many(3).unwrap();
    test.hall.resize(1).unwrap();
    let mut waiter = test.waiter();
    test.hall.resize(4).unwrap();
    assert_eq!(waiter.answer(), Ok(3));
    drop((waiter, last));
    test.assert_all_slots_free();
}

#[test]
fn other_processes_and_handles_see_the_new_size() {
    let test = TestHall::new(1);
    let mut puppet = test.puppet();
    test.hall.resize(2).unwrap();
    assert_eq!((puppet.acquire(), puppet.acquire()), (Ok(0), Ok(1)));
    assert!(test.dir().open(NAME, 1).is_err());
    assert_eq!(test.dir().open(NAME, 2).unwrap().slots(), 2);
    assert_eq!(test.hall.status().slots, 2);
    drop(puppet);
    test.assert_all_slots_free();
}

#[test]
fn slots_of_a_dead_process_do_not_keep_a_hall_from_shrinking() {
    let test = TestHall::new(4);
    let mut holder = test.puppet();
    (0..4).for_each(|slot| assert_eq!(holder.acquire(), Ok(slot)));
    test.hall.resize(1).unwrap();
    holder.kill();
    wait_until("the only slot is free", || test.hall.try_acquire().is_ok());
    test.assert_all_slots_free();
    test.hall.resize(4).unwrap();
    test.assert_all_slots_free();
}
