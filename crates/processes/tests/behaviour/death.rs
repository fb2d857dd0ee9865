//! Tests of processes that are killed or suspended (SIGSTOP): which of their slots become free, and which stay taken.

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
    support::{NAME, TestHall, a_while, is_full, wait_until},
};

#[test]
fn a_newcomer_gets_the_slot_of_a_killed_holder() {
    let test = TestHall::new(1);
    for _ in 0..20 {
        let (holder, slot) = test.holder();
        assert_eq!(slot, 0);
        assert!(is_full(&test.hall));
        holder.kill();
        // The slot can be taken immediately, without `reap`.
        assert_eq!(test.hall.try_acquire().unwrap().slot(), 0);
    }
    test.assert_all_slots_free();
}

#[test]
fn a_waiter_gets_the_slot_of_a_killed_holder_immediately() {
    let test = TestHall::new(1);
    let (mut holder, _) = test.holder();
    let mut waits = Vec::new();
    for _ in 0..20 {
        let mut waiter = test.waiter();
        let begun = Instant::now();
        holder.kill();
        assert_eq!(waiter.answer(), Ok(0));
        waits.push(begun.elapsed());
        holder = waiter;
    }
    waits.sort_unstable();
    // The kernel reports the death. Without a report, a waiter looks again after 100 ms at the earliest, and normally
    // after 10 s. A busy machine delays some of the reports, so only the shortest wait must be below 50 ms. But every
    // wait must be shorter than 9 s: no waiter may need the look after 10 s.
    assert!(waits[0] < Duration::from_millis(50), "{waits:?}");
    assert!(waits[waits.len() - 1] < Duration::from_secs(9), "{waits:?}");
    drop(holder);
    test.assert_all_slots_free();
}

#[test]
fn all_slots_of_a_killed_process_become_free() {
    let test = TestHall::new(5);
    let mut holder = test.puppet();
    assert!((0..5).all(|slot| holder.acquire() == Ok(slot)));
    assert_eq!(test.hall.available(), 0);
    holder.kill();
    test.hall.reap().unwrap();
    assert_eq!(test.hall.available(), 5);
    test.assert_all_slots_free();
}

#[test]
fn live_holders_keep_their_slots_when_other_holders_are_killed() {
    let test = TestHall::new(3);
    let (first, mut second, third) = (test.holder().0, test.holder().0, test.holder().0);
    first.kill();
    third.kill();
    let (one, other) = (test.hall.try_acquire().unwrap(), test.hall.try_acquire().unwrap());
    assert_eq!((one.slot(), other.slot()), (0, 2));
    assert!(is_full(&test.hall));
    second.leave(1);
    drop((one, other));
    test.assert_all_slots_free();
}

#[test]
fn a_slot_of_a_killed_holder_is_assigned_before_larger_slots() {
    let test = TestHall::new(3);
    let (holder, slot) = test.holder();
    assert_eq!(slot, 0);
    let _other = test.hall.acquire().unwrap();
    holder.kill();
    assert_eq!(test.hall.reap().unwrap(), 1);
    assert_eq!(test.hall.try_acquire().unwrap().slot(), 0);
}

#[test]
fn a_suspended_holder_keeps_its_slot() {
    let test = TestHall::new(1);
    let (mut holder, _) = test.holder();
    holder.stop();
    let mut waiter = test.waiter();
    a_while();
    assert_eq!(test.hall.reap().unwrap(), 0);
    assert!(is_full(&test.hall));
    let status = test.hall.status();
    assert!(status.holders[0].alive && status.waiters[0].alive, "{status:#?}");
    holder.resume();
    holder.leave(0);
    assert_eq!(waiter.answer(), Ok(0));
    drop(waiter);
    test.assert_all_slots_free();
}

#[test]
fn a_waiter_killed_after_it_was_given_a_slot_does_not_keep_the_slot() {
    let test = TestHall::new(1);
    let (mut holder, _) = test.holder();
    let (first, mut second) = (test.waiter(), test.waiter());
    first.stop();
    holder.leave(0);
    a_while();
    assert_eq!(test.hall.status().waiters.last().map(|one| one.pid), Some(second.pid()));
    first.kill();
    assert_eq!(second.answer(), Ok(0));
    drop(second);
    test.assert_all_slots_free();
}

#[test]
fn a_hall_whose_users_are_all_killed_together_is_free() {
    let test = TestHall::new(2);
    let mut all: Vec<Puppet> = (0..2).map(|_| test.holder().0).collect();
    all.extend((0..6).map(|_| test.waiter()));
    all.iter().for_each(|puppet| puppet.signal(Signal::KILL));
    drop(all);
    test.assert_all_slots_free();
}

/// The other processes are suspended, so that none of them can free the slot first.
#[test]
fn reap_returns_how_many_processes_had_died() {
    let test = TestHall::new(2);
    let (holder, _) = test.holder();
    let (other, _) = test.holder();
    let waiter = test.waiter();
    waiter.stop();
    other.stop();
    holder.kill();
    assert_eq!((test.hall.reap().unwrap(), test.hall.reap().unwrap()), (1, 0));
    drop((other, waiter));
    test.assert_all_slots_free();
}

#[test]
fn a_slot_stays_taken_while_another_process_has_its_lifeline() {
    let test = TestHall::new(1);
    let (mut holder, _) = test.holder();
    let child: i32 = holder.order("keep-lifeline 0").parse().unwrap();
    let mut waiter = test.waiter();
    holder.kill();
    a_while();
    assert_eq!(test.hall.reap().unwrap(), 0);
    assert!(is_full(&test.hall));
    assert_eq!(test.hall.waiting(), 1);
    kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
    assert_eq!(waiter.answer(), Ok(0));
    drop(waiter);
    test.assert_all_slots_free();
}

#[test]
fn a_released_slot_is_free_even_if_its_lifeline_is_open() {
    let test = TestHall::new(1);
    let (mut holder, _) = test.holder();
    let child: i32 = holder.order("keep-lifeline 0").parse().unwrap();
    holder.leave(0);
    let pass = test.hall.try_acquire().unwrap();
    kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
    a_while();
    assert!(is_full(&test.hall), "the new holder has lost its slot");
    drop(pass);
    test.assert_all_slots_free();
}

#[test]
fn a_slot_can_be_left_to_its_lifeline() {
    let test = TestHall::new(2);
    let mut holder = test.puppet();
    assert_eq!((holder.acquire(), holder.acquire()), (Ok(0), Ok(1)));
    let child: i32 = holder.order("keep-lifeline 1").parse().unwrap();
    assert_eq!(holder.order("leave-to-lifeline 1"), "left");
    // The holder still has the lifeline open.
    assert!(is_full(&test.hall));
    holder.leave(0);
    assert_eq!(test.hall.try_acquire().unwrap().slot(), 0);
    holder.kill();
    a_while();
    test.hall.reap().unwrap();
    assert_eq!(test.hall.available(), 1);
    kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
    test.assert_all_slots_free();
}

#[test]
fn a_waiter_short_of_descriptors_notices_the_death_of_any_holder() {
    let test = TestHall::new(6);
    let mut holders: Vec<_> = (0..6).map(|_| test.holder().0).collect();
    let mut waiter = test.puppet();
    // One descriptor is for the pipe of the waiter, and one for watching a holder.
    assert_eq!(waiter.order("limit 2"), "done");
    waiter.say("acquire");
    wait_until("the waiter is in the queue", || test.hall.waiting() == 1);
    a_while();
    holders.pop().unwrap().kill();
    assert_eq!(waiter.answer(), Ok(5));
}

/// Root may use a hall in the private directory of a user.
#[test]
fn the_slot_of_another_user_in_a_private_directory_becomes_free() {
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
    let test = TestHall::new(1);
    let lock = test.path().join("lock");
    for _ in 0..60 {
        let mut holder = Puppet::new();
        assert_eq!(holder.order(&format!("lock {}", lock.display())), "locked");
        holder.open(test.path(), NAME);
        assert_eq!(holder.acquire(), Ok(0));
        let file = File::open(&lock).unwrap();
        let successor = test.waiting_thread(move |pass| {
            let is_free = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
            drop(pass);
            is_free
        });
        holder.kill();
        assert!(successor.join().unwrap(), "the killed holder still has the lock");
    }
}
