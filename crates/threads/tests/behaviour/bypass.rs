//! Tests of halls with a limit on overtaking.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    thread,
};

use hallpass_threads::{Hall, TryAcquireError};

use crate::support::{Task, assert_all_slots_free, queue};

/// Makes halls with `k` slots, a narrow and a wide one, in which `limit` newcomers may overtake a waiter.
fn halls(k: usize, limit: u32) -> [Arc<Hall>; 2] {
    [32, 100].map(|max| Arc::new(Hall::builder(k).bypass(limit).max_slots(max).build().unwrap()))
}

/// Returns how many newcomers get a slot while another caller waits.
fn overtakes(hall: &Hall) -> u32 {
    let mut count = 0;
    while hall.try_acquire().is_ok() {
        count += 1;
        assert!(count < 1000, "newcomers overtake without a limit");
    }
    assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
    count
}

#[test]
fn the_limit_is_the_number_of_newcomers_that_overtake_a_thread() {
    for limit in [0, 1, 2, 64] {
        for hall in halls(2, limit) {
            let held = hall.acquire().unwrap();
            // The thread needs both slots, so one stays free while it waits.
            let waiter = queue(&hall, |hall| hall.acquire_many(2).unwrap().len());
            assert_eq!(overtakes(&hall), limit);
            drop(held);
            assert_eq!(waiter.join().unwrap(), 2);
            assert_all_slots_free(&hall);
        }
    }
}

#[test]
fn every_kind_of_newcomer_counts() {
    for hall in halls(3, 4) {
        let held = hall.acquire().unwrap();
        let waiter = Task::new(hall.acquire_many_async(3)).waits();
        drop(hall.acquire().unwrap());
        drop(hall.acquire_many(2).unwrap());
        drop(Task::new(hall.acquire_async()).done().unwrap());
        drop(hall.try_acquire_owned().unwrap());
        assert_eq!(overtakes(&hall), 0);
        let second = Task::new(hall.acquire_async()).waits();
        drop(held);
        drop(waiter.done().unwrap());
        assert_eq!(second.done().unwrap().slot(), 0);
        assert_all_slots_free(&hall);
    }
}

/// The limit holds for every waiter, not only for the first one.
#[test]
fn a_waiter_behind_another_is_not_overtaken_more_often() {
    for hall in halls(3, 2) {
        let held = hall.acquire_many(2).unwrap();
        let first = Task::new(hall.acquire_many_async(2)).waits();
        let second = Task::new(hall.acquire_many_async(2)).waits();
        assert_eq!(overtakes(&hall), 2);
        drop(held);
        let passes = first.done().unwrap();
        // One slot is free, and the second waiter was overtaken twice.
        assert_eq!((hall.available(), overtakes(&hall)), (1, 0));
        drop(passes);
        let passes = second.done().unwrap();
        let third = Task::new(hall.acquire_many_async(2)).waits();
        assert_eq!(overtakes(&hall), 2, "nobody has overtaken the third waiter yet");
        drop(passes);
        drop(third.done().unwrap());
        assert_all_slots_free(&hall);
    }
}

#[test]
fn waiters_that_give_up_leave_no_debt() {
    for hall in halls(2, 1) {
        let held = hall.acquire().unwrap();
        let crowd: Vec<_> =
            (0..10).map(|_| Task::new(hall.acquire_many_async(2)).waits()).collect();
        assert_eq!(overtakes(&hall), 1);
        drop(crowd);
        let next = Task::new(hall.acquire_many_async(2)).waits();
        assert_eq!(overtakes(&hall), 0, "newcomers get new credit only after the next grant");
        drop(held);
        let passes = next.done().unwrap();
        let last = Task::new(hall.acquire_many_async(2)).waits();
        drop(passes);
        drop(last.done().unwrap());
        let held = hall.acquire().unwrap();
        let waiter = Task::new(hall.acquire_many_async(2)).waits();
        assert_eq!(overtakes(&hall), 1);
        drop((held, waiter));
        assert_all_slots_free(&hall);
    }
}

/// A thread that leaves and comes back immediately, again and again, cannot starve another thread.
#[test]
fn a_thread_that_comes_back_immediately_starves_nobody() {
    for hall in halls(1, 64) {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(SeqCst) {
                    drop(hall.acquire().unwrap());
                }
            });
            (0..100).for_each(|_| drop(hall.acquire().unwrap()));
            over.store(true, SeqCst);
        });
        assert_all_slots_free(&hall);
    }
}

#[test]
fn a_hall_without_a_limit_is_a_barging_hall() {
    for hall in halls(2, u32::MAX) {
        let held = hall.acquire().unwrap();
        let waiter = Task::new(hall.acquire_many_async(2)).waits();
        (0..1000).for_each(|_| drop(hall.try_acquire().unwrap()));
        drop((held, waiter));
        assert_all_slots_free(&hall);
    }
}

#[test]
fn a_static_hall_can_have_a_limit() {
    static HALL: Hall = Hall::builder(2).bypass(1).build_const();
    let held = HALL.acquire().unwrap();
    let waiter = Task::new(HALL.acquire_many_async(2)).waits();
    assert_eq!(overtakes(&HALL), 1);
    drop((held, waiter));
    assert_all_slots_free(&HALL);
}

#[test]
fn a_hall_that_pauses_lets_no_newcomer_overtake() {
    for hall in halls(1, 8) {
        hall.resize(0).unwrap();
        let waiter = Task::new(hall.acquire_async()).waits();
        assert_eq!(overtakes(&hall), 0);
        hall.resize(1).unwrap();
        drop(waiter.done().unwrap());
        hall.close();
        assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::Closed);
    }
}

/// After a hall was made smaller, slots that it no longer has may still be held: the hall owes these slots. Other slots
/// may be free nevertheless.
#[test]
fn a_caller_that_does_not_wait_gets_a_free_slot_of_a_hall_that_owes_slots() {
    for hall in halls(4, 1) {
        let mut held: Vec<_> = (0..4).map(|_| hall.acquire().unwrap()).collect();
        let last = held.pop().unwrap();
        drop(held);
        hall.resize(3).unwrap();
        assert_eq!((last.slot(), hall.available(), hall.waiting()), (3, 2, 0));
        let passes = hall.try_acquire_many(2).unwrap();
        assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
        drop(passes);
        let pass = hall.try_acquire().unwrap();
        assert_eq!((pass.slot(), hall.available()), (0, 1));
        drop((pass, last));
        assert_all_slots_free(&hall);
    }
}
