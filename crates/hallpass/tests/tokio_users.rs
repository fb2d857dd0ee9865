//! Checks the comparison with tokio's semaphore in `docs/threads.md` and on the front page of this crate. Each test
//! uses both semaphores.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Waker},
};

use hallpass::{AcquireError, Hall};
use tokio::{
    runtime::Builder,
    sync::{Semaphore, TryAcquireError},
};

/// Polls the future once. Returns whether it waits.
fn waits<F: Future>(future: &mut Pin<&mut F>) -> bool {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending()
}

#[test]
fn only_a_hall_counts_the_slots_that_stay_free_for_a_large_request() {
    let (semaphore, hall) = (Semaphore::new(3), Hall::new(3));
    let held = (semaphore.try_acquire().unwrap(), hall.try_acquire().unwrap());
    let (mut three, mut three_slots) =
        (pin!(semaphore.acquire_many(3)), pin!(hall.acquire_many_async(3)));
    assert!(waits(&mut three) && waits(&mut three_slots));
    assert_eq!((semaphore.available_permits(), hall.available()), (0, 2));
    // Neither semaphore lets a small request overtake a large one.
    assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
    assert_eq!(hall.try_acquire().unwrap_err(), hallpass::TryAcquireError::NoPermits);
    drop(held);
    assert!(!waits(&mut three) && !waits(&mut three_slots));
}

#[test]
fn only_a_hall_refuses_a_request_for_more_than_there_is() {
    let (semaphore, hall) = (Semaphore::new(1), Hall::new(1));
    assert!(waits(&mut pin!(semaphore.acquire_many(2))));
    let error = AcquireError::TooMany { asked: 2, slots: 1 };
    assert_eq!(hall.acquire_many(2).unwrap_err(), error);
    // The hall becomes smaller while a request waits: the request continues to wait.
    hall.resize(2).unwrap();
    let held = hall.acquire().unwrap();
    let mut two = pin!(hall.acquire_many_async(2));
    assert!(waits(&mut two));
    hall.resize(1).unwrap();
    drop(held);
    assert!(waits(&mut two));
}

#[test]
fn a_request_for_nothing_succeeds_even_if_others_wait() {
    let (semaphore, hall) = (Semaphore::new(1), Hall::new(1));
    let _held = (semaphore.try_acquire().unwrap(), hall.try_acquire().unwrap());
    let (mut one, mut slot) = (pin!(semaphore.acquire()), pin!(hall.acquire_async()));
    assert!(waits(&mut one) && waits(&mut slot));
    assert!(!waits(&mut pin!(semaphore.acquire_many(0))));
    assert!(!waits(&mut pin!(hall.acquire_many_async(0))));
}

#[test]
fn only_tokio_starts_with_no_permits_and_a_hall_pauses() {
    let (semaphore, hall) = (Semaphore::new(0), Hall::new(1));
    assert!(Hall::builder(0).build().is_err());
    hall.resize(0).unwrap();
    let (mut one, mut slot) = (pin!(semaphore.acquire()), pin!(hall.acquire_async()));
    assert!(waits(&mut one) && waits(&mut slot));
    semaphore.add_permits(1);
    hall.add_slots(1).unwrap();
    assert!(!waits(&mut one) && !waits(&mut slot));
}

#[test]
fn tokio_forgets_free_permits_and_a_hall_removes_any_slots() {
    let (semaphore, hall) = (Semaphore::new(3), Hall::new(3));
    let held = (semaphore.try_acquire_many(2).unwrap(), hall.try_acquire_many(2).unwrap());
    assert_eq!((semaphore.forget_permits(3), hall.remove_slots(3)), (1, Ok(0)));
    drop(held);
    assert_eq!((semaphore.available_permits(), hall.available()), (2, 0));
    // tokio adds any number of permits; a hall needs room.
    semaphore.add_permits(98);
    assert_eq!(semaphore.available_permits(), 100);
    assert!(hall.add_slots(33).is_err() && hall.add_slots(32).is_ok());
}

#[test]
fn only_tokio_notices_that_a_blocking_call_is_in_a_task() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let (semaphore, hall) = (Semaphore::new(1), Hall::new(1));
    let blocking = AssertUnwindSafe(|| {
        runtime.block_on(async { drop(semaphore.blocking_acquire().unwrap()) });
    });
    assert!(catch_unwind(blocking).is_err());
    runtime.block_on(async { drop(hall.acquire().unwrap()) });
}

#[test]
fn only_tokio_consumes_a_reference_to_make_an_owned_permit() {
    let (semaphore, hall) = (Arc::new(Semaphore::new(1)), Arc::new(Hall::new(1)));
    let permit = Arc::clone(&semaphore).try_acquire_owned().unwrap();
    let pass = hall.try_acquire_owned().unwrap();
    assert_eq!((permit.num_permits(), pass.slot()), (1, 0));
    assert!(Arc::ptr_eq(permit.semaphore(), &semaphore) && Arc::ptr_eq(pass.hall(), &hall));
}

#[test]
fn both_can_split_and_merge() {
    let (semaphore, hall) = (Semaphore::new(5), Hall::new(5));
    let (mut permits, mut passes) =
        (semaphore.try_acquire_many(5).unwrap(), hall.try_acquire_many(5).unwrap());
    let (two, two_passes) = (permits.split(2).unwrap(), passes.split_off(2).unwrap());
    assert_eq!((permits.num_permits(), passes.len()), (3, 3));
    assert!(two_passes.slots().eq([3, 4])); // the largest slots
    assert!(permits.split(4).is_none() && passes.split_off(4).is_none());
    permits.merge(two);
    passes.merge(two_passes);
    assert_eq!((permits.num_permits(), passes.len()), (5, 5));
}

#[test]
fn both_refuse_everything_when_closed() {
    let (semaphore, hall) = (Semaphore::new(1), Hall::new(1));
    let held = (semaphore.try_acquire().unwrap(), hall.try_acquire().unwrap());
    let (mut one, mut slot) = (pin!(semaphore.acquire()), pin!(hall.acquire_async()));
    assert!(waits(&mut one) && waits(&mut slot));
    semaphore.close();
    hall.close();
    assert!(semaphore.is_closed() && hall.is_closed());
    assert!(!waits(&mut one) && !waits(&mut slot));
    assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::Closed);
    assert_eq!(hall.try_acquire().unwrap_err(), hallpass::TryAcquireError::Closed);
    drop(held);
    assert_eq!((semaphore.available_permits(), hall.available()), (1, 1));
}

#[test]
fn the_largest_semaphores_are_as_large_as_stated() {
    assert_eq!((Semaphore::MAX_PERMITS, hallpass::MAX_SLOTS), (usize::MAX >> 3, 65_535));
}
