//! Tests of what happens to the slot and to the processes when hallpass or its warden is killed, when the command
//! leaves children running, and when the command reaches its time limit.

mod common;

use std::{io::Read, thread, time::Duration};

use common::{Halls, Running, eventually, send, state, state_in};
use rustix::process::Signal;

/// Time in which a slot would become free if it were released by mistake.
const A_WHILE: Duration = Duration::from_millis(80);

#[test]
fn a_killed_hallpass_leaves_the_slot_to_its_command() {
    let halls = Halls::new();
    let mut holder = halls.hold(&["-k", "1"], "x");
    holder.kill_hallpass();
    thread::sleep(A_WHILE);
    assert!(state(holder.command_pid).is_some(), "the command runs");
    assert!(!halls.is_free("x"));
    assert_eq!(halls.status("x")["holders"][0]["slot"], 0);
    let waiter = halls.start(&["x", "true"]);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    // Closing the standard input ends the command.
    holder.stdin = None;
    assert_eq!(waiter.leave().0, Some(0));
    assert!(halls.is_free("x"));
}

#[test]
fn with_on_kill_kill_the_command_is_killed_too() {
    let halls = Halls::new();
    let mut holder = halls.hold(&["-k", "1", "--on-kill", "kill"], "x");
    holder.kill_hallpass();
    let command = holder.command_pid;
    eventually("the command is killed", || state(command).is_none());
    eventually("the slot is free", || halls.is_free("x"));
}

#[test]
fn a_successor_starts_after_the_killed_command_has_ended() {
    let halls = Halls::new();
    for _ in 0..10 {
        let mut holder = halls.hold(&["-k", "1", "--on-kill", "kill"], "x");
        let stat = format!("/proc/{}/stat", holder.command_pid);
        let mut waiter = halls.start(&["x", "sh", "-c", &format!("cat {stat}; :")]);
        eventually("it waits", || halls.status("x")["waiting"] == 1);
        holder.kill_hallpass();
        let seen = waiter.line();
        assert_eq!(state_in(&seen), None, "the killed command still runs: {seen}");
        assert_eq!(waiter.leave().0, Some(0));
    }
}

#[test]
fn with_close_the_slot_is_free_when_hallpass_ends() {
    let halls = Halls::new();
    for options in [&["--close"][..], &["--close", "--time-limit", "60"]] {
        let mut holder = halls.hold(options, "x");
        holder.kill_hallpass();
        eventually("the slot is free", || halls.is_free("x"));
        assert!(state(holder.command_pid).is_some(), "the command runs: {options:?}");
    }
}

/// A script that leaves a child behind for a minute, and prints its PID.
const LEAVES_A_CHILD: &str = "sleep 60 </dev/null >/dev/null 2>&1 & echo $!; exit 6";

#[test]
fn children_left_behind_do_not_keep_the_slot() {
    let halls = Halls::new();
    for options in [&["-k", "1"][..], &["--close"]] {
        let mut running = halls.start(&[options, &["x", "sh", "-c", LEAVES_A_CHILD]].concat());
        let child: i32 = running.line().parse().expect("a number");
        assert_eq!(running.leave().0, Some(6));
        assert!(halls.is_free("x"), "the slot is free immediately");
        assert!(state(child).is_some());
        send(child, Signal::KILL);
    }
}

#[test]
fn with_descendants_or_no_fork_children_left_behind_keep_the_slot() {
    let halls = Halls::new();
    for options in [&["--descendants"][..], &["--no-fork"]] {
        let mut running = halls.start(&[options, &["x", "sh", "-c", LEAVES_A_CHILD]].concat());
        let child: i32 = running.line().parse().expect("a number");
        assert_eq!(running.leave().0, Some(6), "hallpass does not wait for the child");
        thread::sleep(A_WHILE);
        assert!(!halls.is_free("x"), "{options:?}");
        send(child, Signal::KILL);
        eventually("the slot is free", || halls.is_free("x"));
    }
}

#[test]
fn a_command_without_children_left_behind_frees_the_slot() {
    let halls = Halls::new();
    for options in [&["--descendants"][..], &["--no-fork"]] {
        assert_eq!(halls.run(&[options, &["x", "true"]].concat()), Some(0));
        eventually("the slot is free", || halls.is_free("x"));
    }
}

#[test]
fn with_no_fork_hallpass_becomes_the_command() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1", "--no-fork"], "x");
    assert_eq!(holder.command_pid, holder.pid());
    assert!(!halls.is_free("x"));
    let holders = &halls.status("x")["holders"];
    assert_eq!(holders[0]["pid"], holder.pid());
    assert_eq!(holders[0]["command"], "sh -c echo $$; exec cat");
    holder.send(Signal::KILL);
    eventually("the slot is free", || halls.is_free("x"));
}

/// Starts a command that locks a file through descriptor 5 and prints its PID.
fn hold_with_lock(halls: &Halls, options: &[&str]) -> Running {
    let lock = halls.path().join("lock").display().to_string();
    let script = format!("exec 5>{lock}; flock 5; echo $$; exec cat");
    let mut holder = halls.start(&[options, &["x", "sh", "-c", &script]].concat());
    holder.command_pid = holder.line().parse().expect("a PID");
    holder
}

/// The kernel closes the descriptors of a dying process one after the other. The slot must not become free while the
/// process still has a lock.
#[test]
fn a_killed_command_has_released_its_locks_when_its_successor_starts() {
    let halls = Halls::new();
    let lock = halls.path().join("lock").display().to_string();
    assert_eq!(halls.run(&["-k", "1", "x", "true"]), Some(0));
    for (round, options) in
        (0..60).zip([&["--no-fork"][..], &["--descendants"], &[]].iter().cycle())
    {
        let mut holder = hold_with_lock(&halls, options);
        if options.is_empty() {
            // The command keeps the slot.
            holder.kill_hallpass();
        }
        let script = format!("exec 5>>{lock}; flock --nonblock 5 && echo free");
        let mut successor = halls.start(&["x", "sh", "-c", &script]);
        eventually("it waits", || halls.status("x")["waiting"] == 1);
        send(holder.command_pid, Signal::KILL);
        assert_eq!(successor.line(), "free", "round {round}, {options:?}");
        assert_eq!(successor.leave().0, Some(0));
    }
}

/// A script that starts a child in another session without the descriptors of its parent, as Python's subprocess
/// does, and prints its PID.
const LEAVES_A_CHILD_WITHOUT_DESCRIPTORS: &str = "setsid bash -c 'for fd in /proc/self/fd/*; do n=${fd##*/}; [ $n -gt 2 ] && eval \"exec $n>&-\"; done; \
     exec sleep 60' </dev/null >/dev/null 2>&1 & echo $!; exit 6";

#[test]
fn with_descendants_a_child_that_closes_its_descriptors_keeps_the_slot() {
    let halls = Halls::new();
    let script = LEAVES_A_CHILD_WITHOUT_DESCRIPTORS;
    let mut running = halls.start(&["--descendants", "x", "bash", "-c", script]);
    let child: i32 = running.line().parse().expect("a number");
    assert_eq!(running.leave().0, Some(6), "hallpass does not wait for the child");
    thread::sleep(A_WHILE);
    assert!(!halls.is_free("x"));
    let held = |pid: i32| std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |all| all.count());
    eventually("the child has closed its descriptors", || held(child) == 3);
    thread::sleep(A_WHILE);
    assert!(!halls.is_free("x"));
    send(child, Signal::KILL);
    eventually("the slot is free", || halls.is_free("x"));
}

/// A script that starts a child in another session, and a child of that child, and prints the PIDs of both.
const FAMILY: &str = "setsid sh -c 'sleep 60 & echo $$ $!; wait' & wait";

/// Runs [`FAMILY`], and returns the PIDs of the child and of the grandchild.
fn start_family(halls: &Halls, options: &[&str]) -> (Running, Vec<i32>) {
    let mut running = halls.start(&[options, &["x", "sh", "-c", FAMILY]].concat());
    let pids = running.line().split(' ').map(|pid| pid.parse().expect("a number")).collect();
    (running, pids)
}

#[test]
fn with_on_kill_kill_grandchildren_are_killed_too() {
    let halls = Halls::new();
    let (mut running, family) = start_family(&halls, &["--on-kill", "kill"]);
    running.kill_hallpass();
    for pid in family {
        eventually("the process is killed", || state(pid).is_none());
    }
    eventually("the slot is free", || halls.is_free("x"));
}

/// Kills the warden, the process between hallpass and the command. Waits until hallpass has failed.
fn kill_warden(running: &mut Running) {
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", running.pid()));
    let children = children.expect("hallpass runs");
    let warden = children.split(' ').next().expect("a child").parse().expect("a number");
    send(warden, Signal::KILL);
    assert_eq!(running.process.wait().expect("it ends").code(), Some(125));
}

#[test]
fn the_death_of_the_warden_leaves_the_slot_to_the_command() {
    let halls = Halls::new();
    for options in [&["--descendants"][..], &["--time-limit", "60"]] {
        let (mut running, family) = start_family(&halls, options);
        kill_warden(&mut running);
        assert!(family.iter().all(|pid| state(*pid).is_some()), "{options:?}");
        assert!(!halls.is_free("x"), "{options:?}");
        family.iter().for_each(|pid| send(*pid, Signal::KILL));
        eventually("the slot is free", || halls.is_free("x"));
    }
}

#[test]
fn with_close_the_death_of_the_warden_frees_the_slot() {
    let halls = Halls::new();
    let mut holder = halls.hold(&["--close", "--time-limit", "60"], "x");
    kill_warden(&mut holder);
    assert!(halls.is_free("x"));
    assert!(state(holder.command_pid).is_some(), "the command runs");
    // The command ends when its standard input is closed.
    holder.stdin = None;
    let mut stderr = String::new();
    holder.process.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("text");
    assert!(stderr.contains("still runs, without its slot and without a time limit"), "{stderr}");
}

#[test]
fn with_on_kill_kill_the_death_of_the_warden_kills_all_processes() {
    let halls = Halls::new();
    let (mut running, family) = start_family(&halls, &["--on-kill", "kill"]);
    kill_warden(&mut running);
    for pid in family {
        eventually("the process is killed", || state(pid).is_none());
    }
    eventually("the slot is free", || halls.is_free("x"));
}

#[test]
fn a_command_that_reaches_its_time_limit_is_ended_with_all_its_processes() {
    let halls = Halls::new();
    let (running, family) = start_family(&halls, &["--time-limit", "0.3"]);
    assert_eq!(running.leave().0, Some(124));
    assert!(family.iter().all(|pid| state(*pid).is_none()));
    assert!(halls.is_free("x"));
    // A command that ignores SIGTERM gets SIGKILL after the time of --grace.
    let script = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
    let output =
        halls.output("run", &["--time-limit", "0.2", "--grace", "0.2", "x", "sh", "-c", script]);
    assert_eq!(output.status.code(), Some(124));
    let stderr = common::text(&output.stderr);
    assert_eq!(stderr, "hallpass: x: the command reached its time limit and was ended\n");
    // A command that ends in time keeps its status.
    assert_eq!(halls.run(&["--time-limit", "60", "x", "sh", "-c", "exit 7"]), Some(7));
    assert_eq!(halls.run(&["--time-limit", "60", "x", "no-such-command"]), Some(127));
    assert_eq!(halls.run(&["--time-limit", "60", "x", "sh", "-c", "kill -9 $$"]), Some(137));
}
