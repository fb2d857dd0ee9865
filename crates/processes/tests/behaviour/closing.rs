//! Tests of closed halls.

use std::time::Duration;

use hallpass_processes::Error;

use crate::support::{NAME, TestHall, wait_until};

#[test]
fn waiters_and_newcomers_of_all_processes_get_an_error_when_a_hall_is_closed() {
    let test = TestHall::new(1);
    let hall = &test.hall;
    let (mut holder, _) = test.holder();
    let thread = test.waiting_thread(|pass| matches!(pass, Err(Error::Closed)));
    let mut waiter = test.waiter();
    assert!(!hall.is_closed() && !hall.status().closed);
    hall.close();
    assert!(hall.is_closed() && hall.status().closed);
    assert_eq!(waiter.answer(), Err("Closed".into()));
    assert!(thread.join().unwrap());
    wait_until("nobody waits", || hall.waiting() == 0);
    assert!(matches!(hall.acquire(), Err(Error::Closed)));
    assert!(matches!(hall.try_acquire(), Err(Error::Closed)));
    assert!(matches!(hall.try_acquire_for(Duration::from_secs(60)), Err(Error::Closed)));
    assert_eq!(waiter.acquire(), Err("Closed".into()));
    // The holder keeps its slot until it leaves.
    assert_eq!(hall.status().holders.len(), 1);
    holder.leave(0);
    assert_eq!(hall.status().holders.len(), 0);
    assert_eq!(holder.acquire(), Err("Closed".into()));
}

#[test]
fn a_closed_hall_can_be_removed_and_created_again() {
    let test = TestHall::new(1);
    test.hall.close();
    test.hall.close();
    test.dir().remove(NAME, false).unwrap();
    let hall = test.dir().open(NAME, 2).unwrap();
    assert!(!hall.is_closed());
    assert_eq!(hall.try_acquire().unwrap().slot(), 0);
    assert!(test.hall.is_closed(), "the old hall stays closed");
}

#[test]
fn a_closed_hall_whose_holder_was_killed_can_be_removed() {
    let test = TestHall::new(2);
    let (holder, _) = test.holder();
    test.hall.close();
    holder.kill();
    test.dir().remove(NAME, false).unwrap();
    assert!(test.dir().open_existing(NAME).is_err());
}
