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
fn remaining_slots_are_assigned_while_removed_slots_are_held() {
    let test = TestHall::new(4);
    let mut passes: Vec<_> = (0..4).map(|_| test.hall.acquire().unwrap()).collect();
    test.hall.resize(2).unwrap();
    assert_eq!((test.hall.slots(), test.hall.available()), (2, 0));
    assert_eq!(test.hall.status().holders.len(), 4);
    assert!(passes.iter().map(SharedPass::slot).eq(0..4));
    // The hall assigns only the remaining slots, as soon as they are free.
    drop(passes.pop());
    assert!(is_full(&test.hall));
    drop(passes.remove(0));
    let small = test.hall.try_acquire().unwrap();
    assert_eq!(small.slot(), 0);
    assert!(is_full(&test.hall));
    drop((passes, small));
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
