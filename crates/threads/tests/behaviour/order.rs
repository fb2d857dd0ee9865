//! Handing over a slot.

use hallpass_threads::TryAcquireError;

use crate::support::{Task, assert_all_slots_free, halls};

/// A slot that is freed belongs to the first waiter before the waiter wakes up.
#[test]
fn a_freed_slot_belongs_to_the_waiter_before_drop_returns() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let waiter = Task::new(hall.acquire_async()).waits();
        drop(held);
        assert_eq!((hall.available(), hall.waiting(), waiter.wake_ups()), (0, 0, 1));
        assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
        assert_eq!(hall.try_acquire_owned().unwrap_err(), TryAcquireError::NoPermits);
        assert_eq!(hall.try_acquire_many(1).unwrap_err(), TryAcquireError::NoPermits);
        assert_eq!(waiter.done().unwrap().slot(), 0);
        assert_all_slots_free(&hall);
    }
}
