//! Halls with more slots than fit into one word, and with several groups of slot numbers.

use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    thread,
};

use hallpass_threads::{Hall, Pass, TryAcquireError};

use crate::support::assert_all_slots_free;

/// More slots than one group of slot numbers has.
const LARGE: usize = 5000;

fn fill(hall: &Hall) -> Vec<Option<Pass<'_>>> {
    let passes: Vec<_> = (0..hall.slots()).map(|_| Some(hall.try_acquire().unwrap())).collect();
    let slots = passes.iter().flatten().map(Pass::slot);
    assert!(slots.eq(0..hall.slots()), "the smallest slot comes first");
    assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
    passes
}

#[test]
fn the_smallest_free_slot_of_a_large_hall_comes_first() {
    let hall = Hall::new(LARGE);
    let mut passes = fill(&hall);
    for round in 0..3 {
        let free = [3 + round, 15, 16, 17, 80, 1040, 1041, 3000 + round, LARGE - 1];
        free.iter().rev().for_each(|&slot| drop(passes[slot].take()));
        for slot in free {
            let pass = hall.acquire().unwrap();
            assert_eq!(pass.slot(), slot);
            passes[slot] = Some(pass);
        }
    }
    drop(passes);
    assert_all_slots_free(&hall);
}

#[test]
fn many_slots_of_a_large_hall_are_taken_in_ascending_order() {
    let hall = Hall::new(LARGE);
    let mut passes = fill(&hall);
    (10..20).chain(1030..1050).for_each(|slot| drop(passes[slot].take()));
    let taken = hall.acquire_many(25).unwrap();
    assert!(taken.slots().eq((10..20).chain(1030..1045)));
    drop((passes, taken));
    assert_all_slots_free(&hall);
}

#[test]
fn threads_never_share_a_slot_of_a_large_hall() {
    const THREADS: usize = 4;
    let hall = Hall::new(2500);
    let held: Vec<AtomicBool> = (0..hall.slots()).map(|_| AtomicBool::new(false)).collect();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (hall, held) = (&hall, &held);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(thread as u64);
                let mut passes: Vec<Pass<'_>> = Vec::new();
                for _ in 0..30_000 {
                    // The threads together never hold all slots, so nobody waits.
                    if passes.len() < 600 && random.u32(..5) < 3 {
                        let pass = hall.try_acquire().unwrap();
                        assert!(!held[pass.slot()].swap(true, SeqCst), "slot {}", pass.slot());
                        passes.push(pass);
                    } else if !passes.is_empty() {
                        let pass = passes.swap_remove(random.usize(..passes.len()));
                        held[pass.slot()].store(false, SeqCst);
                    }
                }
                for pass in passes {
                    held[pass.slot()].store(false, SeqCst);
                }
            });
        }
    });
    assert_all_slots_free(&hall);
    drop(fill(&hall));
}

#[test]
fn a_large_hall_is_resized_while_its_slots_are_held() {
    let hall = Hall::new(LARGE);
    for size in [0, 1, 10, 16, 17, 40, 1040, 2000] {
        hall.resize(LARGE).unwrap();
        let mut passes = fill(&hall);
        hall.resize(size).unwrap();
        while passes.len() > size {
            assert_eq!(hall.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
            let last = if passes.len().is_multiple_of(2) { 0 } else { passes.len() - 1 };
            drop(passes.swap_remove(last));
        }
        // As many slots are held as the hall has. Some of them may be beyond its size.
        assert!(hall.try_acquire().is_err());
        if size > 0 {
            drop(passes.pop());
            assert!(hall.try_acquire().unwrap().slot() < size);
        }
        drop(passes);
        assert_eq!((hall.available(), hall.waiting()), (size, 0));
        drop(fill(&hall));
    }
}
