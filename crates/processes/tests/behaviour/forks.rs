//! Tests of processes that fork or exec.

use std::{thread, time::Duration};

use hallpass_processes::{SharedHall, SharedPass};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::support::{TestHall, is_full, wait_until};

/// Runs `f` in a forked process and returns its exit code.
fn forked(f: impl FnOnce() -> i32) -> i32 {
    // SAFETY: only puppets call this. Their other threads wait and hold no locks.
    match unsafe { libc::fork() } {
        0 => {
            let code = f();
            // SAFETY: the call has no preconditions.
            unsafe { libc::_exit(code) }
        }
        pid => {
            let pid = Pid::from_raw(pid).expect("fork succeeds");
            let ended = waitpid(Some(pid), WaitOptions::empty()).unwrap();
            ended.and_then(|(_, status)| status.exit_status()).unwrap_or(-1)
        }
    }
}

/// Forks a child that drops the passes it inherited.
pub fn drops_inherited(passes: &mut Vec<SharedPass>) -> i32 {
    forked(|| {
        passes.clear();
        0
    })
}

/// Forks a child that tries to acquire a slot and dies with it. Returns the slot, or 100 if the child got none.
pub fn acquires(hall: &SharedHall) -> i32 {
    forked(|| match hall.try_acquire() {
        Ok(pass) => {
            let slot = pass.slot() as i32;
            std::mem::forget(pass);
            slot
        }
        Err(_) => 100,
    })
}

/// Lets a thread wait for a slot, and then forks a child that closes the lifelines it inherited. Returns the child's
/// PID. The child lives for a minute.
pub fn outlives(hall: &'static SharedHall) -> i32 {
    thread::spawn(|| hall.acquire().map(std::mem::forget));
    wait_until("the thread waits", || hall.waiting() == 1);
    // SAFETY: the thread waits and holds no locks.
    match unsafe { libc::fork() } {
        0 => {
            hall.close_inherited_lifelines();
            thread::sleep(Duration::from_secs(60));
            // SAFETY: the call has no preconditions.
            unsafe { libc::_exit(0) }
        }
        pid => pid,
    }
}

#[test]
fn a_forked_child_that_closes_its_lifelines_keeps_no_slot_of_its_killed_parent_taken() {
    let test = TestHall::new(1);
    let (mut parent, _) = test.holder();
    let child = Pid::from_raw(parent.order("fork-outlive").parse().unwrap()).unwrap();
    assert!(is_full(&test.hall));
    parent.kill();
    let slot = test.hall.try_acquire_for(Duration::from_secs(20)).map(|pass| pass.slot());
    kill_process(child, Signal::KILL).expect("the child is still alive");
    assert_eq!(slot.ok(), Some(0));
    test.assert_all_slots_free();
}

#[test]
fn a_forked_child_does_not_free_the_slot_of_its_parent() {
    let test = TestHall::new(1);
    let (mut holder, _) = test.holder();
    assert_eq!(holder.order("fork-drop"), "0");
    assert!(is_full(&test.hall));
    holder.leave(0);
    assert_eq!(test.hall.available(), 1);
    drop(holder);
    test.assert_all_slots_free();
}

#[test]
fn a_forked_child_gets_its_own_slot() {
    let test = TestHall::new(2);
    let (mut parent, _) = test.holder();
    // Each child dies with its slot, so the next child gets the same slot. The parent keeps its slot.
    for _ in 0..3 {
        assert_eq!(parent.order("fork-acquire"), "1");
    }
    assert_eq!(parent.acquire(), Ok(1));
    assert_eq!(parent.order("fork-acquire"), "100");
    parent.leave(1);
    assert_eq!(parent.order("fork-acquire"), "1");
    assert_eq!(test.hall.try_acquire().unwrap().slot(), 1);
    drop(parent);
    test.assert_all_slots_free();
}

#[test]
fn a_process_that_execs_loses_its_slot() {
    let test = TestHall::new(1);
    let (mut holder, _) = test.holder();
    let mut waiter = test.waiter();
    assert_eq!(holder.order("exec"), "off");
    assert_eq!(waiter.answer(), Ok(0));
    drop((holder, waiter));
    test.assert_all_slots_free();
}
