//! Behaviours about the number of slots: which numbers are allowed, and the errors for other numbers.

use crate::{HallUnderTest, assert_nothing_lost, helpers::open};

/// A hall has the number of slots that it was opened with, and all of them are free.
pub fn a_new_hall_is_free<H: HallUnderTest>() {
    for &k in H::CAPACITY.sizes {
        let hall: H = open(k);
        assert_eq!((hall.slots(), hall.available(), hall.waiting()), (k, k, 0));
        assert!(!hall.is_closed());
    }
}

/// The error for a hall without slots says how many slots a hall must have.
pub fn a_hall_without_slots_is_refused<H: HallUnderTest>() {
    let error = H::open(0).err().expect("0 slots are not allowed");
    assert!(error.contains("at least 1") || error.contains("1 to "), "{error}");
}

/// The error for a hall that is too large names the requested number of slots and the maximum.
pub fn a_hall_that_is_too_large_is_refused_with_the_limit<H: HallUnderTest>() {
    let max = H::CAPACITY.max_slots;
    let error = H::open(max + 1).err().expect("this hall is too large");
    let names = |number: usize| error.contains(&number.to_string());
    assert!(names(max) && names(max + 1), "{error}");
    let error = H::open(usize::MAX).err().expect("this hall is too large");
    assert!(error.contains(&usize::MAX.to_string()), "{error}");
}

/// Resizing to a number of slots that is not allowed fails, and the hall keeps its slots.
pub fn a_hall_is_not_resized_beyond_its_limits<H: HallUnderTest>() {
    let hall: H = open(2);
    let max = H::CAPACITY.max_slots;
    let (sizes, range) = match H::PAUSES {
        true => (&[max + 1][..], format!("0 to {max}")),
        false => (&[0, max + 1][..], format!("1 to {max}")),
    };
    for &k in sizes {
        let error = hall.resize(k).expect_err("this size is not allowed");
        assert!(error.contains(&k.to_string()) && error.contains(&range), "{error}");
    }
    assert_eq!(hall.slots(), 2);
    assert_nothing_lost(&hall);
}
