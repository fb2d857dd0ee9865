//! Methods for one or many slots, borrowed or owned, with or without a time limit.

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use hallpass_threads::{AcquireError, Acquirer, Hall, TryAcquireError};

use crate::support::{Task, assert_all_slots_free, halls};

/// A short time limit, and a deadline that has already passed.
fn soon() -> (Duration, Instant) {
    (Duration::from_millis(1), Instant::now())
}

#[test]
fn methods_with_a_time_limit_can_time_out() {
    for hall in halls(2) {
        let held = hall.acquire_many(2).unwrap();
        let late = TryAcquireError::TimedOut;
        assert_eq!(hall.try_acquire_for(soon().0).unwrap_err(), late);
        assert_eq!(hall.try_acquire_until(soon().1).unwrap_err(), late);
        assert_eq!(hall.try_acquire_owned_for(soon().0).unwrap_err(), late);
        assert_eq!(hall.try_acquire_owned_until(soon().1).unwrap_err(), late);
        assert_eq!(hall.try_acquire_many_for(2, soon().0).unwrap_err(), late);
        assert_eq!(hall.try_acquire_many_until(2, soon().1).unwrap_err(), late);
        assert_eq!(hall.try_acquire_many_owned_for(2, soon().0).unwrap_err(), late);
        assert_eq!(hall.try_acquire_many_owned_until(2, soon().1).unwrap_err(), late);
        assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
        assert_eq!(hall.try_acquire_many_owned(2).unwrap_err(), TryAcquireError::NoPermits);
        assert_eq!(late.to_string(), "timed out while waiting for a slot");
        drop(held);
        assert_all_slots_free(&hall);
    }
}

#[test]
fn every_method_with_a_time_limit_gets_free_slots() {
    for hall in halls(2) {
        assert_eq!(hall.try_acquire_for(soon().0).unwrap().slot(), 0);
        assert_eq!(hall.try_acquire_until(soon().1).unwrap().slot(), 0);
        assert_eq!(hall.try_acquire_owned_for(soon().0).unwrap().slot(), 0);
        assert_eq!(hall.try_acquire_owned_until(soon().1).unwrap().slot(), 0);
        assert_eq!(hall.try_acquire_many_for(2, soon().0).unwrap().len(), 2);
        assert_eq!(hall.try_acquire_many_until(2, soon().1).unwrap().len(), 2);
        assert_eq!(hall.try_acquire_many_owned_for(2, soon().0).unwrap().len(), 2);
        assert_eq!(hall.try_acquire_many_owned_until(2, soon().1).unwrap().len(), 2);
        assert_all_slots_free(&hall);
        hall.close();
        let closed = TryAcquireError::Closed;
        assert_eq!(hall.try_acquire_owned_for(soon().0).unwrap_err(), closed);
        assert_eq!(hall.try_acquire_many_owned_until(2, soon().1).unwrap_err(), closed);
    }
}

#[test]
fn passes_are_split_merged_and_taken_apart() {
    for k in [6, 60] {
        for hall in halls(k) {
            let mut passes = hall.acquire_many_owned(k).unwrap();
            assert!(passes.split_off(k + 1).is_none());
            let mut off = passes.split_off(2).unwrap();
            assert!(passes.slots().eq(0..k - 2) && off.slots().eq(k - 2..k));
            assert!(passes.split_off(0).unwrap().is_empty());
            drop(passes);
            assert_eq!(hall.available(), k - 2);
            off.merge(hall.acquire_owned().unwrap().into());
            off.merge(hall.acquire_many_owned(0).unwrap());
            assert!(off.slots().eq([0, k - 2, k - 1]));
            let each: Vec<_> = off.into_iter().collect();
            assert!(each.iter().map(|pass| pass.slot()).eq([0, k - 2, k - 1]));
            assert_eq!(hall.available(), k - 3);
            drop(each);
            assert_all_slots_free(&hall);
        }
    }
}

#[test]
#[should_panic(expected = "passes of different halls cannot be merged")]
fn passes_of_different_halls_are_not_merged() {
    let halls = halls(1);
    let mut passes = halls[0].acquire_many(1).unwrap();
    passes.merge(halls[1].acquire_many(1).unwrap());
}

static WIDE: Hall = Hall::builder(100).barging().build_const();

#[test]
fn a_static_hall_can_barge_and_have_many_slots() {
    assert_eq!(WIDE.acquire_many(100).unwrap().len(), 100);
    assert_all_slots_free(&WIDE);
}

/// An acquirer keeps its position in the queue from one poll to the next.
#[test]
fn an_acquirer_keeps_its_position() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let mut acquirer = Acquirer::new(Arc::clone(&hall));
        let mut first = Task::new(std::future::poll_fn(|context| acquirer.poll_acquire(context)));
        assert!(first.poll().is_pending());
        let second = Task::new(hall.acquire_async()).waits();
        drop(held);
        assert_eq!((first.wake_ups(), second.wake_ups()), (1, 0));
        drop(first.done().unwrap());
        drop(second.done().unwrap());
        let mut again = acquirer.clone();
        let pass = Task::new(std::future::poll_fn(|context| acquirer.poll_acquire(context))).done();
        let mut waits = Task::new(std::future::poll_fn(|context| again.poll_acquire(context)));
        assert!(waits.poll().is_pending());
        drop(waits);
        drop(again); // leaves the queue
        assert_eq!(hall.waiting(), 0);
        drop(pass);
        assert_all_slots_free(&hall);
        hall.close();
        let closed =
            Task::new(std::future::poll_fn(|context| acquirer.poll_acquire(context))).done();
        assert_eq!(closed.unwrap_err(), AcquireError::Closed);
    }
}

#[test]
fn an_acquirer_waits_for_one_number_of_slots_at_a_time() {
    for hall in halls(3) {
        let mut acquirer = Acquirer::new(Arc::clone(&hall));
        let held = hall.acquire().unwrap();
        let mut waker = Context::from_waker(Waker::noop());
        assert!(acquirer.poll_acquire_many(&mut waker, 3).is_pending());
        assert!(acquirer.poll_acquire_many(&mut waker, 3).is_pending());
        assert_eq!((hall.available(), hall.waiting()), (2, 1));
        let Poll::Ready(two) = acquirer.poll_acquire_many(&mut waker, 2) else {
            panic!("two slots are free")
        };
        assert_eq!((two.unwrap().len(), hall.waiting()), (2, 0));
        assert!(acquirer.poll_acquire_many(&mut waker, 3).is_pending());
        let Poll::Ready(one) = acquirer.poll_acquire(&mut waker) else { panic!("a slot is free") };
        assert_eq!((one.unwrap().slot(), hall.waiting()), (1, 0));
        let Poll::Ready(none) = acquirer.poll_acquire_many(&mut waker, 0) else {
            panic!("a request for no slots does not wait")
        };
        assert!(none.unwrap().is_empty());
        let too_many = AcquireError::TooMany { asked: 4, slots: 3 };
        assert!(
            matches!(acquirer.poll_acquire_many(&mut waker, 4), Poll::Ready(Err(error)) if error == too_many)
        );
        assert!(acquirer.poll_acquire_many(&mut waker, 3).is_pending());
        drop(held);
        let Poll::Ready(all) = acquirer.poll_acquire_many(&mut waker, 3) else {
            panic!("all slots are free")
        };
        let rest = acquirer.poll_acquire(&mut waker);
        assert!(rest.is_pending());
        drop(all);
        let Poll::Ready(Ok(_)) = acquirer.poll_acquire(&mut waker) else {
            panic!("the slot was granted")
        };
        hall.close();
        let closed = acquirer.poll_acquire_many(&mut waker, 5);
        assert!(matches!(closed, Poll::Ready(Err(AcquireError::Closed))));
        drop(acquirer);
        assert_eq!((hall.available(), hall.waiting()), (3, 0));
    }
}

#[test]
fn every_guard_has_a_reference_to_its_hall() {
    for hall in halls(4) {
        let (one, owned) = (hall.acquire().unwrap(), hall.acquire_owned().unwrap());
        let (many, many_owned) =
            (hall.acquire_many(1).unwrap(), hall.acquire_many_owned(1).unwrap());
        assert!(std::ptr::eq(one.hall(), &*hall) && std::ptr::eq(many.hall(), &*hall));
        assert!(Arc::ptr_eq(owned.hall(), &hall) && Arc::ptr_eq(many_owned.hall(), &hall));
        let same: &Hall = {
            let short = one;
            short.hall() // lives as long as the hall, not as long as the pass
        };
        assert_eq!(same.available(), 1);
    }
}
