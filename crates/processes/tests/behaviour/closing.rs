//! Closed halls.

use std::time::Duration;

use hallpass_processes::Error;

use crate::support::{NAME, Scene, wait_until};

#[test]
fn closing_turns_waiters_and_newcomers_of_all_processes_away() {
    let scene = Scene::new(1);
    let hall = &scene.hall;
    let (mut holder, _) = scene.holder();
    let thread = scene.waiting_thread(|pass| matches!(pass, Err(Error::Closed)));
    let mut waiter = scene.waiter();
    assert!(!hall.is_closed() && !hall.status().closed);
    hall.close();
    assert!(hall.is_closed() && hall.status().closed);
    assert_eq!(waiter.answer(), Err("Closed".into()));
    assert!(thread.join().unwrap());
    wait_until("nobody waits", || hall.waiting() == 0);
    assert!(matches!(hall.acquire(), Err(Error::Closed)));
    assert!(matches!(hall.try_acquire(), Err(Error::Closed)));
    assert!(matches!(hall.try_acquire_for(Duration::from_secs(60)), Err(Error::Closed)));
    assert_eq!(waiter.acquire(), Err("Closed".into()));
    // The holder stays in until it leaves.
    assert_eq!(hall.status().holders.len(), 1);
    holder.leave(0);
    assert_eq!(hall.status().holders.len(), 0);
    assert_eq!(holder.acquire(), Err("Closed".into()));
}

#[test]
fn a_closed_hall_can_be_removed_and_made_again() {
    let scene = Scene::new(1);
    scene.hall.close();
    scene.hall.close();
    scene.dir().remove(NAME, false).unwrap();
    let hall = scene.dir().open(NAME, 2).unwrap();
    assert!(!hall.is_closed());
    assert_eq!(hall.try_acquire().unwrap().slot(), 0);
    assert!(scene.hall.is_closed(), "the old one");
}

#[test]
fn a_closed_hall_whose_holder_was_killed_can_be_removed() {
    let scene = Scene::new(2);
    let (holder, _) = scene.holder();
    scene.hall.close();
    holder.kill();
    scene.dir().remove(NAME, false).unwrap();
    assert!(scene.dir().open_existing(NAME).is_err());
}
