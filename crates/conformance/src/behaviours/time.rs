//! Behaviours of time limits.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    HallUnderTest, Queued, Refusal, assert_nothing_lost, deadline, enqueue, eventually,
    helpers::{LONG, SHORT, enqueue_for_a_while, enqueue_while, fill, open, retry_longer},
};

/// A caller that finds a free slot takes it, even if its time limit is zero.
pub fn a_free_slot_needs_no_time<H: HallUnderTest>() {
    let hall: H = open(3);
    let past = Instant::now();
    let passes = [
        hall.acquire_for(LONG).expect("free"),
        hall.acquire_for(Duration::ZERO).expect("free"),
        hall.acquire_until(past).expect("free"),
    ];
    assert!(past.elapsed() < LONG / 2);
    assert!(passes.iter().map(H::slot).eq(0..3));
    assert_eq!(hall.acquire_for(Duration::ZERO).unwrap_err(), Refusal::NoPermits);
    assert_eq!(hall.acquire_until(past).unwrap_err(), Refusal::NoPermits);
    passes.into_iter().for_each(H::release);
    assert_nothing_lost(&hall);
}

/// A waiter gives up when its time limit passes, and not earlier.
pub fn a_waiter_gives_up_at_its_time_limit_and_not_earlier<H: HallUnderTest>() {
    let hall: H = open(1);
    let held = hall.acquire().expect("free");
    let begun = Instant::now();
    assert_eq!(hall.acquire_for(SHORT).unwrap_err(), Refusal::NoPermits);
    assert!(begun.elapsed() >= SHORT, "{:?}", begun.elapsed());
    let until = Instant::now() + SHORT;
    assert_eq!(hall.acquire_until(until).unwrap_err(), Refusal::NoPermits);
    assert!(Instant::now() >= until);
    eventually("nobody waits", || hall.waiting() == 0);
    H::release(held);
    assert_nothing_lost(&hall);
}

/// A waiter that times out leaves the queue.
pub fn a_waiter_that_times_out_leaves_the_queue<H: HallUnderTest>() {
    let hall: H = open(1);
    let held = hall.acquire().expect("free");
    for _ in 0..10 {
        assert_eq!(hall.acquire_for(SHORT / 10).unwrap_err(), Refusal::NoPermits);
        eventually("the waiter has left the queue", || {
            (hall.available(), hall.waiting()) == (0, 0)
        });
    }
    H::release(held);
    assert_nothing_lost(&hall);
}

/// If a waiter times out, the other waiters keep their order, whether that waiter was at the head, in the middle or at
/// the end of the queue.
pub fn a_waiter_that_times_out_keeps_the_order_of_the_others<H: HallUnderTest>() {
    for impatient in 0..3 {
        retry_longer(|limit| {
            let hall: H = open(1);
            let held = hall.acquire().expect("free");
            let (mut patient, mut gives_up) = (Vec::new(), None);
            for number in 0..3 {
                let in_time = || gives_up.as_ref().is_none_or(|one: &Queued<_>| !one.is_done());
                if number == impatient {
                    let acquire = move |hall: &H| hall.acquire_for(limit).map(H::release);
                    gives_up = Some(enqueue_for_a_while(&hall, acquire)?);
                } else {
                    patient.push(enqueue_while(&hall, in_time, H::acquire)?);
                }
            }
            let gives_up = gives_up.expect("one waiter has a short time limit");
            assert_eq!(gives_up.join().unwrap_err(), Refusal::NoPermits);
            assert_eq!(hall.waiting(), 2);
            H::release(held);
            let [first, second] =
                patient.try_into().ok().expect("two waiters have a long time limit");
            let pass = first.join().expect("its turn comes");
            assert!(!second.is_done() && hall.waiting() == 1, "one freed slot goes to one waiter");
            H::release(pass);
            H::release(second.join().expect("its turn comes"));
            assert_nothing_lost(&hall);
            Some(())
        });
    }
}

/// A waiter takes a slot that is freed before its time limit, even if the limit is very long.
pub fn a_slot_that_comes_in_time_is_taken<H: HallUnderTest>() {
    for limit in [LONG, Duration::MAX] {
        let hall: H = open(1);
        let held = hall.acquire().expect("free");
        let waiter = enqueue(&hall, move |hall| hall.acquire_for(limit));
        H::release(held);
        let pass = waiter.join().expect("in time");
        assert_eq!(H::slot(&pass), 0);
        H::release(pass);
        assert_nothing_lost(&hall);
    }
}

/// A slot that is freed just when a waiter times out is not lost: the waiter takes it, or leaves it to other callers.
pub fn a_slot_that_comes_as_time_runs_out_is_not_lost<H: HallUnderTest>() {
    for k in [1, 2] {
        let hall: H = open(k);
        thread::scope(|scope| {
            for seed in 0..4 {
                let hall = &hall;
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(seed);
                    for _ in 0..H::CAPACITY.rounds {
                        let limit = H::CAPACITY.hand_over.mul_f64(2.0 * random.f64());
                        match hall.acquire_for(limit) {
                            Ok(pass) => H::release(pass),
                            Err(refusal) => assert_eq!(refusal, Refusal::NoPermits),
                        }
                        (0..random.u32(0..200)).for_each(|_| std::hint::spin_loop());
                    }
                });
            }
        });
        assert_nothing_lost(&hall);
    }
}

/// A waiter that gives up leaves the slot to other callers, even if it gets the slot at that very moment.
pub fn a_waiter_that_gives_up_does_not_lose_the_slot<H: HallUnderTest>() {
    let hall: H = open(2);
    let mut held = fill(&hall, 2);
    let limit = 10 * H::CAPACITY.hand_over;
    assert_eq!(hall.acquire_for(limit).unwrap_err(), Refusal::NoPermits);
    for _ in 0..10 {
        let waiter = thread::spawn({
            let hall = hall.clone();
            move || hall.acquire_for(limit)
        });
        thread::sleep(limit); // until about the moment at which the waiter gives up
        held.pop().into_iter().for_each(H::release);
        if let Ok(pass) = waiter.join().expect("no panic") {
            H::release(pass);
        }
        held.push(hall.acquire_for(deadline()).expect("the slot is not lost"));
    }
    held.into_iter().for_each(H::release);
    assert_nothing_lost(&hall);
}
