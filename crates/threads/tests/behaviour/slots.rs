//! Halls and passes: how they are made, kept, forgotten and shown.

use std::{panic, sync::Arc, thread};

use hallpass_threads::{Hall, MAX_SLOTS, TryAcquireError};

use crate::support::{assert_all_slots_free, halls, queue, wait_until};

#[test]
fn a_hall_can_be_static() {
    static NARROW: Hall = Hall::new(3);
    static WIDE: Hall = Hall::new(300);
    static MANY: [Hall; 2] = [const { Hall::new(1) }; 2];
    for hall in [&NARROW, &WIDE, &MANY[0], &MANY[1]] {
        let pass = thread::spawn(move || hall.acquire().unwrap().slot()).join().unwrap();
        assert_eq!(pass, 0);
        assert_all_slots_free(hall);
    }
}

#[test]
fn a_hall_of_an_invalid_size_is_an_error() {
    let text = |f: fn() -> Hall| {
        let payload = panic::catch_unwind(f).unwrap_err();
        payload.downcast_ref::<&str>().unwrap().to_string()
    };
    assert!(text(|| Hall::new(0)).contains("at least 1 slot"));
    assert!(text(|| Hall::new(MAX_SLOTS + 1)).contains("at most 65535"));
    let error = |k, max| Hall::builder(k).max_slots(max).build().unwrap_err().to_string();
    assert!(error(0, 1).contains("at least 1"));
    assert!(error(1, MAX_SLOTS + 1).contains("at most 65535 slots, got 65536"));
    assert!(error(MAX_SLOTS + 1, 1).contains("at most 65535 slots, got 65536"));
    assert!(error(5, 4).contains("at most max_slots = 4, got k = 5"));
    assert!(Hall::builder(MAX_SLOTS).build().is_ok());
    assert!(Hall::builder(1).max_slots(1).build().is_ok());
}

#[test]
fn owned_passes_keep_the_hall_alive() {
    for hall in halls(3) {
        let weak = Arc::downgrade(&hall);
        let one = hall.acquire_owned().unwrap();
        let another = hall.try_acquire_owned().unwrap();
        let third = hall.acquire_many_owned(1).unwrap();
        assert_eq!(hall.try_acquire_owned().unwrap_err(), TryAcquireError::NoPermits);
        assert_eq!((one.slot(), another.slot(), third.slots().next()), (0, 1, Some(2)));
        drop((hall, one, another));
        assert_eq!(weak.upgrade().unwrap().available(), 2);
        drop(third);
        assert!(weak.upgrade().is_none());
    }
}

#[test]
fn forgotten_passes_of_every_kind_keep_their_slots() {
    for hall in halls(4) {
        hall.acquire().unwrap().forget();
        hall.acquire_owned().unwrap().forget();
        assert_eq!((hall.slots(), hall.available()), (4, 2));
        hall.acquire_many(1).unwrap().forget();
        let last = hall.acquire().unwrap();
        assert_eq!(last.slot(), 3);
        assert!(hall.try_acquire().is_err());
        drop(last);
        assert_eq!(hall.acquire().unwrap().slot(), 3);
        assert_eq!(hall.available(), 1);
    }
    for hall in halls(4) {
        hall.acquire_many_owned(4).unwrap().forget();
        assert_eq!((hall.available(), hall.waiting()), (0, 0));
    }
}

/// A forgotten owned pass drops its reference to the hall.
#[test]
fn forgetting_does_not_leak_the_hall() {
    let hall = Arc::new(Hall::new(2));
    let weak = Arc::downgrade(&hall);
    hall.acquire_owned().unwrap().forget();
    hall.acquire_many_owned(1).unwrap().forget();
    drop(hall);
    assert!(weak.upgrade().is_none());
}

#[test]
fn debug_shows_slots_and_state() {
    for hall in halls(3) {
        let pass = hall.acquire().unwrap();
        let text = format!("{hall:?}");
        assert_eq!(text, "Hall { slots: 3, available: 2, waiting: 0, closed: false }");
        assert_eq!(format!("{pass:?}"), "Pass { slot: 0 }");
        assert_eq!(format!("{:?}", hall.acquire_owned().unwrap()), "OwnedPass { slot: 1 }");
        let two = hall.acquire_many(2).unwrap();
        assert_eq!(format!("{two:?}"), "Passes { slots: [1, 2] }");
        drop(two);
        let two = hall.acquire_many_owned(2).unwrap();
        assert_eq!(format!("{two:?}"), "OwnedPasses { slots: [1, 2] }");
        assert_eq!(format!("{:?}", hall.acquire_async()), "Acquire { .. }");
        let waiter = queue(&hall, |hall| hall.acquire().unwrap().slot());
        assert!(format!("{hall:?}").contains("available: 0, waiting: 1"));
        drop(two);
        assert_eq!(waiter.join().unwrap(), 1);
        hall.close();
        assert!(format!("{hall:?}").contains("waiting: 0, closed: true"));
    }
}

/// A holder sees the plain, non-atomic writes of the holder before it.
#[test]
fn a_release_happens_before_the_next_acquire_of_the_slot() {
    struct Plain(std::cell::UnsafeCell<u64>);
    // SAFETY: only the holder of the only pass accesses the value. This is what the test checks.
    #[allow(unsafe_code)]
    unsafe impl Sync for Plain {}
    for hall in halls(1) {
        let plain = Plain(0.into());
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let plain = &plain;
                    for _ in 0..5000 {
                        let _pass = hall.acquire().unwrap();
                        // SAFETY: this thread holds the only pass.
                        #[allow(unsafe_code)]
                        unsafe {
                            *plain.0.get() += 1;
                        }
                    }
                });
            }
        });
        assert_eq!(plain.0.into_inner(), 20_000);
        wait_until("nobody waits", || hall.waiting() == 0);
        assert_all_slots_free(&hall);
    }
}
