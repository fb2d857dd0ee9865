//! Waiting for a while.

use std::time::{Duration, Instant};

use hallpass_processes::Error;

use crate::support::{Scene, wait_until};

const SHORT: Duration = Duration::from_millis(30);

#[test]
fn time_runs_out_and_not_at_once() {
    let scene = Scene::new(1);
    let pass = scene.hall.acquire().unwrap();
    let begun = Instant::now();
    assert!(matches!(scene.hall.try_acquire_for(SHORT), Err(Error::NoPermits)));
    assert!(begun.elapsed() >= SHORT);
    let until = Instant::now() + SHORT;
    assert!(matches!(scene.hall.try_acquire_until(until), Err(Error::NoPermits)));
    assert!(Instant::now() >= until);
    drop(pass);
    scene.assert_whole();
}

#[test]
fn a_free_slot_needs_no_time() {
    let scene = Scene::new(2);
    let past = Instant::now();
    let one = scene.hall.try_acquire_for(Duration::ZERO).unwrap();
    let other = scene.hall.try_acquire_until(past).unwrap();
    assert_eq!((one.slot(), other.slot()), (0, 1));
    assert!(matches!(scene.hall.try_acquire_for(Duration::ZERO), Err(Error::NoPermits)));
    assert!(matches!(scene.hall.try_acquire_until(past), Err(Error::NoPermits)));
    drop((one, other));
    scene.assert_whole();
}

#[test]
fn who_gives_up_leaves_nothing_behind() {
    let scene = Scene::new(1);
    let pass = scene.hall.acquire().unwrap();
    for _ in 0..50 {
        assert!(scene.hall.try_acquire_for(Duration::from_millis(1)).is_err());
    }
    let status = scene.hall.status();
    assert_eq!((status.holders.len(), status.waiters.len()), (1, 0), "{status:#?}");
    assert_eq!(scene.hall.waiting(), 0);
    drop(pass);
    scene.assert_whole();
}

#[test]
fn who_gives_up_does_not_disturb_the_others_order() {
    let scene = Scene::new(1);
    let pass = scene.hall.acquire().unwrap();
    let mut first = scene.waiter();
    let mut middle = scene.puppet();
    middle.say("for 2000");
    wait_until("it waits", || scene.hall.status().waiters.len() == 2);
    let mut last = scene.waiter();
    assert_eq!(middle.answer(), Err("NoPermits".into()));
    drop(pass);
    assert_eq!(first.answer(), Ok(0));
    first.leave(0);
    assert_eq!(last.answer(), Ok(0));
    drop((first, middle, last));
    scene.assert_whole();
}

#[test]
fn a_slot_that_comes_in_time_is_had() {
    let scene = Scene::new(1);
    let pass = scene.hall.acquire().unwrap();
    let mut waiter = scene.puppet();
    waiter.say("for 60000");
    wait_until("it waits", || scene.hall.status().waiters.len() == 1);
    drop(pass);
    assert_eq!(waiter.answer(), Ok(0));
    drop(waiter);
    scene.assert_whole();
}

#[test]
fn no_time_is_too_long() {
    let scene = Scene::new(2);
    let one = scene.hall.try_acquire_for(Duration::MAX).unwrap();
    let other = scene.hall.acquire().unwrap();
    let waiter = std::thread::spawn({
        let hall = scene.hall.clone();
        move || hall.try_acquire_for(Duration::MAX).map(|pass| pass.slot())
    });
    wait_until("it waits", || scene.hall.status().waiters.len() == 1);
    drop(one);
    assert_eq!(waiter.join().unwrap().unwrap(), 0);
    drop(other);
    scene.assert_whole();
}
