//! Behaviours about order: first come, first served.

use std::{
    collections::VecDeque,
    sync::mpsc::{self, TryRecvError},
};

use crate::{
    HallUnderTest, assert_nothing_lost, deadline, enqueue,
    helpers::{assert_full, fill, open},
};

/// Waiters get slots in the order of their arrival.
pub fn waiters_get_slots_in_order_of_arrival<H: HallUnderTest>() {
    const WAITERS: usize = 6;
    let largest = H::CAPACITY.sizes.iter().copied().filter(|&k| k <= 128).max();
    for k in [1, 3].into_iter().chain(largest) {
        let hall: H = open(k);
        let mut held = VecDeque::from(fill(&hall, k));
        let (sender, receiver) = mpsc::channel();
        let waiters: Vec<_> = (0..WAITERS)
            .map(|number| {
                let sender = sender.clone();
                enqueue(&hall, move |hall| {
                    sender
                        .send((number, hall.acquire().expect("its turn comes")))
                        .expect("awaited");
                })
            })
            .collect();
        assert_eq!(hall.waiting(), WAITERS);
        for expected in 0..WAITERS {
            // Each release gives a slot to exactly one waiter.
            assert_eq!(
                receiver.try_recv().err(),
                Some(TryRecvError::Empty),
                "a waiter got a slot before one was free"
            );
            let slot = held.front().map(H::slot).expect("there is a holder");
            held.pop_front().into_iter().for_each(H::release);
            let (number, pass) = receiver.recv_timeout(deadline()).expect("a waiter gets a slot");
            assert_eq!(number, expected, "waiter {number} overtook waiter {expected}");
            assert_eq!(H::slot(&pass), slot, "the waiter gets the freed slot");
            held.push_back(pass);
        }
        waiters.into_iter().for_each(|waiter| waiter.join());
        held.into_iter().for_each(H::release);
        assert_nothing_lost(&hall);
    }
}

/// A freed slot belongs to the waiter at the head of the queue. The `try_acquire` of another caller
/// cannot take it before the waiter wakes up.
pub fn a_caller_that_does_not_wait_cannot_overtake_a_waiter<H: HallUnderTest>() {
    for _ in 0..10 {
        let hall: H = open(1);
        let held = hall.acquire().expect("free");
        let waiter = enqueue(&hall, |hall| hall.acquire());
        assert_full(&hall);
        H::release(held);
        // The waiter keeps its pass, so no other caller can have one.
        for _ in 0..10 {
            assert_full(&hall);
        }
        let pass = waiter.join().expect("its turn comes");
        assert_full(&hall);
        H::release(pass);
        assert_nothing_lost(&hall);
    }
}

/// A holder that leaves and acquires again joins the queue behind the waiters.
pub fn a_holder_that_returns_joins_the_end_of_the_queue<H: HallUnderTest>() {
    let hall: H = open(1);
    let held = hall.acquire().expect("free");
    let (sender, receiver) = mpsc::channel();
    let waiters: Vec<_> = (0..2)
        .map(|number| {
            let sender = sender.clone();
            enqueue(&hall, move |hall| {
                let pass = hall.acquire().expect("its turn comes");
                sender.send(number).expect("awaited");
                H::release(pass);
            })
        })
        .collect();
    H::release(held);
    let again = hall.acquire().expect("its turn comes");
    sender.send(2).expect("awaited");
    H::release(again);
    waiters.into_iter().for_each(|waiter| waiter.join());
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
    assert_nothing_lost(&hall);
}
