//! Behaviours of a closed hall.

use crate::{
    HallUnderTest, Refusal, enqueue, eventually,
    helpers::{LONG, fill, open},
};

/// Checks that a closed hall refuses callers that wait, with and without a time limit, and callers that do not wait.
fn assert_closed<H: HallUnderTest>(hall: &H) {
    assert!(hall.is_closed());
    assert_eq!(hall.acquire().unwrap_err(), Refusal::Closed);
    assert_eq!(hall.try_acquire().unwrap_err(), Refusal::Closed);
    assert_eq!(hall.acquire_for(LONG).unwrap_err(), Refusal::Closed);
    eventually("no caller waits for a closed hall", || hall.waiting() == 0);
}

/// Callers get an error from a closed hall. Closing the hall again changes nothing.
pub fn a_closed_hall_refuses_newcomers<H: HallUnderTest>() {
    let hall: H = open(2);
    assert!(!hall.is_closed());
    hall.close();
    assert_closed(&hall);
    hall.close();
    assert_closed(&hall);
}

/// When a hall is closed, its waiters get an error, with and without a time limit.
pub fn closing_a_hall_refuses_its_waiters<H: HallUnderTest>() {
    let hall: H = open(1);
    let held = hall.acquire().expect("free");
    let patient = enqueue(&hall, H::acquire);
    let timed = enqueue(&hall, |hall| hall.acquire_for(LONG));
    hall.close();
    assert_eq!(patient.join().unwrap_err(), Refusal::Closed);
    assert_eq!(timed.join().unwrap_err(), Refusal::Closed);
    assert_closed(&hall);
    H::release(held);
    assert_closed(&hall);
}

/// Holders of a closed hall keep their slots until they leave.
pub fn holders_of_a_closed_hall_stay<H: HallUnderTest>() {
    let hall: H = open(3);
    let passes = fill(&hall, 3);
    hall.close();
    assert!(passes.iter().map(H::slot).eq(0..3));
    for pass in passes {
        assert_closed(&hall);
        H::release(pass);
    }
    assert_closed(&hall);
}
