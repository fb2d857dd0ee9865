//! The behaviours that the tests of async-lock's `Semaphore` check.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use hallpass_threads::Hall;

use crate::{
    all_halls,
    support::{Task, assert_all_slots_free, halls, wait_until},
};

#[test]
fn slots_run_out_and_come_back() {
    for hall in all_halls(2) {
        let (first, second) = (hall.try_acquire().unwrap(), hall.try_acquire().unwrap());
        assert!(hall.try_acquire().is_err());
        drop(second);
        let again = hall.try_acquire().unwrap();
        drop((first, again));
        assert_all_slots_free(&hall);
    }
}

#[test]
fn many_threads_on_few_slots_keep_the_limit() {
    const K: usize = 5;
    for hall in all_halls(K) {
        let (inside, total) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let pass = hall.acquire().unwrap();
                        assert!(inside.fetch_add(1, SeqCst) < K);
                        total.fetch_add(1, SeqCst);
                        inside.fetch_sub(1, SeqCst);
                        drop(pass);
                    }
                });
            }
        });
        assert_eq!(total.into_inner(), 2000);
        assert_all_slots_free(&hall);
    }
}

#[test]
fn one_slot_is_a_mutex() {
    for hall in all_halls(1) {
        let counter = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let pass = pollster::block_on(hall.acquire_async()).unwrap();
                        let mut counter =
                            counter.try_lock().expect("no other thread holds the slot");
                        *counter += 1;
                        drop(counter);
                        drop(pass);
                    }
                });
            }
        });
        assert_eq!(counter.into_inner().unwrap(), 400);
        assert_all_slots_free(&hall);
    }
}

/// Two threads hold the two slots at the same time.
#[test]
fn two_threads_hold_slots_at_the_same_time() {
    for hall in all_halls(2) {
        let (sender, receiver) = mpsc::channel();
        let (answer, answered) = mpsc::channel();
        thread::scope(|scope| {
            let hall = &hall;
            scope.spawn(move || {
                let pass = hall.acquire().unwrap();
                sender.send(pass.slot()).unwrap();
                answered.recv().unwrap();
            });
            let other = receiver.recv().unwrap();
            let pass = hall.acquire().unwrap();
            assert_ne!(pass.slot(), other);
            answer.send(()).unwrap();
        });
        assert_all_slots_free(&hall);
    }
}

/// A pass that owns its hall can leave the function that created the hall.
#[test]
fn an_owned_pass_has_no_lifetime() {
    fn make() -> hallpass_threads::OwnedPass {
        Arc::new(Hall::new(1)).acquire_owned().unwrap()
    }
    assert_eq!(make().slot(), 0);
}

/// If a future is dropped after it was woken, the next waiter is woken.
#[test]
fn a_wake_up_is_not_lost_with_its_future() {
    for hall in all_halls(1) {
        let held = hall.acquire().unwrap();
        let first = Task::new(hall.acquire_async()).waits();
        let second = Task::new(hall.acquire_async()).waits();
        drop(held);
        assert_eq!(first.wake_ups(), 1);
        drop(first);
        assert_eq!(second.wake_ups(), 1);
        drop(second.done().unwrap());
        assert_all_slots_free(&hall);
    }
}

#[test]
fn slots_can_be_added_to_a_full_hall() {
    for hall in all_halls(1) {
        let first = hall.acquire().unwrap();
        assert!(hall.try_acquire().is_err());
        hall.add_slots(1).unwrap();
        let second = hall.try_acquire().unwrap();
        assert_ne!(first.slot(), second.slot());
        drop((first, second));
        assert_all_slots_free(&hall);
    }
}

/// Fifty tasks wait on separate threads. Then fifty slots are added in one call, and no task frees its slot.
#[test]
fn every_waiter_gets_one_of_the_slots_that_are_added() {
    for hall in [Hall::builder(1).max_slots(50), Hall::builder(1).max_slots(50).bypass(1)] {
        let hall = Arc::new(hall.build().unwrap());
        hall.resize(0).unwrap();
        let threads: Vec<_> = (0..50)
            .map(|_| {
                let hall = Arc::clone(&hall);
                thread::spawn(move || {
                    let pass = pollster::block_on(hall.acquire_async()).unwrap();
                    let slot = pass.slot();
                    pass.forget();
                    slot
                })
            })
            .collect();
        wait_until("all tasks wait", || hall.waiting() == 50);
        assert_eq!(hall.add_slots(50), Ok(50));
        let mut slots: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        slots.sort_unstable();
        assert!(slots.into_iter().eq(0..50));
        assert_eq!((hall.available(), hall.waiting()), (0, 0));
    }
}

/// One slot is added, and only the first of two futures gets it, although the test polls both of them.
#[test]
fn one_added_slot_serves_one_of_two_futures() {
    for hall in halls(1) {
        hall.resize(0).unwrap();
        let first = Task::new(hall.acquire_async()).waits();
        let second = Task::new(hall.acquire_async()).waits();
        hall.add_slots(1).unwrap();
        let pass = first.done().unwrap();
        let second = second.waits();
        drop(pass);
        drop(second.done().unwrap());
        assert_all_slots_free(&hall);
    }
}

/// A future that keeps its hall alive can outlive every other reference.
#[test]
fn a_future_that_was_never_polled_keeps_its_hall_alive() {
    let future = Arc::new(Hall::new(2)).acquire_owned_async();
    assert_eq!(pollster::block_on(future).unwrap().slot(), 0);
}
