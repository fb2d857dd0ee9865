//! Behaviours with many threads at once, and a witness that records the holders.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use crate::{HallUnderTest, Refusal, assert_nothing_lost, helpers::open};

/// Counts the holders, and records which slots are held.
struct Witness {
    holders: AtomicUsize,
    taken: Vec<AtomicBool>,
}

impl Witness {
    fn new(k: usize) -> Self {
        Witness {
            holders: AtomicUsize::new(0),
            taken: (0..k).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// Records the holder of `pass`, checks that there are at most k holders and that no other holder has its slot, and
    /// releases the pass.
    fn visit<H: HallUnderTest>(&self, pass: H::Pass) {
        let (slot, k) = (H::slot(&pass), self.taken.len());
        assert!(slot < k, "slot {slot} of {k}");
        let others = self.holders.fetch_add(1, SeqCst);
        assert!(others < k, "a hall with {k} slots has {} holders", others + 1);
        assert!(!self.taken[slot].swap(true, SeqCst), "slot {slot} has two holders");
        thread::yield_now();
        self.taken[slot].store(false, SeqCst);
        self.holders.fetch_sub(1, SeqCst);
        H::release(pass);
    }
}

/// Runs `passage` in eight threads, `CAPACITY.rounds` times in each.
fn run<H: HallUnderTest>(k: usize, passage: impl Fn(&H, &Witness, &mut fastrand::Rng) + Sync) {
    const THREADS: u64 = 8;
    let hall: H = open(k);
    let (witness, start) = (Witness::new(k), Barrier::new(THREADS as usize));
    thread::scope(|scope| {
        for seed in 0..THREADS {
            let (hall, witness, start, passage) = (hall.clone(), &witness, &start, &passage);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                start.wait();
                (0..H::CAPACITY.rounds).for_each(|_| passage(&hall, witness, &mut random));
            });
        }
    });
    assert_nothing_lost(&hall);
}

/// While many threads enter and leave, at most k of them hold a slot, no slot has two holders, and every
/// thread gets a slot.
pub fn many_threads_never_share_a_slot_and_each_gets_one<H: HallUnderTest>() {
    for k in [1, 3] {
        run::<H>(k, |hall, witness, _| witness.visit::<H>(hall.acquire().expect("its turn comes")));
    }
}

/// At most k threads hold a slot, and no slot has two holders, even if some threads do not wait and others give
/// up.
pub fn threads_that_try_or_give_up_never_share_a_slot<H: HallUnderTest>() {
    run::<H>(2, |hall, witness, random| {
        let attempt = match random.u32(0..3) {
            0 => hall.acquire(),
            1 => hall.try_acquire(),
            _ => hall.acquire_for(H::CAPACITY.hand_over.mul_f64(random.f64())),
        };
        match attempt {
            Ok(pass) => witness.visit::<H>(pass),
            Err(refusal) => assert_eq!(refusal, Refusal::NoPermits),
        }
    });
}

/// No slot has two holders while the hall is resized again and again. Slots stay below the largest size
/// that the hall has had.
pub fn threads_never_share_a_slot_while_the_hall_is_resized<H: HallUnderTest>() {
    let hall: H = open(3);
    let (witness, over) = (Witness::new(3), AtomicBool::new(false));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..H::CAPACITY.rounds {
                        witness.visit::<H>(hall.acquire().expect("its turn comes"));
                    }
                })
            })
            .collect();
        let resizer = scope.spawn(|| {
            while !over.load(SeqCst) {
                for k in [1, 3, 2] {
                    hall.resize(k).expect("this size is allowed");
                    thread::sleep(Duration::from_micros(100));
                }
            }
        });
        let ends: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        over.store(true, SeqCst);
        resizer.join().expect("resizing does not fail");
        assert!(ends.into_iter().all(|end| end.is_ok()), "a thread has failed");
    });
    assert_nothing_lost(&hall);
}
