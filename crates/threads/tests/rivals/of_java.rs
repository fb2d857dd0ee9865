//! The behaviours that the tests of Java's `java.util.concurrent.Semaphore` check. Java can interrupt a thread that
//! waits. Here, a waiter gives up if its time is over or its future is dropped.

use std::{
    mem,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use hallpass_threads::{Hall, TryAcquireError};

use crate::{
    all_halls,
    support::{Task, assert_all_slots_free, halls, queue, wait_until},
};

const LONG: Duration = Duration::from_secs(600);

/// One thread takes and frees slots again and again, by every method.
#[test]
fn one_thread_acquires_and_releases_repeatedly() {
    for hall in all_halls(5) {
        for m in 1..=5 {
            drop(hall.acquire().unwrap());
            drop(hall.try_acquire_for(LONG).unwrap());
            drop(hall.try_acquire_until(Instant::now() + LONG).unwrap());
            assert_eq!(hall.acquire_many(m).unwrap().len(), m);
            assert_eq!(hall.try_acquire_many(m).unwrap().len(), m);
            assert_eq!(hall.try_acquire_many_for(m, LONG).unwrap().len(), m);
            assert_eq!(hall.available(), 5);
        }
        assert_all_slots_free(&hall);
    }
}

/// In Java, a thread may release permits that another thread has acquired. A pass can be sent to another thread.
#[test]
fn another_thread_releases_the_slot() {
    for hall in all_halls(1) {
        let pass = hall.acquire_owned().unwrap();
        let waiter = queue(&hall, |hall| hall.try_acquire_for(LONG).map(|pass| pass.slot()));
        thread::spawn(move || drop(pass)).join().unwrap();
        assert_eq!(waiter.join().unwrap(), Ok(0));
        assert_all_slots_free(&hall);
    }
}

/// Two threads take turns: each of them waits for slots that the other one frees.
#[test]
fn two_threads_hand_slots_to_each_other() {
    for hall in all_halls(2) {
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        drop(hall.try_acquire_many_for(2, LONG).unwrap());
                        drop(hall.acquire_many(2).unwrap());
                    }
                });
            }
        });
        assert_all_slots_free(&hall);
    }
}

/// In Java, releases before an acquire add permits. A hall gets more slots only by `add_slots` or `resize`.
#[test]
fn slots_that_are_added_before_they_are_needed_stay() {
    for hall in all_halls(1) {
        hall.resize(0).unwrap();
        assert_eq!((hall.add_slots(6), hall.available()), (Ok(6), 6));
        let four = hall.acquire_many(4).unwrap();
        assert_eq!(hall.available(), 2);
        drop(four);
        assert_all_slots_free(&hall);
    }
}

/// The length of the queue changes as waiters come, give up and get slots.
#[test]
fn the_length_of_the_queue_is_the_number_of_waiters() {
    for hall in all_halls(1) {
        let held = hall.acquire().unwrap();
        assert_eq!(hall.waiting(), 0);
        let first = Task::new(hall.acquire_async()).waits();
        assert_eq!(hall.waiting(), 1);
        let second = queue(&hall, |hall| hall.acquire().map(drop));
        assert_eq!(hall.waiting(), 2);
        drop(first); // as if it was interrupted
        assert_eq!(hall.waiting(), 1);
        drop(held);
        second.join().unwrap().unwrap();
        assert_eq!(hall.waiting(), 0);
        assert_all_slots_free(&hall);
    }
}

/// A waiter whose time is over leaves the queue. This frees no slot, so the next waiter still waits.
#[test]
fn a_waiter_that_times_out_leaves_the_queue() {
    for hall in all_halls(1) {
        let held = hall.acquire().unwrap();
        let short = Duration::from_millis(50);
        let (begun, first) =
            (Instant::now(), queue(&hall, move |hall| hall.try_acquire_for(short).map(drop)));
        let second = Task::new(hall.acquire_async()).waits();
        assert_eq!(first.join().unwrap(), Err(TryAcquireError::TimedOut));
        assert!(begun.elapsed() >= short);
        assert_eq!((hall.waiting(), second.wake_ups()), (1, 0));
        drop(held);
        drop(second.done().unwrap());
        assert_all_slots_free(&hall);
    }
}

/// Java's `drainPermits` takes all free permits. In a hall, this is a request for `available` slots.
#[test]
fn all_free_slots_can_be_taken() {
    for hall in all_halls(10) {
        let three = hall.acquire_many(3).unwrap();
        let rest = hall.try_acquire_many(hall.available()).unwrap();
        assert_eq!((rest.len(), hall.available()), (7, 0));
        assert!(hall.try_acquire_many(hall.available()).unwrap().is_empty());
        drop((three, rest));
        assert_all_slots_free(&hall);
    }
}

/// Java's `reducePermits` may make the number of permits negative. A hall has 0 free slots until enough are freed.
#[test]
fn slots_that_are_held_can_be_taken_away() {
    for hall in all_halls(10) {
        let mut held = hall.acquire_many(9).unwrap();
        assert_eq!((hall.remove_slots(3), hall.available()), (Ok(7), 0));
        for _ in 0..2 {
            drop(held.split_off(1).unwrap());
            assert_eq!(hall.available(), 0);
            assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
        }
        drop(held.split_off(1).unwrap());
        assert_eq!((hall.available(), hall.acquire().unwrap().slot()), (1, 6));
        drop(held);
        assert_eq!(hall.available(), 7);
    }
}

/// Threads get slots in the order in which they joined the queue. In Java, only a fair semaphore guarantees this.
#[test]
fn threads_enter_in_the_order_of_their_arrival() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let (sender, receiver) = mpsc::channel();
        let threads: Vec<_> = (0..6)
            .map(|number| {
                let sender = sender.clone();
                queue(&hall, move |hall| {
                    let pass = hall.acquire().unwrap();
                    sender.send(number).unwrap();
                    drop(pass);
                })
            })
            .collect();
        drop((held, sender));
        assert!(receiver.iter().eq(0..6));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_all_slots_free(&hall);
    }
}

/// Java's `tryAcquire()` barges, even into a fair semaphore. A fair hall never lets a caller barge.
#[test]
fn an_attempt_does_not_overtake_a_large_request() {
    for hall in halls(3) {
        let held = hall.acquire().unwrap();
        let large = Task::new(hall.acquire_many_async(3)).waits();
        assert_eq!(hall.available(), 2);
        assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
        assert_eq!(hall.try_acquire_for(Duration::ZERO).unwrap_err(), TryAcquireError::TimedOut);
        drop(held);
        assert_eq!(large.done().unwrap().len(), 3);
        assert_all_slots_free(&hall);
    }
}

/// In Java, the text of a semaphore shows its permits.
#[test]
fn the_text_of_a_hall_shows_its_free_slots() {
    for hall in all_halls(2) {
        for free in (0..2).rev() {
            mem::forget(hall.acquire().unwrap());
            assert!(format!("{hall:?}").contains(&format!("available: {free},")), "{hall:?}");
        }
    }
}

/// Many threads wait for a slot that is never freed, and give up at different times.
#[test]
fn many_waiters_give_up() {
    for hall in all_halls(1) {
        let held = hall.acquire().unwrap();
        let threads: Vec<_> = (0..16)
            .map(|number| {
                let (hall, time) = (Arc::clone(&hall), Duration::from_micros(200 * number));
                thread::spawn(move || hall.try_acquire_for(time).map(drop))
            })
            .collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Err(TryAcquireError::TimedOut));
        }
        wait_until("nobody waits", || hall.waiting() == 0);
        drop(held);
        assert_all_slots_free(&hall);
    }
}

/// A hall that is dropped frees its memory, even if some of its passes were forgotten.
#[test]
fn a_hall_is_freed_with_forgotten_passes() {
    let hall = Arc::new(Hall::new(100));
    let weak = Arc::downgrade(&hall);
    mem::forget(hall.acquire_many(50).unwrap());
    drop(hall);
    assert!(weak.upgrade().is_none());
}
