//! Who keeps a slot on etcd when processes are killed or stopped, and when etcd cannot be reached: the
//! command ends before anybody else may be in.

mod common;

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use common::{Halls, Running, cluster::cluster, eventually, send, state, text};
use hallpass_testbed::{EtcdCluster, Proxy};
use rustix::process::Signal;

/// As short as can be, so that tests are.
const SHORT: [&str; 4] = ["--ttl", "2", "--grace", "0.4"];
/// When nobody else can be in yet: that takes until the lease ends, and 1.1 times the ttl more.
const IN_TIME: Duration = Duration::from_secs(3);
/// For what must have time to go well.
const LONGER: [&str; 4] = ["--ttl", "4", "--grace", "1.5"];
const IN_TIME_OF_LONGER: Duration = Duration::from_secs(6);
/// Longer than its lease lasts if nobody keeps it alive.
const A_WHILE: Duration = Duration::from_secs(6);

macro_rules! halls {
    ($test:literal) => {{
        let Some(cluster) = cluster() else { return };
        let halls = Halls::on(&format!("{}/{}", cluster.url(), $test));
        (cluster, halls)
    }};
}

/// A way to the halls that can be cut.
fn through(cluster: &EtcdCluster, test: &str) -> (Proxy, Halls) {
    let path = Proxy::before(cluster.member(0));
    let halls = Halls::on(&format!("etcd://{}/{test}", path.address()));
    (path, halls)
}

/// Waits for its end: the exit status, and what hallpass said.
fn end_of(mut running: Running) -> (Option<i32>, String) {
    let mut stderr = running.process.stderr.take().expect("a pipe");
    let code = running.process.wait().expect("it ends").code();
    let mut said = Vec::new();
    std::io::Read::read_to_end(&mut stderr, &mut said).expect("read");
    (code, text(&said))
}

#[test]
fn a_killed_hallpass_takes_its_command_along() {
    let (_cluster, halls) = halls!("killed");
    let mut holder = halls.hold(&["-k", "1"], "x");
    holder.kill_hallpass();
    let begun = Instant::now();
    let command = holder.command_pid;
    eventually("it is killed", || state(command).is_none());
    eventually("the slot is free", || halls.is_free("x"));
    assert!(begun.elapsed() < Duration::from_secs(7), "given back, not run out");
}

#[test]
fn a_killed_hallpass_takes_the_children_of_its_command_along() {
    let (_cluster, halls) = halls!("children");
    let script = "(trap '' TERM; while :; do sleep 0.05; done) & echo $!; wait";
    let mut holder = halls.start(&[&SHORT[..], &["-k", "1", "x", "sh", "-c", script]].concat());
    let child: i32 = holder.line().parse().expect("a number");
    holder.kill_hallpass();
    eventually("it is killed", || state(child).is_none());
    eventually("the slot is free", || halls.is_free("x"));
}

#[test]
fn on_request_the_command_of_a_killed_hallpass_runs_on_and_keeps_the_slot() {
    let (_cluster, halls) = halls!("kept");
    let mut holder = halls.hold(&[&LONGER[..], &["-k", "1", "--on-kill", "keep"]].concat(), "x");
    holder.kill_hallpass();
    thread::sleep(A_WHILE);
    assert!(state(holder.command_pid).is_some(), "it lives");
    assert!(!halls.is_free("x"));
    holder.stdin = None;
    eventually("the slot is free", || halls.is_free("x"));
}

#[test]
fn without_its_keeper_the_command_is_stopped() {
    let (_cluster, halls) = halls!("keeperless");
    let holder = halls.hold(&[&SHORT[..], &["-k", "1"]].concat(), "x");
    let command = holder.command_pid;
    send(holder.keeper(), Signal::KILL);
    let begun = Instant::now();
    let (code, said) = end_of(holder);
    assert_eq!(code, Some(125));
    assert_eq!(
        said,
        "hallpass: x: the pass was lost (its keeper is gone): the command was stopped\n"
    );
    assert!(state(command).is_none() && begun.elapsed() < IN_TIME);
    let waiter = halls.start(&[&SHORT[..], &["x", "true"]].concat());
    assert_eq!(waiter.leave().0, Some(0), "somebody else gets in");
}

#[test]
fn a_keeper_that_is_stopped_is_not_waited_for() {
    let (_cluster, halls) = halls!("stopped");
    let holder = halls.hold(&[&SHORT[..], &["-k", "1"]].concat(), "x");
    let (keeper, command) = (holder.keeper(), holder.command_pid);
    send(keeper, Signal::STOP);
    let begun = Instant::now();
    eventually("the command is stopped", || state(command).is_none());
    assert!(begun.elapsed() < IN_TIME, "before the slot may be somebody else's");
    send(keeper, Signal::CONT);
    let (code, said) = end_of(holder);
    assert_eq!(code, Some(125));
    assert!(said.contains("the pass was lost"), "{said}");
}

#[test]
fn when_both_are_killed_the_slot_is_free_after_a_while() {
    let (_cluster, halls) = halls!("both");
    let mut holder = halls.hold(&[&SHORT[..], &["-k", "1"]].concat(), "x");
    let (keeper, command) = (holder.keeper(), holder.command_pid);
    send(keeper, Signal::KILL);
    holder.kill_hallpass();
    eventually("the command is killed", || state(command).is_none());
    let waiter = halls.start(&[&SHORT[..], &["x", "true"]].concat());
    assert_eq!(waiter.leave().0, Some(0));
}

/// Writes a line to a file every 10 ms, and so does a child of it that hears no SIGTERM.
const STUBBORN: &str = "trap '' TERM; (trap '' TERM; while :; do echo child >>$0; sleep 0.01; done) & \
                        echo in; while :; do echo parent >>$0; sleep 0.01; done";

#[test]
fn who_is_cut_off_has_stopped_before_somebody_else_is_in() {
    let (cluster, halls) = halls!("cut");
    let (path, far) = through(&cluster, "cut");
    let log = halls.path().join("log");
    let log = log.to_str().expect("text");
    let options = [&SHORT[..], &["-k", "1", "x", "sh", "-c"]].concat();
    let mut holder = far.start(&[&options[..], &[STUBBORN, log]].concat());
    assert_eq!(holder.line(), "in");
    let next = format!("echo next >>{log}; sleep 0.3; tail -n 1 {log}");
    let mut waiter = halls.start(&[&SHORT[..], &["x", "sh", "-c", &next]].concat());
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    path.cut();
    assert_eq!(waiter.line(), "next", "nobody has written since");
    let (code, said) = end_of(holder);
    assert_eq!(code, Some(125));
    assert!(said.contains("x: the pass was lost (") && said.contains("was stopped"), "{said}");
    assert_eq!(waiter.leave().0, Some(0));
    assert!(fs::read_to_string(log).expect("there").contains("child"));
}

#[test]
fn who_is_cut_off_is_asked_first() {
    let (cluster, halls) = halls!("asked");
    let (path, far) = through(&cluster, "asked");
    let script = "trap 'echo asked; exit 0' TERM; echo in; while :; do sleep 0.01; done";
    let mut holder = far.start(&[&LONGER[..], &["-k", "1", "x", "sh", "-c", script]].concat());
    assert_eq!(holder.line(), "in");
    path.cut();
    assert_eq!(holder.line(), "asked");
    assert_eq!(end_of(holder).0, Some(125), "whatever the command's status is");
    drop(halls);
}

#[test]
fn a_short_trouble_is_none() {
    let (cluster, halls) = halls!("short");
    let (path, far) = through(&cluster, "short");
    let holder = far.hold(&["--ttl", "4", "-k", "1"], "x");
    for _ in 0..3 {
        path.refuse();
        thread::sleep(Duration::from_millis(500));
        path.heal();
        thread::sleep(Duration::from_millis(1500));
    }
    assert!(!halls.is_free("x"));
    assert_eq!(holder.leave().0, Some(0));
    eventually("the slot is free", || halls.is_free("x"));
}

#[test]
fn a_stopped_hallpass_keeps_its_slot_as_long_as_etcd_can_be_reached() {
    let (cluster, halls) = halls!("asleep");
    let (path, far) = through(&cluster, "asleep");
    let holder = far.hold(&[&LONGER[..], &["-k", "1"]].concat(), "x");
    let command = holder.command_pid;
    holder.send(Signal::STOP);
    thread::sleep(A_WHILE);
    assert!(state(command).is_some() && !halls.is_free("x"));
    // Now nobody but the keeper can end the command.
    path.cut();
    let begun = Instant::now();
    eventually("the command is killed", || state(command).is_none());
    assert!(begun.elapsed() < IN_TIME_OF_LONGER);
    holder.send(Signal::CONT);
    assert_eq!(end_of(holder).0, Some(125));
}

#[test]
fn a_hall_that_is_removed_by_force_stops_the_command() {
    let (_cluster, halls) = halls!("removed");
    let holder = halls.hold(&["-k", "1"], "x");
    halls.prints("rm", &["--force", "x"]);
    let (code, said) = end_of(holder);
    assert_eq!(code, Some(125));
    assert!(said.contains("the pass was lost (the claim is gone from etcd)"), "{said}");
}

/// Leaves a child behind that lives for a minute, and says its number.
const LEAVES_A_CHILD: &str = "sleep 60 </dev/null >/dev/null 2>&1 & echo $!; exit 6";

#[test]
fn children_left_behind_keep_the_slot_on_request_only() {
    let (_cluster, halls) = halls!("left");
    let mut running = halls.start(&["-k", "1", "x", "sh", "-c", LEAVES_A_CHILD]);
    let child: i32 = running.line().parse().expect("a number");
    assert_eq!(running.leave().0, Some(6));
    assert!(halls.is_free("x") && state(child).is_some());
    send(child, Signal::KILL);

    let mut running = halls.start(&["--descendants", "x", "sh", "-c", LEAVES_A_CHILD]);
    let child: i32 = running.line().parse().expect("a number");
    thread::sleep(Duration::from_millis(300));
    assert!(!halls.is_free("x"));
    assert!(running.process.try_wait().expect("asked").is_none(), "it stays to guard them");
    send(child, Signal::KILL);
    assert_eq!(running.leave().0, Some(6));
    assert!(halls.is_free("x"));
}

#[test]
fn what_is_sent_to_all_processes_of_a_job_does_not_reach_the_keeper() {
    let (_cluster, halls) = halls!("job");
    let script = "trap 'sleep 0.3; echo done; exit 4' TERM; echo in; while :; do sleep 0.01; done";
    let mut holder = halls.start(&["-k", "1", "x", "sh", "-c", script]);
    assert_eq!(holder.line(), "in");
    send(holder.keeper(), Signal::TERM);
    holder.send(Signal::TERM);
    assert_eq!(holder.line(), "done");
    assert_eq!(end_of(holder).0, Some(4));
    assert!(halls.is_free("x"));
}

#[test]
fn a_command_that_has_outlived_hallpass_is_ended_by_the_keeper() {
    let (cluster, halls) = halls!("orphan");
    let (path, far) = through(&cluster, "orphan");
    let script = "trap 'echo asked' TERM; echo $$; while :; do sleep 0.01; done";
    let options =
        [&LONGER[..], &["-k", "1", "--on-kill", "keep", "x", "sh", "-c", script]].concat();
    let mut holder = far.start(&options);
    let command = holder.line().parse().expect("a number");
    holder.kill_hallpass();
    path.cut();
    let begun = Instant::now();
    assert_eq!(holder.line(), "asked");
    eventually("it is killed", || state(command).is_none());
    assert!(begun.elapsed() < IN_TIME_OF_LONGER);
    drop(halls);
}

#[test]
fn who_does_not_have_the_lifeline_is_stopped_all_the_same() {
    let (cluster, halls) = halls!("closers");
    let (path, far) = through(&cluster, "closers");
    // As if it had closed what it inherits; children of Python do.
    let script = "sleep 1000 & echo $!; wait";
    let mut held = far.start(&[&SHORT[..], &["-o", "-k", "1", "x", "sh", "-c", script]].concat());
    let child: i32 = held.line().parse().expect("a number");
    path.cut();
    let (code, said) = end_of(held);
    assert_eq!(code, Some(125), "{said}");
    assert_eq!(state(child), None, "it has ended");
    let next = halls.start(&[&SHORT[..], &["x", "true"]].concat());
    assert_eq!(next.leave().0, Some(0), "somebody else is in after a while");
}
