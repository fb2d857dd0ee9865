//! First in, first enabled.

use std::{
    sync::{Arc, mpsc},
    thread,
};

use hallpass_threads::{Hall, TryAcquireError};

use crate::support::{Task, assert_whole, halls, queue, wait_until};

/// Threads get in in the order in which they queued.
#[test]
fn threads_get_in_in_order() {
    for k in [1, 3, 40] {
        for hall in halls(k) {
            let mut held: Vec<_> = (0..k).map(|_| hall.acquire_owned().unwrap()).collect();
            let (tell, told) = mpsc::channel();
            let threads: Vec<_> = (0..8)
                .map(|i| {
                    let tell = tell.clone();
                    queue(&hall, move |hall| {
                        let pass = hall.acquire_owned().unwrap();
                        tell.send((i, pass)).unwrap();
                    })
                })
                .collect();
            assert_eq!(hall.waiting(), 8);
            held.truncate(1); // frees slots for the first waiters
            let mut inside: Vec<_> = (0..(k - 1).min(8)).map(|_| told.recv().unwrap()).collect();
            // Threads that are let in at the same time may report in any order.
            inside.sort_by_key(|&(i, _)| i);
            assert!(inside.iter().map(|&(i, _)| i).eq(0..inside.len()));
            drop(held);
            for next in inside.len()..8 {
                let (i, pass) = told.recv().unwrap();
                assert_eq!(i, next);
                if next + 1 < 8 && k == 1 {
                    assert!(told.try_recv().is_err(), "one at a time");
                }
                drop(pass);
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            drop(inside);
            assert_whole(&hall);
        }
    }
}

#[test]
fn trying_does_not_overtake() {
    for hall in halls(2) {
        let held = hall.acquire().unwrap();
        // A thread waits for two slots while one is free: the free one is reserved.
        let waiter = queue(&hall, |hall| hall.acquire_many(2).unwrap().len());
        assert_eq!((hall.available(), hall.waiting()), (1, 1));
        for _ in 0..100 {
            assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
            assert_eq!(hall.try_acquire_many(1).unwrap_err(), TryAcquireError::NoPermits);
            assert_eq!(hall.try_acquire_owned().unwrap_err(), TryAcquireError::NoPermits);
        }
        assert_eq!((hall.available(), hall.waiting()), (1, 1));
        drop(held);
        assert_eq!(waiter.join().unwrap(), 2);
        assert_whole(&hall);
    }
}

/// A slot that is given back belongs to the first waiter before the waiter wakes up.
#[test]
fn a_released_slot_is_handed_to_the_waiter() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let waiter = Task::new(hall.acquire_async()).waits();
        drop(held);
        assert_eq!((hall.available(), hall.waiting(), waiter.rung()), (0, 0, 1));
        assert!(hall.try_acquire().is_err());
        assert_eq!(waiter.done().unwrap().slot(), 0);
        assert_whole(&hall);
    }
}

#[test]
fn tasks_and_threads_share_one_queue() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let (tell, told) = mpsc::channel();
        let thread = |i: usize| {
            let tell = tell.clone();
            queue(&hall, move |hall| tell.send((i, hall.acquire_owned().unwrap())).unwrap())
        };
        let first = Task::new(hall.acquire_async()).waits();
        let second = thread(1);
        let third = Task::new(hall.acquire_async()).waits();
        let fourth = thread(3);
        let fifth = Task::new(hall.acquire_async()).waits();
        assert_eq!(hall.waiting(), 5);
        let rung = |expected: [usize; 3]| {
            assert_eq!([first.rung(), third.rung(), fifth.rung()], expected);
            assert!(told.try_recv().is_err());
        };
        rung([0, 0, 0]);
        drop(held);
        rung([1, 0, 0]);
        let pass = first.done().unwrap();
        assert_eq!(hall.waiting(), 4);
        drop(pass);
        let (i, pass) = told.recv().unwrap();
        assert_eq!((i, third.rung(), fifth.rung()), (1, 0, 0));
        drop(pass);
        assert_eq!((third.rung(), fifth.rung()), (1, 0));
        drop(third.done());
        let (i, pass) = told.recv().unwrap();
        assert_eq!((i, fifth.rung()), (3, 0));
        drop(pass);
        assert_eq!(fifth.rung(), 1);
        drop(fifth.done());
        second.join().unwrap();
        fourth.join().unwrap();
        assert_whole(&hall);
    }
}

/// A holder that leaves and comes back queues behind the waiters.
#[test]
fn a_returning_holder_queues_at_the_end() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let waiter = Task::new(hall.acquire_async()).waits();
        drop(held);
        let again = Task::new(hall.acquire_async()).waits();
        drop(waiter.done());
        drop(again.done());
        assert_whole(&hall);
    }
}

/// Threads that compete for the only slot all make progress.
#[test]
fn nobody_starves() {
    for hall in halls(1) {
        let rounds = 3000;
        let racing = |hall: &Arc<Hall>| {
            let hall = Arc::clone(hall);
            thread::spawn(move || {
                for _ in 0..rounds {
                    drop(hall.acquire().unwrap());
                }
            })
        };
        let threads = [racing(&hall), racing(&hall), racing(&hall)];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        wait_until("nobody waits", || hall.waiting() == 0);
        assert_whole(&hall);
    }
}
