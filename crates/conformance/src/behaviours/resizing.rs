//! Behaviours of a hall whose number of slots changes while it is used.

use std::sync::mpsc;

use crate::{
    HallUnderTest, assert_nothing_lost, deadline, enqueue, eventually,
    helpers::{assert_full, fill, open, sorted},
};

/// When slots are added, waiters get them immediately, in the order of their arrival.
pub fn added_slots_go_to_waiters<H: HallUnderTest>() {
    let hall: H = open(1);
    let held = hall.acquire().expect("free");
    let (sender, receiver) = mpsc::channel();
    let waiters: Vec<_> = (0..4)
        .map(|number| {
            let sender = sender.clone();
            enqueue(&hall, move |hall| {
                sender
                    .send((number, hall.acquire().expect("the hall grows")))
                    .expect("the test receives it");
            })
        })
        .collect();
    let let_in = |expected: [usize; 2], slots: [usize; 2]| {
        let mut two: Vec<_> = (0..2)
            .map(|_| receiver.recv_timeout(deadline()).expect("a waiter gets a slot"))
            .collect();
        // Two waiters that get slots at the same time may report them in any order.
        two.sort_by_key(|(number, _)| *number);
        assert!(two.iter().map(|(number, _)| *number).eq(expected));
        assert_eq!(sorted::<H>(two.iter().map(|(_, pass)| pass)), slots);
        two
    };
    hall.resize(3).expect("3 slots are allowed");
    let first = let_in([0, 1], [1, 2]);
    eventually("two wait", || hall.waiting() == 2);
    assert_eq!((hall.slots(), hall.available()), (3, 0));
    hall.resize(6).expect("6 slots are allowed");
    let second = let_in([2, 3], [3, 4]);
    eventually("nobody waits", || hall.waiting() == 0);
    assert_eq!((hall.slots(), hall.available()), (6, 1));
    waiters.into_iter().for_each(|waiter| waiter.join());
    first.into_iter().chain(second).for_each(|(_, pass)| H::release(pass));
    H::release(held);
    assert_nothing_lost(&hall);
}

/// When slots are removed, holders keep theirs. While all remaining slots are held, no caller gets a slot. This test
/// frees the removed slots first: if a remaining slot is freed first, a cluster hall assigns it at once, but a hall of
/// threads or processes waits until fewer slots are held than it has.
pub fn holders_of_removed_slots_keep_them<H: HallUnderTest>() {
    let hall: H = open(4);
    let mut held = fill(&hall, 4);
    hall.resize(2).expect("2 slots are allowed");
    assert!(held.iter().map(H::slot).eq(0..4), "holders keep their slots");
    assert_eq!((hall.slots(), hall.available(), hall.waiting()), (2, 0, 0));
    for _ in 0..2 {
        held.pop().into_iter().for_each(H::release);
        assert_full(&hall);
        assert_eq!(hall.available(), 0);
    }
    H::release(held.remove(0));
    let again = hall.try_acquire().expect("one of two slots is free");
    assert_eq!(H::slot(&again), 0);
    assert_full(&hall);
    held.into_iter().chain([again]).for_each(H::release);
    assert_nothing_lost(&hall);
}

/// A removed slot is not handed out again, no matter which slots are freed first.
pub fn removed_slots_are_not_handed_out_again<H: HallUnderTest>() {
    for &k in H::CAPACITY.sizes.iter().filter(|&&k| k > 1) {
        for largest_first in [false, true] {
            let hall: H = open(k);
            let mut held = fill(&hall, k);
            hall.resize(k / 2).expect("a hall can shrink");
            if largest_first {
                held.reverse();
            }
            held.into_iter().for_each(H::release);
            assert_eq!(hall.slots(), k / 2);
            let again = fill(&hall, k / 2);
            let removed = again.iter().map(H::slot).find(|slot| *slot >= k / 2);
            assert_eq!(removed, None, "a removed slot was handed out");
            again.into_iter().for_each(H::release);
            assert_nothing_lost(&hall);
        }
    }
}

/// After a hall has shrunk, a waiter gets a remaining slot at the latest when fewer slots are held than the hall has.
pub fn a_waiter_of_a_shrunk_hall_gets_a_remaining_slot<H: HallUnderTest>() {
    let hall: H = open(3);
    let mut held = fill(&hall, 3);
    let waiter = enqueue(&hall, H::acquire);
    hall.resize(1).expect("1 slot is allowed");
    for _ in 0..2 {
        held.pop().into_iter().for_each(H::release);
        assert_eq!(hall.waiting(), 1, "no waiter gets a removed slot");
    }
    held.pop().into_iter().for_each(H::release);
    let pass = waiter.join().expect("its turn comes");
    assert_eq!(H::slot(&pass), 0);
    H::release(pass);
    assert_nothing_lost(&hall);
}

/// Resizing a hall to its present size changes nothing.
pub fn the_same_size_changes_nothing<H: HallUnderTest>() {
    let hall: H = open(3);
    let held = hall.acquire().expect("free");
    hall.resize(3).expect("the hall has 3 slots");
    assert_eq!((hall.slots(), hall.available(), hall.waiting()), (3, 2, 0));
    H::release(held);
    assert_nothing_lost(&hall);
}

/// All handles of a hall see its new size.
pub fn all_handles_see_the_new_size<H: HallUnderTest>() {
    let hall: H = open(1);
    let other = hall.clone();
    hall.resize(2).expect("2 slots are allowed");
    let passes = fill(&other, 2);
    assert_eq!(other.slots(), 2);
    passes.into_iter().for_each(H::release);
    assert_nothing_lost(&other);
}
