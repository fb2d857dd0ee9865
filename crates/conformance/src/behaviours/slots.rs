//! Behaviours about slots: at most k holders, each with its own slot.

use std::thread;

use crate::{
    HallUnderTest, assert_nothing_lost, eventually,
    helpers::{assert_full, fill, open},
};

/// A hall with k slots has at most k holders.
pub fn at_most_k_holders<H: HallUnderTest>() {
    for &k in H::CAPACITY.sizes {
        let hall: H = open(k);
        let mut passes = fill(&hall, k);
        assert_full(&hall);
        assert_eq!((hall.available(), hall.waiting()), (0, 0));
        H::release(passes.pop().expect("k is at least 1"));
        passes.push(hall.acquire().expect("a slot is free"));
        assert_full(&hall);
        passes.into_iter().for_each(H::release);
        assert_nothing_lost(&hall);
    }
}

/// Holders have distinct slots from 0 to k-1, and a newcomer gets the smallest free slot.
pub fn slots_are_distinct_and_the_smallest_comes_first<H: HallUnderTest>() {
    for &k in H::CAPACITY.sizes {
        let hall: H = open(k);
        let passes: Vec<_> = (0..k).map(|_| hall.acquire().expect("a slot is free")).collect();
        let slots: Vec<_> = passes.iter().map(H::slot).collect();
        assert!(slots.iter().copied().eq(0..k), "of {k} slots: {slots:?}");
        passes.into_iter().for_each(H::release);
        assert_nothing_lost(&hall);
    }
}

/// Slots that are freed in any order are handed out again in ascending order.
pub fn freed_slots_are_handed_out_again_the_smallest_first<H: HallUnderTest>() {
    for &k in H::CAPACITY.sizes {
        let hall: H = open(k);
        let mut passes: Vec<_> = fill(&hall, k).into_iter().map(Some).collect();
        let mut freed = vec![k / 2, 0, k - 1, k / 3];
        for &slot in &freed {
            passes[slot].take().into_iter().for_each(H::release);
        }
        freed.sort_unstable();
        freed.dedup();
        assert_eq!(hall.available(), freed.len());
        let again = fill(&hall, freed.len());
        assert!(again.iter().map(H::slot).eq(freed), "of {k} slots: {again:?}");
        again.into_iter().chain(passes.into_iter().flatten()).for_each(H::release);
        assert_nothing_lost(&hall);
    }
}

/// A pass frees its slot when it is dropped, no matter which thread drops it.
pub fn a_dropped_pass_frees_its_slot<H: HallUnderTest>() {
    let hall: H = open(2);
    let (here, there) = (hall.acquire().expect("free"), hall.acquire().expect("free"));
    assert_full(&hall);
    drop(here);
    eventually("the slot is free", || hall.available() == 1);
    thread::spawn(|| drop(there)).join().expect("dropping a pass does not panic");
    assert_nothing_lost(&hall);
}

/// Clones of a handle share one hall. A pass outlives the handle through which it was acquired.
pub fn clones_are_handles_of_one_hall<H: HallUnderTest>() {
    let hall: H = open(2);
    let clone = hall.clone();
    let (one, other) = (clone.acquire().expect("free"), hall.acquire().expect("free"));
    assert_eq!((H::slot(&one), H::slot(&other)), (0, 1));
    assert_full(&clone);
    drop(clone);
    assert_full(&hall);
    H::release(one);
    assert_eq!(hall.available(), 1);
    H::release(other);
    assert_nothing_lost(&hall);
}

/// Acquiring from one hall, or closing it, does not affect another hall.
pub fn halls_do_not_affect_each_other<H: HallUnderTest>() {
    let halls: Vec<H> = (0..5).map(|_| open(1)).collect();
    let passes: Vec<_> = halls.iter().map(|hall| hall.try_acquire().expect("free")).collect();
    assert!(passes.iter().all(|pass| H::slot(pass) == 0));
    halls.iter().for_each(assert_full);
    halls[0].close();
    assert!(!halls[1].is_closed());
    passes.into_iter().for_each(H::release);
    halls[1..].iter().for_each(assert_nothing_lost);
}
