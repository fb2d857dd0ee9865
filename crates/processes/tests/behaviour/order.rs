//! Tests of the order in which waiters get slots.

use crate::support::{TestHall, a_while, is_full, wait_until};

#[test]
fn processes_get_slots_in_the_order_of_their_arrival() {
    let test = TestHall::new(2);
    let (one, other) = (test.hall.acquire().unwrap(), test.hall.acquire().unwrap());
    let mut waiters: Vec<_> = (0..6).map(|_| test.waiter()).collect();
    let pids: Vec<u32> = waiters.iter().map(|puppet| puppet.pid()).collect();
    assert!(test.hall.status().waiters.iter().map(|one| one.pid).eq(pids));
    assert_eq!(test.hall.waiting(), 6);
    drop(one);
    for (index, puppet) in waiters.iter_mut().enumerate() {
        assert_eq!(puppet.answer(), Ok(0), "{index}");
        assert_eq!(test.hall.waiting(), 5 - index);
        puppet.leave(0);
    }
    drop(other);
    drop(waiters);
    test.assert_all_slots_free();
}

#[test]
fn threads_and_processes_wait_in_one_queue() {
    let test = TestHall::new(1);
    let mut next = Some(test.hall.acquire_owned().unwrap());
    let mut waiters = Vec::new();
    for _ in 0..3 {
        let thread = test.waiting_thread(Result::unwrap);
        waiters.push((thread, test.waiter()));
    }
    for (thread, mut puppet) in waiters {
        drop(next.take());
        next = Some(thread.join().unwrap());
        drop(next.take());
        assert_eq!(puppet.answer(), Ok(0));
        puppet.leave(0);
    }
    test.assert_all_slots_free();
}

#[test]
fn a_caller_cannot_overtake_a_waiter_that_is_suspended() {
    let test = TestHall::new(2);
    let (one, other) = (test.hall.acquire().unwrap(), test.hall.acquire().unwrap());
    let waiter = test.waiter();
    waiter.stop();
    drop(one);
    // The slot belongs to the waiter, although the waiter cannot run.
    a_while();
    assert!(is_full(&test.hall));
    waiter.resume();
    drop((waiter, other));
    test.assert_all_slots_free();
}

#[test]
fn a_suspended_waiter_does_not_block_other_slots() {
    let test = TestHall::new(2);
    let (one, other) = (test.hall.acquire().unwrap(), test.hall.acquire().unwrap());
    let (mut first, mut second) = (test.waiter(), test.waiter());
    first.stop();
    drop(one);
    a_while();
    drop(other);
    assert!(second.answer().is_ok());
    first.resume();
    assert!(first.answer().is_ok());
    drop((first, second));
    test.assert_all_slots_free();
}

#[test]
fn a_waiter_that_dies_in_the_middle_of_the_queue_leaves_no_gap() {
    let test = TestHall::new(1);
    let pass = test.hall.acquire().unwrap();
    let (mut first, middle, mut last) = (test.waiter(), test.waiter(), test.waiter());
    middle.kill();
    drop(pass);
    assert_eq!(first.answer(), Ok(0));
    first.leave(0);
    assert_eq!(last.answer(), Ok(0));
    drop((first, last));
    wait_until("nobody waits", || test.hall.waiting() == 0);
    test.assert_all_slots_free();
}

#[test]
fn a_process_that_times_out_does_not_change_the_order_of_the_others() {
    let test = TestHall::new(1);
    let pass = test.hall.acquire().unwrap();
    let mut first = test.waiter();
    let mut middle = test.puppet();
    middle.say("for 2000");
    wait_until("the process waits", || test.hall.status().waiters.len() == 2);
    let mut last = test.waiter();
    assert_eq!(middle.answer(), Err("NoPermits".into()));
    drop(pass);
    assert_eq!(first.answer(), Ok(0));
    first.leave(0);
    assert_eq!(last.answer(), Ok(0));
    drop((first, middle, last));
    test.assert_all_slots_free();
}
