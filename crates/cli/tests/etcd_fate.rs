//! Tests of halls on etcd when processes are killed or suspended, and when etcd cannot be reached. They check which
//! process keeps the slot, and that the command ends before another one can get the slot.

mod common;

use std::{fs, io::Read, thread, time::Duration};

use common::{
    HALLPASS, Halls, Running,
    cluster::{Far, await_renewal, cluster, far_stores},
    eventually, send, state, text,
};
use hallpass_testbed::{EtcdCluster, Proxy};
use rustix::process::Signal;

/// The exit status if the slot was lost and hallpass ended the command.
const SLOT_LOST: i32 = 123;
/// Options for a slot that has to be lost soon.
const SHORT: [&str; 4] = ["--ttl", "3", "--grace", "0.4"];
/// Options for a command that needs some time between SIGTERM and SIGKILL.
const LONG_GRACE: [&str; 4] = ["--ttl", "4", "--grace", "1.5"];
/// Options for a slot that is renewed every 1.2 s, which `await_renewal` can notice.
const RENEWED: [&str; 4] = ["--ttl", "12", "--grace", "0.4"];
/// Options for a slot that must be released. No test waits until it expires.
const ENDLESS: [&str; 4] = ["--ttl", "300", "--grace", "0.4"];

/// The halls of one test on the cluster that all tests share.
macro_rules! halls {
    ($test:literal) => {{
        let Some(cluster) = cluster() else { return };
        (cluster, Halls::on(&format!("{}/{}", cluster.url(), $test)))
    }};
}

/// Returns the halls of a test, and a proxy that can cut the connection to them.
fn through(cluster: &EtcdCluster, test: &str) -> (Proxy, Halls) {
    let path = Proxy::before(cluster.member(0));
    let halls = Halls::on(&format!("etcd://{}/{test}", path.address()));
    (path, halls)
}

/// Waits for the end of hallpass. Returns its exit status, and what it wrote to standard error.
fn end_of(mut running: Running) -> (Option<i32>, String) {
    let mut stderr = running.process.stderr.take().expect("a pipe");
    let code = running.process.wait().expect("it ends").code();
    let mut written = Vec::new();
    stderr.read_to_end(&mut written).expect("read");
    (code, text(&written))
}

/// Starts a command that waits for the slot of `x`. When it gets the slot, it prints `alone`, or `both` if the
/// process `pid` still executes instructions.
fn start_successor(halls: &Halls, pid: i32) -> Running {
    // 4 is the kernel's flag for a process that is exiting.
    let look = format!(
        "read -r _ _ _ _ _ _ _ _ flags _ 2>/dev/null </proc/{pid}/stat && \
         [ $((flags & 4)) = 0 ] && echo both || echo alone"
    );
    let waiter = halls.start(&[&SHORT[..], &["x", "sh", "-c", &look]].concat());
    eventually("the successor waits", || halls.status("x")["waiting"] == 1);
    waiter
}

fn assert_lost(holder: Running) {
    let (code, stderr) = end_of(holder);
    assert_eq!(code, Some(SLOT_LOST), "{stderr}");
    assert!(stderr.contains("x: the pass was lost (") && stderr.contains("was ended"), "{stderr}");
}

#[test]
fn if_hallpass_is_killed_its_command_is_killed_too() {
    let (_, halls) = halls!("killed");
    let mut holder = halls.hold(&[&ENDLESS[..], &["-k", "1"]].concat(), "x");
    holder.kill_hallpass();
    let command = holder.command_pid;
    eventually("the command is killed", || state(command).is_none());
    eventually("the slot is released", || halls.is_free("x"));
}

#[test]
fn if_hallpass_is_killed_the_children_of_its_command_are_killed_too() {
    let (_, halls) = halls!("children");
    let script = "(trap '' TERM; while :; do sleep 0.05; done) & echo $!; wait";
    let mut holder = halls.start(&[&ENDLESS[..], &["-k", "1", "x", "sh", "-c", script]].concat());
    let child: i32 = holder.line().parse().expect("a number");
    holder.kill_hallpass();
    eventually("the child is killed", || state(child).is_none());
    eventually("the slot is released", || halls.is_free("x"));
}

#[test]
fn with_on_kill_keep_the_command_of_a_killed_hallpass_keeps_running_and_keeps_the_slot() {
    let (cluster, halls) = halls!("kept");
    let mut holder = halls.hold(&[&RENEWED[..], &["-k", "1", "--on-kill", "keep"]].concat(), "x");
    holder.kill_hallpass();
    await_renewal(cluster, "/kept", "x");
    assert!(state(holder.command_pid).is_some(), "the command runs");
    assert!(!halls.is_free("x"));
    holder.stdin = None;
    eventually("the slot is released", || halls.is_free("x"));
}

/// Each case loses the slot in a different way. The cases run at the same time, because they mostly wait.
#[test]
fn a_command_that_loses_its_slot_ends_before_the_next_begins() {
    let Some(cluster) = cluster() else { return };
    type Case = fn(&EtcdCluster, &str);
    let cases: [(&str, Case); 7] = [
        ("its keeper is killed", without_its_keeper),
        ("its keeper is suspended", with_a_suspended_keeper),
        ("hallpass and its keeper are killed", with_both_killed),
        ("its connection is cut", with_its_connection_cut),
        ("its connection is cut and a child has closed the lifeline", without_the_lifeline),
        ("its connection is cut and it runs hallpass itself", with_a_nested_hallpass),
        ("its connection is cut and its processes are short-lived", with_a_chain_of_forks),
    ];
    thread::scope(|scope| {
        for (number, (name, case)) in cases.into_iter().enumerate() {
            let thread = thread::Builder::new().name(name.into());
            let test = format!("lost{number}");
            thread.spawn_scoped(scope, move || case(cluster, &test)).expect("a thread");
        }
    });
}

fn without_its_keeper(cluster: &EtcdCluster, test: &str) {
    let halls = Halls::on(&format!("{}/{test}", cluster.url()));
    let holder = halls.hold(&[&SHORT[..], &["-k", "1"]].concat(), "x");
    let mut successor = start_successor(&halls, holder.command_pid);
    send(holder.keeper(), Signal::KILL);
    let (code, stderr) = end_of(holder);
    assert_eq!(code, Some(SLOT_LOST));
    let expected = "hallpass: x: the pass was lost (the keeper has died): the command was ended\n";
    assert_eq!(stderr, expected);
    assert_eq!(successor.line(), "alone");
    assert_eq!(successor.leave().0, Some(0));
}

fn with_a_suspended_keeper(cluster: &EtcdCluster, test: &str) {
    let halls = Halls::on(&format!("{}/{test}", cluster.url()));
    let holder = halls.hold(&[&SHORT[..], &["-k", "1"]].concat(), "x");
    let (keeper, command) = (holder.keeper(), holder.command_pid);
    let mut successor = start_successor(&halls, command);
    send(keeper, Signal::STOP);
    assert_eq!(successor.line(), "alone");
    assert_eq!(successor.leave().0, Some(0));
    send(keeper, Signal::CONT);
    assert_lost(holder);
}

fn with_both_killed(cluster: &EtcdCluster, test: &str) {
    let halls = Halls::on(&format!("{}/{test}", cluster.url()));
    let mut holder = halls.hold(&[&SHORT[..], &["-k", "1"]].concat(), "x");
    let mut successor = start_successor(&halls, holder.command_pid);
    send(holder.keeper(), Signal::KILL);
    holder.kill_hallpass();
    assert_eq!(successor.line(), "alone");
    assert_eq!(successor.leave().0, Some(0));
}

/// A script that writes a line to a file every 10 ms, and has a child that does the same. Both ignore SIGTERM.
const STUBBORN: &str = "trap '' TERM; (trap '' TERM; while :; do echo child >>$0; sleep 0.01; done) & \
                        echo in; while :; do echo parent >>$0; sleep 0.01; done";

fn with_its_connection_cut(cluster: &EtcdCluster, test: &str) {
    let halls = Halls::on(&format!("{}/{test}", cluster.url()));
    let (path, far) = through(cluster, test);
    let log = halls.path().join("log");
    let log = log.to_str().expect("text");
    let options = [&SHORT[..], &["-k", "1", "x", "sh", "-c"]].concat();
    let mut holder = far.start(&[&options[..], &[STUBBORN, log]].concat());
    assert_eq!(holder.line(), "in");
    let next = format!("echo next >>{log}; sleep 0.3; tail -n 1 {log}");
    let mut waiter = halls.start(&[&SHORT[..], &["x", "sh", "-c", &next]].concat());
    eventually("the successor waits", || halls.status("x")["waiting"] == 1);
    path.cut();
    assert_eq!(waiter.line(), "next", "the holder has not written since");
    assert_lost(holder);
    assert_eq!(waiter.leave().0, Some(0));
    assert!(fs::read_to_string(log).expect("a log").contains("child"));
}

/// Cuts the connection of a command that has printed the PID of its child. Checks that the child is gone when the
/// successor starts.
#[track_caller]
fn assert_no_child_outlives_the_slot(halls: &Halls, path: Proxy, mut held: Running) {
    let child: i32 = held.line().parse().expect("a number");
    let mut successor = start_successor(halls, child);
    path.cut();
    assert_eq!(successor.line(), "alone");
    assert_eq!(successor.leave().0, Some(0));
    assert_lost(held);
}

fn without_the_lifeline(cluster: &EtcdCluster, test: &str) {
    let halls = Halls::on(&format!("{}/{test}", cluster.url()));
    let (path, far) = through(cluster, test);
    // With -o, the command does not inherit the lifeline, the pipe by which processes keep the slot. This is as if it
    // had closed its inherited descriptors, as Python does for its children.
    let script = "sleep 1000 & echo $!; wait";
    let held = far.start(&[&SHORT[..], &["-o", "-k", "1", "x", "sh", "-c", script]].concat());
    assert_no_child_outlives_the_slot(&halls, path, held);
}

/// The outer `hallpass run` loses its slot, and must end the processes of the inner `hallpass run`, which ignore
/// SIGTERM.
fn with_a_nested_hallpass(cluster: &EtcdCluster, test: &str) {
    let halls = Halls::on(&format!("{}/{test}", cluster.url()));
    let (path, far) = through(cluster, test);
    let script = "(trap '' TERM; exec sleep 1000) & echo $!; wait";
    let url = halls.location[1].as_str();
    let inner = [HALLPASS, "run", "--on", url, "--ttl", "300", "-o", "y", "sh", "-c", script];
    let outer = [&SHORT[..], &["-o", "-k", "1", "x"], &inner].concat();
    let held = far.start(&outer);
    assert_no_child_outlives_the_slot(&halls, path, held);
}

/// A script that starts itself again and again, each time as a new process that lives for some milliseconds and
/// logs its start. The number of times is limited, so that the script ends even if the test fails.
const CHAIN: &str = "trap '' TERM; echo $1 >>$0.log; sleep 0.005; \
                     [ $1 = 0 ] || sh $0 $(($1 - 1)) </dev/null >/dev/null 2>&1 &";

fn with_a_chain_of_forks(cluster: &EtcdCluster, test: &str) {
    let halls = Halls::on(&format!("{}/{test}", cluster.url()));
    let (path, far) = through(cluster, test);
    let chain = halls.path().join("chain");
    fs::write(&chain, CHAIN).expect("written");
    let log = chain.with_extension("log");
    let chain = chain.to_str().expect("text");
    let script = format!("sh {chain} 3000; echo in; exec sleep 1000");
    let options = [&SHORT[..], &["-o", "-k", "1", "x", "sh", "-c", &script]].concat();
    let mut held = far.start(&options);
    assert_eq!(held.line(), "in");
    path.cut();
    assert_lost(held);
    let length = || fs::metadata(&log).expect("a log").len();
    let before = length();
    thread::sleep(Duration::from_millis(300));
    assert_eq!(length(), before, "the chain was reported as ended");
    assert!(before > 0);
}

#[test]
fn a_command_that_is_cut_off_gets_sigterm_first() {
    let Some(cluster) = cluster() else { return };
    let (path, far) = through(cluster, "asked");
    let script = "trap 'echo asked; exit 0' TERM; echo in; while :; do sleep 0.01; done";
    let mut holder = far.start(&[&LONG_GRACE[..], &["-k", "1", "x", "sh", "-c", script]].concat());
    assert_eq!(holder.line(), "in");
    path.cut();
    assert_eq!(holder.line(), "asked");
    assert_eq!(end_of(holder).0, Some(SLOT_LOST), "whatever the status of the command is");
}

#[test]
fn a_short_outage_has_no_effect() {
    let (cluster, halls) = halls!("short");
    let (path, far) = through(cluster, "short");
    let holder = far.hold(&[&RENEWED[..], &["-k", "1"]].concat(), "x");
    for _ in 0..2 {
        path.refuse();
        thread::sleep(Duration::from_millis(300));
        path.heal();
        await_renewal(cluster, "/short", "x");
    }
    assert!(!halls.is_free("x"));
    assert_eq!(holder.leave().0, Some(0));
    assert!(halls.is_free("x"));
}

/// The outage begins at a random time between two renewals.
#[test]
fn with_the_default_ttl_a_command_outlives_an_outage_of_ten_seconds() {
    thread::scope(|scope| {
        for Far { path, halls, near } in far_stores("outage") {
            scope.spawn(move || {
                let mut holder = halls.hold(&["-k", "1"], "outlived");
                path.cut();
                thread::sleep(Duration::from_secs(10));
                path.heal();
                // The command would be ended within this time.
                thread::sleep(Duration::from_secs(9));
                holder.say("on\n");
                assert_eq!(holder.line(), "on");
                assert!(!near.is_free("outlived"));
                assert_eq!(holder.leave().0, Some(0));
            });
        }
    });
}

#[test]
fn a_suspended_hallpass_keeps_its_slot_as_long_as_etcd_can_be_reached() {
    let (cluster, halls) = halls!("asleep");
    let (path, far) = through(cluster, "asleep");
    let holder = far.hold(&[&RENEWED[..], &["-k", "1"]].concat(), "x");
    let command = holder.command_pid;
    holder.send(Signal::STOP);
    await_renewal(cluster, "/asleep", "x");
    assert!(state(command).is_some() && !halls.is_free("x"));
    // From now on only the keeper can end the command.
    path.cut();
    eventually("the command is killed", || state(command).is_none());
    holder.send(Signal::CONT);
    assert_eq!(end_of(holder).0, Some(SLOT_LOST));
}

#[test]
fn a_suspended_command_that_is_continued_alone_is_guarded_again() {
    let (_, halls) = halls!("continued");
    let mut holder = halls.hold(&[&ENDLESS[..], &["-k", "1"]].concat(), "x");
    send(holder.command_pid, Signal::STOP);
    eventually("hallpass is suspended", || state(holder.pid()) == Some('T'));
    send(holder.command_pid, Signal::CONT);
    eventually("hallpass continues", || state(holder.pid()) != Some('T'));
    holder.say("on\n");
    assert_eq!(holder.line(), "on");
    assert_eq!(holder.leave().0, Some(0));
    assert!(halls.is_free("x"));
}

#[test]
fn removing_a_hall_by_force_ends_its_command() {
    let (_, halls) = halls!("removed");
    let holder = halls.hold(&["--ttl", "6", "-k", "1"], "x");
    halls.prints("rm", &["--force", "x"]);
    let (code, stderr) = end_of(holder);
    assert_eq!(code, Some(SLOT_LOST));
    assert!(stderr.contains("the pass was lost (the claim is gone from the store)"), "{stderr}");
}

#[test]
fn a_signal_to_all_processes_of_a_job_does_not_end_the_keeper() {
    let (_, halls) = halls!("job");
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
fn the_keeper_ends_a_command_that_has_outlived_hallpass() {
    let Some(cluster) = cluster() else { return };
    let (path, far) = through(cluster, "orphan");
    let script = "trap 'echo asked' TERM; echo $$; while :; do sleep 0.01; done";
    let options =
        [&LONG_GRACE[..], &["-k", "1", "--on-kill", "keep", "x", "sh", "-c", script]].concat();
    let mut holder = far.start(&options);
    let command = holder.line().parse().expect("a number");
    holder.kill_hallpass();
    path.cut();
    assert_eq!(holder.line(), "asked");
    eventually("the command is killed", || state(command).is_none());
}
