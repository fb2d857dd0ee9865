//! Slots: distinct, the smallest first; how many a hall can have.

use std::{panic, sync::Arc, thread};

use hallpass_threads::{Hall, MAX_SLOTS, TryAcquireError};

use crate::support::{assert_whole, halls, queue, wait_until};

const SIZES: [usize; 14] = [1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 128, 1000, 4096, MAX_SLOTS];

#[test]
fn slots_are_distinct_and_the_smallest_comes_first() {
    for k in SIZES {
        for hall in halls(k) {
            assert_eq!((hall.slots(), hall.available()), (k, k));
            let mut passes: Vec<_> = (0..k).map(|_| Some(hall.acquire().unwrap())).collect();
            for (i, pass) in passes.iter().enumerate() {
                assert_eq!(pass.as_ref().unwrap().slot(), i, "k = {k}");
            }
            assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
            assert_eq!(hall.available(), 0);
            // Given back in any order, slots are handed out from the smallest.
            let mut gone: Vec<usize> = [k / 2, 0, k - 1, k / 3].into();
            for &slot in &gone {
                passes[slot] = None;
            }
            gone.sort_unstable();
            gone.dedup();
            assert_eq!(hall.available(), gone.len());
            let again: Vec<_> = gone.iter().map(|_| hall.acquire().unwrap()).collect();
            assert!(again.iter().map(|pass| pass.slot()).eq(gone));
            drop((passes, again));
            assert_whole(&hall);
        }
    }
}

#[test]
fn a_hall_can_be_static() {
    static NARROW: Hall = Hall::new(3);
    static WIDE: Hall = Hall::new(300);
    static MANY: [Hall; 2] = [const { Hall::new(1) }; 2];
    for hall in [&NARROW, &WIDE, &MANY[0], &MANY[1]] {
        let pass = thread::spawn(move || hall.acquire().unwrap().slot()).join().unwrap();
        assert_eq!(pass, 0);
        assert_whole(hall);
    }
}

#[test]
fn invalid_sizes_are_errors() {
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
fn a_pass_can_be_dropped_by_any_thread() {
    for hall in halls(2) {
        let (a, b) = (hall.acquire().unwrap(), hall.acquire_owned().unwrap());
        thread::scope(|scope| {
            scope.spawn(|| drop(a));
        });
        thread::spawn(|| drop(b)).join().unwrap();
        assert_whole(&hall);
    }
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
fn a_forgotten_slot_does_not_come_back() {
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

/// Halls do not affect each other.
#[test]
fn many_halls_at_once() {
    let all: Vec<_> = (1..=40).flat_map(halls).collect();
    let held: Vec<_> =
        all.iter().map(|hall| hall.acquire_many_owned(hall.slots()).unwrap()).collect();
    let waiters: Vec<_> = all
        .iter()
        .step_by(8)
        .map(|hall| queue(hall, |hall| hall.acquire().unwrap().slot()))
        .collect();
    for (hall, passes) in all.iter().zip(held) {
        assert_eq!(hall.available(), 0);
        drop(passes);
    }
    for waiter in waiters {
        assert_eq!(waiter.join().unwrap(), 0);
    }
    all.iter().for_each(|hall| assert_whole(hall));
}

/// A holder sees the plain, non-atomic writes of the holder before it.
#[test]
fn a_release_happens_before_the_acquire_it_lets_in() {
    struct Plain(std::cell::UnsafeCell<u64>);
    // SAFETY: only the holder of the only pass accesses it, which is what this tests.
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
                        // SAFETY: as above.
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
        assert_whole(&hall);
    }
}
