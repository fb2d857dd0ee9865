//! Several slots at once.

use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    thread,
};

use hallpass_threads::{AcquireError, Hall, TryAcquireError};

use crate::support::{Task, assert_whole, halls, queue, wait_until};

#[test]
fn slots_are_distinct_ascending_and_the_smallest_free() {
    for k in [1, 2, 7, 32, 33, 64, 65, 200, 4096] {
        for hall in halls(k) {
            let first: Vec<_> = (0..k.div_ceil(2)).map(|_| hall.acquire().unwrap()).collect();
            let rest = hall.acquire_many(k - first.len()).unwrap();
            assert!(rest.slots().eq(first.len()..k));
            assert_eq!((rest.len(), rest.is_empty()), (k / 2, k < 2));
            // Every other slot of the first half, and the whole second half.
            let kept: Vec<_> = first.into_iter().filter(|pass| pass.slot() % 2 == 1).collect();
            drop(rest);
            let free: Vec<_> =
                (0..k).filter(|slot| kept.iter().all(|pass| pass.slot() != *slot)).collect();
            let all = hall.acquire_many(free.len()).unwrap();
            assert!(all.slots().eq(free));
            assert_eq!(hall.available(), 0);
            drop((kept, all));
            assert_whole(&hall);
        }
    }
}

#[test]
fn asking_for_more_slots_than_there_are_is_an_error() {
    for hall in halls(3) {
        let (asked, slots) = (4, 3);
        let error = AcquireError::TooMany { asked, slots };
        let try_error = TryAcquireError::TooMany { asked, slots };
        assert_eq!(hall.acquire_many(4).unwrap_err(), error);
        assert_eq!(hall.acquire_many_owned(4).unwrap_err(), error);
        assert_eq!(hall.try_acquire_many(4).unwrap_err(), try_error);
        let time = std::time::Duration::from_secs(600);
        assert_eq!(hall.try_acquire_many_for(4, time).unwrap_err(), try_error);
        assert_eq!(Task::new(hall.acquire_many_async(4)).done().unwrap_err(), error);
        assert_eq!(Task::new(hall.acquire_many_owned_async(4)).done().unwrap_err(), error);
        let text = "cannot acquire 4 slots: the hall has only 3";
        assert_eq!((error.to_string(), try_error.to_string()), (text.into(), text.into()));
        assert_eq!(hall.acquire_many(usize::MAX).unwrap_err().to_string().len(), text.len() + 19);
        assert_whole(&hall);
    }
}

/// A request for 0 slots does not wait, and gives nothing back.
#[test]
fn a_request_for_no_slots_succeeds_at_once() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let waiter = Task::new(hall.acquire_async()).waits();
        let none = hall.acquire_many(0).unwrap();
        assert!(none.is_empty() && none.slots().next().is_none());
        drop(none);
        drop(hall.try_acquire_many(0).unwrap());
        drop(hall.acquire_many_owned(0).unwrap());
        drop(Task::new(hall.acquire_many_async(0)).done().unwrap());
        drop(Task::new(hall.acquire_many_owned_async(0)).done().unwrap());
        assert_eq!((hall.available(), hall.waiting(), waiter.rung()), (0, 1, 0));
        drop(held);
        drop(waiter.done());
        assert_whole(&hall);
    }
}

/// While the first waiter needs more slots than are free, the free ones stay free for it.
#[test]
fn nothing_overtakes_a_large_request() {
    for k in [4, 40] {
        for hall in halls(k) {
            let mut held: Vec<_> = (0..k).map(|_| hall.acquire().unwrap()).collect();
            let many = queue(&hall, move |hall| hall.acquire_many(k - 1).unwrap().len());
            let one = Task::new(hall.acquire_async()).waits();
            while held.len() > 2 {
                held.pop();
                assert_eq!((one.rung(), hall.waiting()), (0, 2));
                assert!(hall.try_acquire().is_err());
            }
            held.pop();
            assert_eq!(many.join().unwrap(), k - 1);
            drop(one.done());
            drop(held);
            assert_whole(&hall);
        }
    }
}

#[test]
fn small_requests_do_not_starve_a_large_one() {
    for hall in halls(4) {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !stop.load(SeqCst) {
                        drop(hall.acquire().unwrap());
                    }
                });
            }
            for _ in 0..300 {
                assert!(hall.acquire_many(4).unwrap().slots().eq(0..4));
            }
            stop.store(true, SeqCst);
        });
        wait_until("nobody waits", || hall.waiting() == 0);
        assert_whole(&hall);
    }
}

/// One release of several slots lets in as many waiters as fit.
#[test]
fn one_release_lets_in_several_waiters() {
    for k in [5, 50] {
        for hall in halls(k) {
            let held = hall.acquire_many(k).unwrap();
            let ones: Vec<_> = (0..3).map(|_| Task::new(hall.acquire_async()).waits()).collect();
            let many = Task::new(hall.acquire_many_async(k - 3)).waits();
            let last = Task::new(hall.acquire_async()).waits();
            drop(held);
            assert!(ones.iter().all(|one| one.rung() == 1));
            assert_eq!((many.rung(), last.rung(), hall.waiting()), (1, 0, 1));
            let mut slots: Vec<_> = Vec::new();
            let ones: Vec<_> = ones.into_iter().map(|one| one.done().unwrap()).collect();
            let many = many.done().unwrap();
            slots.extend(ones.iter().map(|pass| pass.slot()));
            slots.extend(many.slots());
            slots.sort_unstable();
            assert!(slots.into_iter().eq(0..k));
            drop(many);
            drop(last.done());
            drop(ones);
            assert_whole(&hall);
        }
    }
}

/// The largest request that fits into the word.
#[test]
fn all_32_slots_of_the_word() {
    let hall = Hall::new(32);
    let all = hall.acquire_many(32).unwrap();
    assert!(all.slots().eq(0..32));
    assert!(hall.try_acquire().is_err());
    drop(all);
    assert_whole(&hall);
}
