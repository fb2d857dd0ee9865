//! Threads that acquire slots.

use std::sync::Arc;

use loom::thread;

use crate::support::{GuardedHall, meanwhile, model};

/// Runs `threads` threads. Each of them acquires a slot once.
fn crowd(guarded: Arc<GuardedHall>, threads: u32) {
    let others: Vec<_> = (1..threads)
        .map(|_| {
            let guarded = Arc::clone(&guarded);
            thread::spawn(move || guarded.pass())
        })
        .collect();
    guarded.pass();
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(guarded.touched(), threads);
}

#[test]
fn two_threads_one_slot() {
    model(8, || crowd(GuardedHall::new(1, 1), 2));
    model(8, || crowd(GuardedHall::new(1, 33), 2));
}

#[test]
fn three_threads_one_slot() {
    model(3, || crowd(GuardedHall::new(1, 1), 3));
}

#[test]
fn three_threads_two_slots() {
    model(3, || crowd(GuardedHall::new(2, 2), 3));
    model(3, || crowd(GuardedHall::new(2, 33), 3));
}

#[test]
fn threads_that_barge() {
    model(8, || crowd(GuardedHall::barging(1), 2));
    model(3, || crowd(GuardedHall::barging(1), 3));
    model(3, || crowd(GuardedHall::barging(2), 3));
}

#[test]
fn threads_that_may_overtake_once() {
    model(8, || crowd(GuardedHall::bypass(1, 1), 2));
    model(3, || crowd(GuardedHall::bypass(1, 1), 3));
    model(3, || crowd(GuardedHall::bypass(2, 1), 3));
}

#[test]
fn a_slot_is_handed_over() {
    model(3, || {
        let guarded = GuardedHall::new(1, 1);
        meanwhile(&guarded, vec![GuardedHall::pass, GuardedHall::pass]);
        assert_eq!(guarded.touched(), 3);
    });
}

/// If a slot is free while another caller waits, `try_acquire` joins the queue for a moment.
#[test]
fn try_acquire_while_another_caller_waits() {
    model(4, || {
        let guarded = GuardedHall::new(1, 1);
        meanwhile(
            &guarded,
            vec![GuardedHall::pass, |guarded| {
                if let Ok(pass) = guarded.hall.try_acquire() {
                    guarded.touch(pass.slot());
                }
            }],
        );
        assert!(guarded.touched() >= 2);
    });
}

#[test]
fn a_request_for_many_slots_and_a_request_for_one() {
    model(4, || {
        let guarded = GuardedHall::new(2, 2);
        meanwhile(
            &guarded,
            vec![GuardedHall::pass, |guarded| {
                let both = guarded.hall.acquire_many(2).unwrap();
                both.slots().for_each(|slot| guarded.touch(slot));
            }],
        );
        assert_eq!(guarded.touched(), 4);
    });
}
