//! Behaviours of slots that are given up permanently.

use crate::{
    ForgetUnderTest,
    helpers::{assert_full, open},
};

/// The hall does not hand out a slot again after its pass was forgotten.
pub fn a_forgotten_slot_is_not_handed_out_again<H: ForgetUnderTest>() {
    let hall: H = open(3);
    H::forget(hall.acquire().expect("free"));
    assert_eq!((hall.slots(), hall.available()), (3, 2));
    let (one, other) = (hall.acquire().expect("free"), hall.acquire().expect("free"));
    assert_eq!((H::slot(&one), H::slot(&other)), (1, 2));
    assert_full(&hall);
    H::release(one);
    H::release(other);
    assert_eq!(hall.available(), 2);
    assert_eq!(hall.acquire().map(|pass| H::slot(&pass)), Ok(1));
}

/// A hall that shrinks counts a forgotten slot as held.
pub fn a_forgotten_slot_counts_as_held_when_the_hall_shrinks<H: ForgetUnderTest>() {
    let hall: H = open(3);
    H::forget(hall.acquire().expect("free"));
    hall.resize(1).expect("1 slot is allowed");
    assert_eq!((hall.available(), hall.waiting()), (0, 0));
    assert_full(&hall);
    hall.resize(2).expect("2 slots are allowed");
    assert_eq!(hall.acquire().map(|pass| H::slot(&pass)), Ok(1));
}
