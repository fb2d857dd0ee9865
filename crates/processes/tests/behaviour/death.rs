//! Processes that are killed or stopped: what they held is free, or not.

use std::{
    fs::File,
    time::{Duration, Instant},
};

use hallpass_processes::HallDir;
use rustix::{
    fs::{FlockOperation, flock},
    process::{Pid, Signal, kill_process},
};

use crate::{
    puppet::Puppet,
    support::{NAME, Scene, a_while, is_full, wait_until},
};

#[test]
fn a_newcomer_gets_the_slot_of_a_killed_holder() {
    let scene = Scene::new(1);
    for _ in 0..20 {
        let (holder, slot) = scene.holder();
        assert_eq!(slot, 0);
        assert!(is_full(&scene.hall));
        holder.kill();
        // At once, without `reap`.
        assert_eq!(scene.hall.try_acquire().unwrap().slot(), 0);
    }
    scene.assert_whole();
}

#[test]
fn a_waiter_gets_the_slot_of_a_killed_holder_at_once() {
    let scene = Scene::new(1);
    let (mut holder, _) = scene.holder();
    let mut waits = Vec::new();
    for _ in 0..20 {
        let mut waiter = scene.waiter();
        let begun = Instant::now();
        holder.kill();
        assert_eq!(waiter.answer(), Ok(0));
        waits.push(begun.elapsed());
        holder = waiter;
    }
    waits.sort_unstable();
    // The kernel reports the death. A waiter that had to check on its own would do so at the earliest 100 ms
    // after it began to wait, and as a rule after 10 s. A busy machine delays some of the reports, so the
    // fastest counts; but none may be as late as the rule.
    assert!(waits[0] < Duration::from_millis(50), "{waits:?}");
    assert!(waits[waits.len() - 1] < Duration::from_secs(9), "{waits:?}");
    drop(holder);
    scene.assert_whole();
}

#[test]
fn all_slots_of_a_killed_process_are_freed() {
    let scene = Scene::new(5);
    let mut holder = scene.puppet();
    assert!((0..5).all(|slot| holder.acquire() == Ok(slot)));
    assert_eq!(scene.hall.available(), 0);
    holder.kill();
    scene.hall.reap().unwrap();
    assert_eq!(scene.hall.available(), 5);
    scene.assert_whole();
}

#[test]
fn live_holders_keep_their_slots_beside_killed_ones() {
    let scene = Scene::new(3);
    let (first, mut second, third) = (scene.holder().0, scene.holder().0, scene.holder().0);
    first.kill();
    third.kill();
    let (one, other) = (scene.hall.try_acquire().unwrap(), scene.hall.try_acquire().unwrap());
    assert_eq!((one.slot(), other.slot()), (0, 2));
    assert!(is_full(&scene.hall));
    second.leave(1);
    drop((one, other));
    scene.assert_whole();
}

#[test]
fn a_slot_of_a_killed_holder_comes_before_larger_ones() {
    let scene = Scene::new(3);
    let (holder, slot) = scene.holder();
    assert_eq!(slot, 0);
    let _other = scene.hall.acquire().unwrap();
    holder.kill();
    assert_eq!(scene.hall.reap().unwrap(), 1);
    assert_eq!(scene.hall.try_acquire().unwrap().slot(), 0);
}

#[test]
fn a_stopped_holder_keeps_its_slot() {
    let scene = Scene::new(1);
    let (mut holder, _) = scene.holder();
    holder.stop();
    let mut waiter = scene.waiter();
    a_while();
    assert_eq!(scene.hall.reap().unwrap(), 0);
    assert!(is_full(&scene.hall));
    let status = scene.hall.status();
    assert!(status.holders[0].alive && status.waiters[0].alive, "{status:#?}");
    holder.resume();
    holder.leave(0);
    assert_eq!(waiter.answer(), Ok(0));
    drop(waiter);
    scene.assert_whole();
}

#[test]
fn a_waiter_killed_after_its_grant_does_not_keep_the_slot() {
    let scene = Scene::new(1);
    let (mut holder, _) = scene.holder();
    let (first, mut second) = (scene.waiter(), scene.waiter());
    first.stop();
    holder.leave(0);
    a_while();
    assert_eq!(scene.hall.status().waiters.last().map(|one| one.pid), Some(second.pid()));
    first.kill();
    assert_eq!(second.answer(), Ok(0));
    drop(second);
    scene.assert_whole();
}

#[test]
fn a_hall_whose_users_are_all_killed_at_once_is_free() {
    let scene = Scene::new(2);
    let mut all: Vec<Puppet> = (0..2).map(|_| scene.holder().0).collect();
    all.extend((0..6).map(|_| scene.waiter()));
    all.iter().for_each(|puppet| puppet.signal(Signal::KILL));
    drop(all);
    scene.assert_whole();
}

/// The other processes are stopped, so that none of them can free the slot first.
#[test]
fn reap_returns_how_many_processes_had_died() {
    let scene = Scene::new(2);
    let (holder, _) = scene.holder();
    let (other, _) = scene.holder();
    let waiter = scene.waiter();
    waiter.stop();
    other.stop();
    holder.kill();
    assert_eq!((scene.hall.reap().unwrap(), scene.hall.reap().unwrap()), (1, 0));
    drop((other, waiter));
    scene.assert_whole();
}

#[test]
fn a_slot_stays_taken_while_another_process_has_its_lifeline() {
    let scene = Scene::new(1);
    let (mut holder, _) = scene.holder();
    let child: i32 = holder.order("keep-lifeline 0").parse().unwrap();
    let mut waiter = scene.waiter();
    holder.kill();
    a_while();
    assert_eq!(scene.hall.reap().unwrap(), 0);
    assert!(is_full(&scene.hall));
    assert_eq!(scene.hall.waiting(), 1);
    kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
    assert_eq!(waiter.answer(), Ok(0));
    drop(waiter);
    scene.assert_whole();
}

#[test]
fn a_released_slot_is_free_even_if_its_lifeline_is_open() {
    let scene = Scene::new(1);
    let (mut holder, _) = scene.holder();
    let child: i32 = holder.order("keep-lifeline 0").parse().unwrap();
    holder.leave(0);
    let pass = scene.hall.try_acquire().unwrap();
    kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
    a_while();
    assert!(is_full(&scene.hall), "the new holder's slot was taken from it");
    drop(pass);
    scene.assert_whole();
}

#[test]
fn a_slot_can_be_left_to_its_lifeline() {
    let scene = Scene::new(2);
    let mut holder = scene.puppet();
    assert_eq!((holder.acquire(), holder.acquire()), (Ok(0), Ok(1)));
    let child: i32 = holder.order("keep-lifeline 1").parse().unwrap();
    assert_eq!(holder.order("leave-to-lifeline 1"), "left");
    // The holder still has the lifeline open, too.
    assert!(is_full(&scene.hall));
    holder.leave(0);
    assert_eq!(scene.hall.try_acquire().unwrap().slot(), 0);
    holder.kill();
    a_while();
    scene.hall.reap().unwrap();
    assert_eq!(scene.hall.available(), 1);
    kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
    scene.assert_whole();
}

#[test]
fn a_waiter_short_of_descriptors_notices_the_death_of_any_holder() {
    let scene = Scene::new(6);
    let mut holders: Vec<_> = (0..6).map(|_| scene.holder().0).collect();
    let mut waiter = scene.puppet();
    // One for the pipe of the waiter, and one to watch a holder with.
    assert_eq!(waiter.order("limit 2"), "done");
    waiter.say("acquire");
    wait_until("the waiter is in the queue", || scene.hall.waiting() == 1);
    a_while();
    holders.pop().unwrap().kill();
    assert_eq!(waiter.answer(), Ok(5));
}

/// Root may use a hall in the private directory of a user.
#[test]
fn a_slot_that_another_user_held_in_a_private_directory_is_freed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut user = Puppet::new();
    let owned = std::os::unix::fs::chown(path, Some(65534), Some(65534));
    if owned.is_err() || user.order("become 65534") != "done" {
        println!("skipped: cannot become another user");
        return;
    }
    assert_eq!(user.order(&format!("create {NAME} 1 {}", path.display())), "open");
    let mut root = Puppet::new();
    root.open(path, NAME);
    assert_eq!(root.acquire(), Ok(0));
    user.say("acquire");
    let hall = HallDir::at(path).open_existing(NAME).unwrap();
    wait_until("the user waits", || hall.waiting() == 1);
    root.kill();
    assert_eq!(user.answer(), Ok(0));
}

/// The kernel closes the descriptors of a dying process one after the other.
#[test]
fn a_killed_holder_has_released_its_locks_when_its_successor_enters() {
    let scene = Scene::new(1);
    let lock = scene.path().join("lock");
    for _ in 0..60 {
        let mut holder = Puppet::new();
        assert_eq!(holder.order(&format!("lock {}", lock.display())), "locked");
        holder.open(scene.path(), NAME);
        assert_eq!(holder.acquire(), Ok(0));
        let file = File::open(&lock).unwrap();
        let successor = scene.waiting_thread(move |pass| {
            let is_free = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
            drop(pass);
            is_free
        });
        holder.kill();
        assert!(successor.join().unwrap(), "the killed holder still has the lock");
    }
}
