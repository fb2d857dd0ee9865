//! First come, first served.

use crate::support::{Scene, a_while, is_full, wait_until};

#[test]
fn processes_get_in_in_the_order_they_came() {
    let scene = Scene::new(2);
    let (one, other) = (scene.hall.acquire().unwrap(), scene.hall.acquire().unwrap());
    let mut waiters: Vec<_> = (0..6).map(|_| scene.waiter()).collect();
    let pids: Vec<u32> = waiters.iter().map(|puppet| puppet.pid()).collect();
    assert!(scene.hall.status().waiters.iter().map(|one| one.pid).eq(pids));
    assert_eq!(scene.hall.waiting(), 6);
    drop(one);
    for (index, puppet) in waiters.iter_mut().enumerate() {
        assert_eq!(puppet.answer(), Ok(0), "{index}");
        assert_eq!(scene.hall.waiting(), 5 - index);
        puppet.leave(0);
    }
    drop(other);
    drop(waiters);
    scene.assert_whole();
}

#[test]
fn threads_and_processes_stand_in_one_queue() {
    let scene = Scene::new(1);
    let mut next = Some(scene.hall.acquire_owned().unwrap());
    let mut waiters = Vec::new();
    for _ in 0..3 {
        let thread = scene.waiting_thread(Result::unwrap);
        waiters.push((thread, scene.waiter()));
    }
    for (thread, mut puppet) in waiters {
        drop(next.take());
        next = Some(thread.join().unwrap());
        drop(next.take());
        assert_eq!(puppet.answer(), Ok(0));
        puppet.leave(0);
    }
    scene.assert_whole();
}

#[test]
fn a_caller_cannot_overtake_a_waiter_that_is_stopped() {
    let scene = Scene::new(2);
    let (one, other) = (scene.hall.acquire().unwrap(), scene.hall.acquire().unwrap());
    let waiter = scene.waiter();
    waiter.stop();
    drop(one);
    // The slot is the waiter's, although the waiter cannot run.
    a_while();
    assert!(is_full(&scene.hall));
    waiter.resume();
    drop((waiter, other));
    scene.assert_whole();
}

#[test]
fn a_stopped_waiter_does_not_keep_others_from_other_slots() {
    let scene = Scene::new(2);
    let (one, other) = (scene.hall.acquire().unwrap(), scene.hall.acquire().unwrap());
    let (mut first, mut second) = (scene.waiter(), scene.waiter());
    first.stop();
    drop(one);
    a_while();
    drop(other);
    assert!(second.answer().is_ok());
    first.resume();
    assert!(first.answer().is_ok());
    drop((first, second));
    scene.assert_whole();
}

#[test]
fn a_waiter_that_dies_in_the_middle_of_the_queue_leaves_no_gap() {
    let scene = Scene::new(1);
    let pass = scene.hall.acquire().unwrap();
    let (mut first, middle, mut last) = (scene.waiter(), scene.waiter(), scene.waiter());
    middle.kill();
    drop(pass);
    assert_eq!(first.answer(), Ok(0));
    first.leave(0);
    assert_eq!(last.answer(), Ok(0));
    drop((first, last));
    wait_until("nobody waits", || scene.hall.waiting() == 0);
    scene.assert_whole();
}

#[test]
fn a_process_that_times_out_keeps_the_order_of_the_others() {
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
