//! Checks that the suite rejects deliberately wrong halls. For each of them, the behaviour that covers
//! the mistake fails.

use std::{
    panic::{self, AssertUnwindSafe},
    time::Duration,
};

use hallpass_conformance::{
    behaviours::{closing, crowd, order, resizing, slots, time},
    double::{Decisions, Double},
    set_deadline,
};

/// Fails unless the behaviour fails with a message that contains `message`.
fn rejects(behaviour: fn(), message: &str) {
    // A wrong hall never reaches the condition for which the suite waits, so a short deadline is enough.
    set_deadline(Duration::from_secs(3));
    let panic = panic::catch_unwind(AssertUnwindSafe(behaviour))
        .expect_err("the suite accepts a wrong hall");
    let actual = panic.downcast_ref::<String>().map(String::as_str);
    let actual = actual.or(panic.downcast_ref::<&str>().copied()).expect("a panic has a message");
    assert!(actual.contains(message), "the hall was rejected for another reason: {actual}");
}

struct LastComeFirstServed;

impl Decisions for LastComeFirstServed {
    fn next(waiters: usize) -> usize {
        waiters - 1
    }
}

#[test]
fn a_hall_that_serves_the_last_waiter_first_is_rejected() {
    type Hall = Double<LastComeFirstServed>;
    rejects(order::waiters_get_slots_in_order_of_arrival::<Hall>, "overtook waiter 0");
}

struct OneTooMany;

impl Decisions for OneTooMany {
    fn admitted(k: usize) -> usize {
        k + 1
    }
}

#[test]
fn a_hall_that_admits_one_too_many_is_rejected() {
    type Hall = Double<OneTooMany>;
    rejects(slots::at_most_k_holders::<Hall>, "the hall should be full");
}

struct SharedSlots;

impl Decisions for SharedSlots {
    const SLOTS_ARE_EXCLUSIVE: bool = false;
}

#[test]
fn a_hall_that_hands_out_one_slot_twice_is_rejected() {
    type Hall = Double<SharedSlots>;
    rejects(slots::slots_are_distinct_and_the_smallest_comes_first::<Hall>, "of 2 slots: [0, 0]");
    // In this behaviour, an assertion of the witness fails in another thread.
    rejects(
        crowd::many_threads_never_share_a_slot_and_each_gets_one::<Hall>,
        "a scoped thread panicked",
    );
}

struct LargestFirst;

impl Decisions for LargestFirst {
    fn pick(free: &[usize]) -> Option<usize> {
        free.last().copied()
    }
}

#[test]
fn a_hall_that_hands_out_the_largest_slot_first_is_rejected() {
    type Hall = Double<LargestFirst>;
    rejects(slots::slots_are_distinct_and_the_smallest_comes_first::<Hall>, "of 2 slots: [1, 0]");
}

struct LosesSlots;

impl Decisions for LosesSlots {
    const LEAVES_SLOTS: bool = false;
}

#[test]
fn a_hall_that_loses_a_slot_when_a_waiter_times_out_is_rejected() {
    type Hall = Double<LosesSlots>;
    rejects(time::a_waiter_that_gives_up_does_not_lose_the_slot::<Hall>, "the slot is not lost");
}

struct StaysInQueue;

impl Decisions for StaysInQueue {
    const LEAVES_QUEUE: bool = false;
}

#[test]
fn a_hall_whose_waiters_stay_in_the_queue_when_they_time_out_is_rejected() {
    type Hall = Double<StaysInQueue>;
    rejects(
        time::a_waiter_that_times_out_leaves_the_queue::<Hall>,
        "the waiter has left the queue",
    );
}

struct Overtakes;

impl Decisions for Overtakes {
    const TRY_QUEUES: bool = false;
    // The waiter gets the slot only after it has woken up, so the slot is free for a moment.
    const HANDS_OVER: bool = false;
}

#[test]
fn a_hall_in_which_a_caller_overtakes_a_waiter_is_rejected() {
    type Hall = Double<Overtakes>;
    let behaviour = order::a_caller_that_does_not_wait_cannot_overtake_a_waiter::<Hall>;
    rejects(behaviour, "the hall should be full");
}

struct ClosesSilently;

impl Decisions for ClosesSilently {
    const CLOSING_WAKES: bool = false;
}

#[test]
fn a_hall_that_leaves_waiters_waiting_when_it_closes_is_rejected() {
    type Hall = Double<ClosesSilently>;
    rejects(closing::closing_a_hall_refuses_its_waiters::<Hall>, "the waiter got no slot within");
}

struct KeepsRemovedSlots;

impl Decisions for KeepsRemovedSlots {
    fn offered(_: usize, peak: usize) -> usize {
        peak
    }
    fn pick(free: &[usize]) -> Option<usize> {
        free.last().copied()
    }
}

#[test]
fn a_hall_that_hands_out_removed_slots_is_rejected() {
    type Hall = Double<KeepsRemovedSlots>;
    rejects(
        resizing::removed_slots_are_not_handed_out_again::<Hall>,
        "a removed slot was handed out",
    );
}
