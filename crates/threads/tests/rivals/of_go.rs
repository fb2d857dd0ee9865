//! The behaviours that the tests of Go's `golang.org/x/sync/semaphore` check.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use hallpass_threads::{AcquireError, TryAcquireError};

use crate::{
    all_halls,
    support::{Task, assert_all_slots_free, halls, queue},
};

/// Threads make many requests of different sizes.
#[test]
fn requests_of_all_sizes_end() {
    for hall in all_halls(10) {
        let threads: Vec<_> = (0..10)
            .map(|thread| {
                let hall = Arc::clone(&hall);
                thread::spawn(move || {
                    for _ in 0..100 {
                        drop(hall.acquire_many(1 + thread).unwrap());
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_all_slots_free(&hall);
    }
}

/// Go panics if more is released than was held. A hall has no such call: only a pass releases, and only once.
#[test]
fn nothing_is_released_twice() {
    for hall in all_halls(2) {
        let mut passes = hall.acquire_many(2).unwrap();
        drop(passes.split_off(1));
        assert_eq!(hall.available(), 1);
        drop(passes);
        assert_all_slots_free(&hall);
    }
}

#[test]
fn trying_succeeds_only_if_enough_is_free() {
    for hall in all_halls(2) {
        let one = hall.try_acquire().unwrap();
        assert_eq!(hall.try_acquire_many(2).unwrap_err(), TryAcquireError::NoPermits);
        let other = hall.try_acquire().unwrap();
        assert!(hall.try_acquire().is_err());
        drop((one, other));
        assert_eq!(hall.try_acquire_many(2).unwrap().len(), 2);
        assert_all_slots_free(&hall);
    }
}

/// In Go, a request that is too big waits until its context is cancelled. A hall refuses it immediately. In
/// both, it does not block other requests.
#[test]
fn a_request_that_is_too_big_blocks_nobody() {
    for hall in all_halls(2) {
        let refused = hall.acquire_many(3).unwrap_err();
        assert_eq!(refused, AcquireError::TooMany { asked: 3, slots: 2 });
        assert_eq!(Task::new(hall.acquire_many_async(3)).done().unwrap_err(), refused);
        drop(hall.acquire_many(2).unwrap());
        assert_all_slots_free(&hall);
    }
}

/// Small requests keep coming, and a large request gets its slots.
#[test]
fn a_large_request_does_not_starve() {
    for bypass in [0, 1, 64] {
        for hall in [32, 100].map(|max| {
            let builder = hallpass_threads::Hall::builder(4).bypass(bypass).max_slots(max);
            Arc::new(builder.build().unwrap())
        }) {
            let over = std::sync::atomic::AtomicBool::new(false);
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        while !over.load(std::sync::atomic::Ordering::SeqCst) {
                            let pass = hall.acquire().unwrap();
                            thread::yield_now();
                            drop(pass);
                        }
                    });
                }
                for _ in 0..20 {
                    assert_eq!(hall.acquire_many(4).unwrap().len(), 4);
                }
                over.store(true, std::sync::atomic::Ordering::SeqCst);
            });
            assert_all_slots_free(&hall);
        }
    }
}

/// A large request at the head of the queue is cancelled, and the small requests behind it get slots immediately.
#[test]
fn the_waiters_behind_a_cancelled_request_get_slots() {
    for hall in halls(10) {
        let held = hall.acquire().unwrap();
        let large = Task::new(hall.acquire_many_async(10)).waits();
        let small = Task::new(hall.acquire_many_async(2)).waits();
        drop(large);
        assert_eq!(small.wake_ups(), 1);
        assert_eq!(small.done().unwrap().len(), 2);
        drop(held);
        assert_all_slots_free(&hall);
    }
}

/// A large request of a thread times out, and the small requests behind it get slots immediately.
#[test]
fn the_waiters_behind_a_request_that_times_out_get_slots() {
    for hall in halls(10) {
        let held = hall.acquire().unwrap();
        let limit = Duration::from_millis(300);
        let large = queue(&hall, move |hall| hall.try_acquire_many_for(10, limit).map(drop));
        let small = Task::new(hall.acquire_many_async(2)).waits();
        assert_eq!(large.join().unwrap(), Err(TryAcquireError::TimedOut));
        assert_eq!(small.done().unwrap().len(), 2);
        drop(held);
        assert_all_slots_free(&hall);
    }
}

/// Go refuses a request whose context is already cancelled, even if a slot is free. A hall gives a free slot to a
/// request whose deadline has passed.
#[test]
fn a_free_slot_is_taken_even_if_time_is_over() {
    for hall in all_halls(1) {
        let past = Instant::now();
        drop(hall.try_acquire_until(past).unwrap());
        let held = hall.acquire().unwrap();
        assert_eq!(hall.try_acquire_until(past).unwrap_err(), TryAcquireError::TimedOut);
        drop(held);
        assert_all_slots_free(&hall);
    }
}

/// A request is cancelled before its slots are free, and a slot is freed at the same time. Whichever comes first, no
/// slot is lost.
#[test]
fn a_request_that_is_cancelled_during_a_release_loses_no_slot() {
    for hall in all_halls(2) {
        for _ in 0..200 {
            let held = hall.acquire_owned().unwrap();
            let large = Task::new(hall.acquire_many_owned_async(2)).waits();
            let release = thread::spawn(move || drop(held));
            drop(large);
            release.join().unwrap();
            assert_eq!(hall.try_acquire_many(2).unwrap().len(), 2);
        }
        assert_all_slots_free(&hall);
    }
}

/// A large request waits. While another thread cancels it, a small request arrives.
#[test]
fn a_small_request_and_the_cancellation_before_it_both_end() {
    for hall in halls(10) {
        for _ in 0..50 {
            let held = hall.acquire().unwrap();
            let large = Task::new(hall.acquire_many_owned_async(10)).waits();
            let cancel = thread::spawn(move || drop(large));
            drop(hall.acquire().unwrap());
            cancel.join().unwrap();
            drop(held);
        }
        assert_all_slots_free(&hall);
    }
}
