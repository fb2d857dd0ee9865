//! Tests with many waiters, and with requests for several slots.

use std::{
    pin::Pin,
    task::{Context, Poll, Waker},
    thread,
};

use hallpass_processes::{Cancel, Error};

use crate::{
    puppet::Puppet,
    support::{TestHall, is_full, wait_until},
};

/// Starts a process that is last in the queue and waits for `count` slots.
fn waiter_for(test: &TestHall, count: usize) -> Puppet {
    let mut puppet = test.puppet();
    puppet.say(&format!("many {count}"));
    let last = || test.hall.status().waiters.last().map(|one| one.pid);
    wait_until("the puppet is last in the queue", || last() == Some(puppet.pid()));
    puppet
}

#[test]
fn a_killed_holder_of_several_slots_frees_all_of_them() {
    let test = TestHall::new(3);
    let mut holder = test.puppet();
    assert_eq!(holder.order("many 3"), "in [0, 1, 2]");
    assert_eq!(test.hall.status().holders.len(), 3);
    let mut next = waiter_for(&test, 2);
    let mut last = waiter_for(&test, 1);
    holder.kill();
    assert_eq!((next.hear().as_str(), last.hear().as_str()), ("in [0, 1]", "in [2]"));
    drop((next, last));
    test.assert_all_slots_free();
}

#[test]
fn slots_set_aside_for_a_killed_waiter_go_to_the_next_one() {
    let test = TestHall::new(3);
    let pass = test.hall.acquire().unwrap();
    let large = waiter_for(&test, 3);
    let mut behind = waiter_for(&test, 2);
    assert!(is_full(&test.hall), "slots 1 and 2 are set aside");
    assert_eq!((test.hall.available(), test.hall.status().holders.len()), (2, 1));
    large.kill();
    assert_eq!(behind.hear(), "in [1, 2]");
    drop((pass, behind));
    test.assert_all_slots_free();
}

/// When the first waiter is killed, it is the last in the queue. The next waiter arrives afterwards.
#[test]
fn a_waiter_that_arrives_after_a_waiter_for_all_slots_was_killed_gets_all_slots() {
    let test = TestHall::new(2);
    let pass = test.hall.acquire().unwrap();
    let first = waiter_for(&test, 2);
    first.kill();
    let mut next = waiter_for(&test, 2);
    drop(pass);
    assert_eq!(next.hear(), "in [0, 1]");
    assert_eq!(next.order("leave-many"), "left");
    drop(next);
    test.assert_all_slots_free();
}

/// The first waiter is suspended while it waits for two of three slots. It keeps at most two slots unused.
#[test]
fn a_suspended_waiter_for_two_slots_keeps_only_two_slots_unused() {
    let test = TestHall::new(3);
    let passes = test.hall.acquire_many(3).unwrap();
    let stopped = waiter_for(&test, 2);
    stopped.stop();
    let mut behind = waiter_for(&test, 1);
    drop(passes);
    assert_eq!(behind.hear(), "in [2]");
    drop((stopped, behind));
    test.assert_all_slots_free();
}

#[test]
fn processes_that_want_several_slots_do_not_block_each_other() {
    let test = TestHall::new(3);
    let mut puppets: Vec<_> = (0..6).map(|_| test.puppet()).collect();
    for _ in 0..20 {
        puppets.iter_mut().enumerate().for_each(|(i, puppet)| {
            puppet.say(&format!("visit-many {}", i % 3 + 1));
        });
        puppets.iter_mut().for_each(|puppet| assert_eq!(puppet.hear(), "visited"));
    }
    drop(puppets);
    test.assert_all_slots_free();
}

#[test]
fn a_request_for_more_slots_than_a_shrunk_hall_has_gives_up() {
    let test = TestHall::new(2);
    let pass = test.hall.acquire().unwrap();
    let cancel = Cancel::default();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| test.hall.acquire_many_unless(2, &cancel, None).map(drop));
        wait_until("the thread waits", || test.hall.waiting() == 1);
        test.hall.resize(1).unwrap();
        let answer = waiter.join().unwrap();
        assert!(matches!(answer, Err(Error::TooMany { asked: 2, slots: 1 })), "{answer:?}");
    });
    drop(pass);
    test.assert_all_slots_free();
}

/// The hall grows again before the waiter returns. So the waiter gets its slots, or it gets the error that says why it
/// gave up. This error contains the smaller number of slots.
#[test]
fn a_request_that_gives_up_in_a_shrunk_hall_gives_this_reason_even_if_the_hall_grows_again() {
    let test = TestHall::new(2);
    for _ in 0..50 {
        let pass = test.hall.acquire().unwrap();
        let cancel = Cancel::default();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| test.hall.acquire_many_unless(2, &cancel, None).map(drop));
            wait_until("the thread waits", || test.hall.waiting() == 1);
            test.hall.resize(1).unwrap();
            test.hall.resize(2).unwrap();
            drop(pass);
            let answer = waiter.join().unwrap();
            let is_right = matches!(answer, Ok(()) | Err(Error::TooMany { asked: 2, slots: 1 }));
            assert!(is_right, "{answer:?}");
        });
    }
    test.assert_all_slots_free();
}

#[test]
fn a_task_takes_several_slots_and_leaves_the_queue_when_it_is_dropped() {
    let test = TestHall::new(3);
    let pass = test.hall.acquire().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut dropped = test.hall.acquire_many_async(3);
    assert!(Pin::new(&mut dropped).poll(&mut context).is_pending());
    wait_until("the first task waits", || test.hall.waiting() == 1);
    let mut waiting = test.hall.acquire_many_async(3);
    assert!(Pin::new(&mut waiting).poll(&mut context).is_pending());
    wait_until("both tasks wait", || test.hall.waiting() == 2);
    drop(dropped);
    wait_until("one task waits", || test.hall.waiting() == 1);
    drop(pass);
    let mut got = None;
    wait_until("the other task gets its slots", || {
        match Pin::new(&mut waiting).poll(&mut context) {
            Poll::Ready(passes) => got = Some(passes.unwrap()),
            Poll::Pending => {}
        }
        got.is_some()
    });
    assert_eq!(got.unwrap().slots(), [0, 1, 2]);
    test.assert_all_slots_free();
}

#[test]
fn three_hundred_waiters_of_ten_processes_get_slots() {
    let test = TestHall::new(2);
    let (one, other) = (test.hall.acquire().unwrap(), test.hall.acquire().unwrap());
    let mut puppets: Vec<_> = (0..10).map(|_| test.puppet()).collect();
    puppets.iter_mut().for_each(|puppet| puppet.say("crowd 30"));
    wait_until("all wait", || test.hall.waiting() == 300);
    assert_eq!(test.hall.status().waiters.len(), 300);
    drop((one, other));
    for puppet in &mut puppets {
        assert_eq!(puppet.hear(), "30");
    }
    drop(puppets);
    test.assert_all_slots_free();
}

#[test]
fn a_waiter_behind_three_hundred_killed_waiters_gets_a_slot() {
    let test = TestHall::new(1);
    let pass = test.hall.acquire().unwrap();
    let mut puppets: Vec<_> = (0..10).map(|_| test.puppet()).collect();
    puppets.iter_mut().for_each(|puppet| puppet.say("crowd 30"));
    wait_until("all wait", || test.hall.waiting() == 300);
    let mut last = test.waiter();
    drop(puppets);
    drop(pass);
    assert_eq!(last.answer(), Ok(0));
    drop(last);
    test.assert_all_slots_free();
}
