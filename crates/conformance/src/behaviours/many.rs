//! Behaviours of requests for several slots.

use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    thread,
};

use crate::{
    ManyUnderTest, Refusal, assert_nothing_lost, enqueue, eventually,
    helpers::{
        LONG, assert_full, enqueue_for_a_while, enqueue_while, fill, open, retry_longer, sorted,
    },
};

/// A request for several slots gets distinct slots in ascending order, the smallest free ones.
pub fn several_slots_are_the_smallest_that_are_free<H: ManyUnderTest>() {
    for &k in H::CAPACITY.sizes {
        let hall: H = open(k);
        let first = fill(&hall, k.div_ceil(2));
        let rest = hall.acquire_many(k - first.len()).expect("free");
        assert!(H::slots_of(&rest).into_iter().eq(first.len()..k), "{rest:?}");
        drop(rest);
        // Every other slot of the first half is held, and the second half is free.
        let kept: Vec<_> = first.into_iter().filter(|pass| H::slot(pass) % 2 == 1).collect();
        let held = sorted::<H>(&kept);
        let free: Vec<_> = (0..k).filter(|slot| held.binary_search(slot).is_err()).collect();
        let all = hall.acquire_many(free.len()).expect("free");
        assert_eq!(H::slots_of(&all), free);
        assert_full(&hall);
        drop((kept, all));
        assert_nothing_lost(&hall);
    }
}

/// A caller can acquire all slots in one call.
pub fn all_slots_can_be_acquired_together<H: ManyUnderTest>() {
    for &k in H::CAPACITY.sizes {
        let hall: H = open(k);
        let all = hall.try_acquire_many(k).expect("free");
        assert!(H::slots_of(&all).into_iter().eq(0..k));
        assert_full(&hall);
        assert_eq!(hall.try_acquire_many(1).unwrap_err(), Refusal::NoPermits);
        drop(all);
        let all = hall.acquire_many_for(k, LONG).expect("free");
        assert!(H::slots_of(&all).into_iter().eq(0..k));
        drop(all);
        assert_nothing_lost(&hall);
    }
}

/// A request for more slots than the hall has is refused immediately.
pub fn more_slots_than_the_hall_has_are_refused<H: ManyUnderTest>() {
    let hall: H = open(3);
    for m in [4, usize::MAX] {
        assert_eq!(hall.acquire_many(m).unwrap_err(), Refusal::TooMany);
        assert_eq!(hall.try_acquire_many(m).unwrap_err(), Refusal::TooMany);
        assert_eq!(hall.acquire_many_for(m, LONG).unwrap_err(), Refusal::TooMany);
    }
    assert_nothing_lost(&hall);
}

/// A request for no slots is granted immediately, even if there are waiters.
pub fn a_request_for_no_slots_does_not_wait<H: ManyUnderTest>() {
    let hall: H = open(1);
    let held = hall.acquire().expect("free");
    let waiter = enqueue(&hall, H::acquire);
    let none = hall.acquire_many(0).expect("a request for no slots succeeds");
    assert!(H::slots_of(&none).is_empty());
    drop(none);
    drop(hall.try_acquire_many(0).expect("a request for no slots succeeds"));
    assert_eq!((hall.available(), hall.waiting()), (0, 1));
    H::release(held);
    H::release(waiter.join().expect("its turn comes"));
    assert_nothing_lost(&hall);
}

/// While the head of the queue needs more slots than are free, the free slots stay free for it.
pub fn a_request_for_several_is_not_overtaken<H: ManyUnderTest>() {
    let hall: H = open(4);
    let mut held = fill(&hall, 4);
    let many = enqueue(&hall, |hall| hall.acquire_many(3));
    let one = enqueue(&hall, H::acquire);
    for free in 1..3 {
        held.pop().into_iter().for_each(H::release);
        assert_eq!((hall.available(), hall.waiting()), (free, 2));
        assert_full(&hall);
        assert_eq!(hall.try_acquire_many(1).unwrap_err(), Refusal::NoPermits);
    }
    held.pop().into_iter().for_each(H::release);
    let many = many.join().expect("its turn comes");
    assert_eq!(H::slots_of(&many), [1, 2, 3]);
    assert_eq!(hall.waiting(), 1);
    drop(many);
    H::release(one.join().expect("its turn comes"));
    held.into_iter().for_each(H::release);
    assert_nothing_lost(&hall);
}

/// Callers that enter and leave again and again do not starve a request for all slots.
pub fn small_requests_do_not_starve_a_large_one<H: ManyUnderTest>() {
    let hall: H = open(4);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !over.load(SeqCst) {
                    H::release(hall.acquire().expect("its turn comes"));
                }
            });
        }
        let large = scope.spawn(|| {
            for _ in 0..H::CAPACITY.rounds.min(300) {
                let all = hall.acquire_many(4).expect("its turn comes");
                assert_eq!(H::slots_of(&all), [0, 1, 2, 3]);
            }
        });
        let large = large.join();
        over.store(true, SeqCst);
        large.expect("the large requests get their slots");
    });
    assert_nothing_lost(&hall);
}

/// When several slots are freed together, as many waiters as fit get slots.
pub fn several_freed_slots_go_to_as_many_waiters_as_fit<H: ManyUnderTest>() {
    let hall: H = open(5);
    let held = hall.acquire_many(5).expect("free");
    let ones: Vec<_> = (0..3).map(|_| enqueue(&hall, H::acquire)).collect();
    let many = enqueue(&hall, |hall| hall.acquire_many(2));
    let last = enqueue(&hall, H::acquire);
    drop(held);
    let ones: Vec<_> = ones.into_iter().map(|one| one.join().expect("it fits")).collect();
    let many = many.join().expect("it fits");
    let mut slots = sorted::<H>(&ones);
    slots.extend(H::slots_of(&many));
    slots.sort_unstable();
    assert!(slots.into_iter().eq(0..5));
    assert_eq!(hall.waiting(), 1, "there is no slot for the last waiter");
    drop(many);
    H::release(last.join().expect("now there are enough slots"));
    ones.into_iter().for_each(H::release);
    assert_nothing_lost(&hall);
}

/// A request for several slots at the head of the queue holds free slots back. When it gives up, the
/// waiters behind it get these slots.
pub fn a_large_request_that_times_out_leaves_the_slots_to_others<H: ManyUnderTest>() {
    retry_longer(|limit| {
        let hall: H = open(4);
        let held = hall.acquire().expect("free");
        let many =
            enqueue_for_a_while(&hall, move |hall| hall.acquire_many_for(4, limit).map(drop))?;
        let mut behind = Vec::new();
        for _ in 0..4 {
            behind.push(enqueue_while(&hall, || !many.is_done(), H::acquire)?);
        }
        assert_eq!(many.join().unwrap_err(), Refusal::NoPermits);
        let last = behind.pop().expect("four came");
        let passes: Vec<_> = behind.into_iter().map(|one| one.join().expect("it fits")).collect();
        assert_eq!(sorted::<H>(&passes), [1, 2, 3]);
        assert_eq!((hall.available(), hall.waiting()), (0, 1));
        H::release(held);
        H::release(last.join().expect("its turn comes"));
        passes.into_iter().for_each(H::release);
        assert_nothing_lost(&hall);
        Some(())
    });
}

/// A waiting request can become too large when the hall shrinks. It then waits until the hall grows. The
/// waiters behind it also wait.
pub fn a_request_that_has_become_too_large_waits_until_the_hall_grows<H: ManyUnderTest>() {
    let hall: H = open(3);
    let held = hall.acquire().expect("free");
    let many = enqueue(&hall, |hall| hall.acquire_many(3));
    hall.resize(2).expect("2 slots are allowed");
    H::release(held);
    let behind = enqueue(&hall, H::acquire);
    assert_eq!(hall.waiting(), 2);
    assert_eq!(hall.acquire_many(3).unwrap_err(), Refusal::TooMany);
    hall.resize(3).expect("3 slots are allowed");
    let many = many.join().expect("now there are enough slots");
    assert_eq!(H::slots_of(&many), [0, 1, 2]);
    assert!(!behind.is_done(), "no slot is free");
    drop(many);
    H::release(behind.join().expect("its turn comes"));
    assert_nothing_lost(&hall);
}

/// When a hall is closed, requests for several slots get an error.
pub fn closing_a_hall_refuses_requests_for_several_slots<H: ManyUnderTest>() {
    let hall: H = open(2);
    let held = hall.acquire_many(2).expect("free");
    let waiter = enqueue(&hall, |hall| hall.acquire_many(2));
    hall.close();
    assert_eq!(waiter.join().unwrap_err(), Refusal::Closed);
    assert_eq!(hall.acquire_many(1).unwrap_err(), Refusal::Closed);
    assert_eq!(hall.try_acquire_many(1).unwrap_err(), Refusal::Closed);
    assert_eq!(hall.acquire_many_for(1, LONG).unwrap_err(), Refusal::Closed);
    assert_eq!(H::slots_of(&held), [0, 1], "holders stay");
    eventually("nobody waits", || hall.waiting() == 0);
}
