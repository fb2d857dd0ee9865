//! Tests of halls on etcd when a command leaves processes running: which of them keep the slot.

mod common;

use std::{fs, thread, time::Duration};

use common::{Halls, Running, cluster::cluster, eventually, send, state};
use rustix::process::Signal;

/// The halls of one test on the cluster that all tests share.
macro_rules! halls {
    ($test:literal) => {{
        let Some(cluster) = cluster() else { return };
        Halls::on(&format!("{}/{}", cluster.url(), $test))
    }};
}

/// Time in which a slot would become free if it were released by mistake.
const A_WHILE: Duration = Duration::from_millis(700);

/// A script that leaves a child running for a minute, and prints its process id.
const LEAVES_A_CHILD: &str = "sleep 60 </dev/null >/dev/null 2>&1 & echo $!; exit 6";

/// A script that closes all inherited descriptors except standard input, output and error, as Python's subprocess does.
const CLOSES_DESCRIPTORS: &str =
    "for fd in /proc/self/fd/*; do n=${fd##*/}; [ $n -gt 2 ] && eval \"exec $n>&-\"; done";

/// Starts `hallpass run OPTIONS x`. Its command leaves a child running that has closed its descriptors and ignores
/// SIGTERM. After the command has printed the PID of the child, it runs `then`.
fn leave_a_child_without_descriptors(
    halls: &Halls,
    options: &[&str],
    then: &str,
) -> (Running, i32) {
    let script = format!(
        "setsid bash -c 'trap \"\" TERM; {CLOSES_DESCRIPTORS}; exec sleep 60' </dev/null >/dev/null 2>&1 & \
         echo $!; {then}"
    );
    let mut running = halls.start(&[options, &["x", "bash", "-c", &script]].concat());
    let child: i32 = running.line().parse().expect("a number");
    let name = || fs::read_to_string(format!("/proc/{child}/comm")).expect("it runs");
    eventually("the child has closed its descriptors", || name() == "sleep\n");
    (running, child)
}

#[test]
fn children_left_running_keep_the_slot_only_with_descendants() {
    let halls = halls!("left");
    let mut running = halls.start(&["-k", "1", "x", "sh", "-c", LEAVES_A_CHILD]);
    let child: i32 = running.line().parse().expect("a number");
    assert_eq!(running.leave().0, Some(6));
    assert!(halls.is_free("x") && state(child).is_some());
    send(child, Signal::KILL);

    let mut running = halls.start(&["--descendants", "x", "sh", "-c", LEAVES_A_CHILD]);
    let child: i32 = running.line().parse().expect("a number");
    thread::sleep(Duration::from_millis(300));
    assert!(!halls.is_free("x"));
    assert!(running.process.try_wait().expect("asked").is_none(), "hallpass guards the child");
    send(child, Signal::KILL);
    assert_eq!(running.leave().0, Some(6));
    assert!(halls.is_free("x"));
}

#[test]
fn with_descendants_a_child_that_closes_its_descriptors_keeps_the_slot() {
    let halls = halls!("closed");
    let options = ["-k", "1", "--descendants"];
    let (mut running, child) = leave_a_child_without_descriptors(&halls, &options, "exit 6");
    thread::sleep(A_WHILE);
    assert!(!halls.is_free("x"));
    assert!(running.process.try_wait().expect("asked").is_none(), "hallpass guards the child");
    send(child, Signal::KILL);
    assert_eq!(running.leave().0, Some(6));
    assert!(halls.is_free("x"));
}

#[test]
fn a_child_that_closes_its_descriptors_is_killed_before_the_slot_of_a_killed_hallpass_is_free() {
    let halls = halls!("killed");
    let options = ["-k", "1", "--grace", "1"];
    let (mut running, child) = leave_a_child_without_descriptors(&halls, &options, "exec sleep 60");
    running.kill_hallpass();
    eventually("the slot is free", || halls.is_free("x"));
    assert_eq!(state(child), None, "the child still runs");
}

#[test]
fn with_on_kill_keep_a_child_that_closes_its_descriptors_keeps_the_slot_of_a_killed_hallpass() {
    let halls = halls!("kept");
    let options = ["-k", "1", "--on-kill", "keep"];
    let (mut running, child) = leave_a_child_without_descriptors(&halls, &options, "exec cat");
    running.kill_hallpass();
    running.stdin = None; // ends the command
    thread::sleep(A_WHILE);
    assert!(!halls.is_free("x"));
    send(child, Signal::KILL);
    eventually("the slot is free", || halls.is_free("x"));
}

#[test]
fn with_close_a_command_that_outlives_hallpass_does_not_keep_the_slot() {
    let halls = halls!("close");
    let mut holder = halls.hold(&["-k", "1", "--close", "--on-kill", "keep"], "x");
    holder.kill_hallpass();
    eventually("the slot is free", || halls.is_free("x"));
    assert!(state(holder.command_pid).is_some(), "the command runs");
}

#[test]
fn with_close_the_processes_of_a_killed_hallpass_are_killed_too() {
    let halls = halls!("close-killed");
    let options = ["-k", "1", "--grace", "1", "--close"];
    let (mut running, child) = leave_a_child_without_descriptors(&halls, &options, "exec sleep 60");
    running.kill_hallpass();
    eventually("the slot is free", || halls.is_free("x"));
    eventually("the child is killed", || state(child).is_none());
}
