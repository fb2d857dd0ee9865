//! First come, first served.

use std::sync::mpsc;

use crate::support::{Scene, a_while, is_full, wait_until};

#[test]
fn threads_get_in_as_they_came() {
    let scene = Scene::new(1);
    let pass = scene.hall.acquire().unwrap();
    let (tell, told) = mpsc::channel();
    let threads: Vec<_> = (0..12)
        .map(|number| {
            let tell = tell.clone();
            scene.waiting_thread(move |pass| {
                let pass = pass.unwrap();
                tell.send(number).unwrap();
                drop(pass);
            })
        })
        .collect();
    drop(pass);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(told.try_iter().eq(0..12));
    scene.assert_whole();
}

#[test]
fn processes_get_in_as_they_came() {
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
fn threads_and_processes_are_in_one_queue() {
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
fn nobody_overtakes_who_waits_by_not_waiting() {
    let scene = Scene::new(2);
    let (one, other) = (scene.hall.acquire().unwrap(), scene.hall.acquire().unwrap());
    let waiter = scene.waiter();
    waiter.stop();
    drop(one);
    // The slot is the waiter's, even though it does not take it.
    a_while();
    assert!(is_full(&scene.hall));
    waiter.resume();
    drop((waiter, other));
    scene.assert_whole();
}

#[test]
fn one_who_is_stopped_at_the_front_does_not_keep_the_others_from_other_slots() {
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
fn the_queue_closes_up_when_one_in_the_middle_dies() {
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
