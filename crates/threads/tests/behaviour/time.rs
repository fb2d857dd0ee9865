//! Time limits.

use std::{
    thread,
    time::{Duration, Instant},
};

use hallpass_threads::TryAcquireError;

use crate::support::{Task, assert_whole, halls, queue, wait_until};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(600);

#[test]
fn a_free_slot_is_taken_at_once() {
    for hall in halls(3) {
        let start = Instant::now();
        let one = hall.try_acquire_for(LONG).unwrap();
        let two = hall.try_acquire_until(start + LONG).unwrap();
        let three = hall.try_acquire_many_for(1, LONG).unwrap();
        assert!(start.elapsed() < LONG / 10);
        drop((one, two, three));
        // Even if the deadline has passed.
        assert_eq!(hall.try_acquire_for(Duration::ZERO).unwrap().slot(), 0);
        assert_eq!(hall.try_acquire_until(start).unwrap().slot(), 0);
        assert_whole(&hall);
    }
}

#[test]
fn a_waiter_gives_up_at_its_deadline() {
    for hall in halls(2) {
        let held = hall.acquire_many(2).unwrap();
        let start = Instant::now();
        assert_eq!(hall.try_acquire_for(SHORT).unwrap_err(), TryAcquireError::NoPermits);
        let until = Instant::now() + SHORT;
        assert_eq!(hall.try_acquire_until(until).unwrap_err(), TryAcquireError::NoPermits);
        assert_eq!(hall.try_acquire_many_for(2, SHORT).unwrap_err(), TryAcquireError::NoPermits);
        assert!(start.elapsed() >= 3 * SHORT);
        assert_eq!(hall.try_acquire_for(Duration::ZERO).unwrap_err(), TryAcquireError::NoPermits);
        assert_eq!(hall.try_acquire_until(start).unwrap_err(), TryAcquireError::NoPermits);
        assert_eq!(hall.waiting(), 0);
        drop(held);
        assert_whole(&hall);
    }
}

/// A timeout beyond the range of `Instant` is no limit.
#[test]
fn a_timeout_can_be_unlimited() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let waiter = queue(&hall, |hall| hall.try_acquire_for(Duration::MAX).unwrap().slot());
        drop(held);
        assert_eq!(waiter.join().unwrap(), 0);
        assert_whole(&hall);
    }
}

#[test]
fn a_waiter_gets_in_before_its_deadline() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let waiter = queue(&hall, |hall| hall.try_acquire_for(LONG).unwrap().slot());
        drop(held);
        assert_eq!(waiter.join().unwrap(), 0);
        assert_whole(&hall);
    }
}

/// A waiter that gives up at the head, in the middle or at the end leaves no gap in the queue.
#[test]
fn giving_up_lets_the_next_waiter_move_up() {
    for impatient in 0..3 {
        for hall in halls(1) {
            let held = hall.acquire().unwrap();
            let mut tasks = Vec::new();
            let mut gone = None;
            for i in 0..3 {
                if i == impatient {
                    gone = Some(queue(&hall, |hall| hall.try_acquire_for(SHORT * 50).map(drop)));
                } else {
                    tasks.push(Task::new(hall.acquire_async()).waits());
                }
            }
            assert_eq!(gone.unwrap().join().unwrap(), Err(TryAcquireError::NoPermits));
            assert_eq!(hall.waiting(), 2);
            drop(held);
            let [first, second] = tasks.try_into().ok().unwrap();
            assert_eq!((first.rung(), second.rung()), (1, 0));
            drop(first.done());
            assert_eq!(second.rung(), 1);
            drop(second.done());
            assert_whole(&hall);
        }
    }
}

/// A large request at the head holds back free slots; when it gives up, the waiters behind get them.
#[test]
fn giving_up_at_the_head_releases_the_waiters_behind() {
    for hall in halls(4) {
        let held = hall.acquire().unwrap();
        let many = queue(&hall, |hall| hall.try_acquire_many_for(4, SHORT * 50).map(drop));
        let behind: Vec<_> = (0..4).map(|_| Task::new(hall.acquire_async()).waits()).collect();
        assert_eq!(many.join().unwrap(), Err(TryAcquireError::NoPermits));
        let rung: Vec<_> = behind.iter().map(Task::rung).collect();
        assert_eq!(rung, [1, 1, 1, 0]);
        assert_eq!((hall.available(), hall.waiting()), (0, 1));
        drop(held);
        let passes: Vec<_> = behind.into_iter().map(|task| task.done().unwrap()).collect();
        let mut slots: Vec<_> = passes.iter().map(|pass| pass.slot()).collect();
        slots.sort_unstable();
        assert_eq!(slots, [0, 1, 2, 3]);
        drop(passes);
        assert_whole(&hall);
    }
}

/// The deadline passes just as the slot is granted, many times: the slot is taken or left, never lost.
#[test]
fn a_grant_at_the_last_moment_is_not_lost() {
    for hall in halls(1) {
        let rounds = 2000;
        thread::scope(|scope| {
            for seed in 0..3 {
                let hall = &hall;
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(seed);
                    for _ in 0..rounds {
                        let time = Duration::from_nanos(random.u64(0..20_000));
                        let _pass = hall.try_acquire_for(time);
                        (0..random.u32(0..200)).for_each(|_| std::hint::spin_loop());
                    }
                });
            }
        });
        wait_until("nobody waits", || hall.waiting() == 0);
        assert_whole(&hall);
    }
}
