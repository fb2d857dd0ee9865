//! `hallpass run` and signals: each reaches the command once, stops are shared, and no waiter is left in
//! the queue.

mod common;

use std::{
    fs,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::Command,
    thread,
    time::Duration,
};

use common::{HALLPASS, Halls, Running, eventually, send, state};
use rustix::process::{Pid, Signal, kill_process_group};

/// Signals that hallpass sends on, with their names for `trap`.
const SIGNALS: [(Signal, &str); 6] = [
    (Signal::INT, "INT"),
    (Signal::TERM, "TERM"),
    (Signal::HUP, "HUP"),
    (Signal::QUIT, "QUIT"),
    (Signal::USR1, "USR1"),
    (Signal::USR2, "USR2"),
];

/// Time in which a second signal would arrive, were there one.
const A_WHILE: Duration = Duration::from_millis(60);

/// Counts the signals it gets, and says how many when it is told to stop by a file.
fn counting(halls: &Halls, signals: &str) -> String {
    let stop = halls.path().join("stop").display().to_string();
    format!(
        "n=0; trap 'n=$((n + 1)); echo got' {signals}; echo $$; \
         while ! [ -e {stop} ]; do sleep 0.01; done; echo total $n; exit 3"
    )
}

fn stop_counting(halls: &Halls) {
    fs::write(halls.path().join("stop"), "").expect("written");
}

#[test]
fn a_signal_to_us_reaches_the_command_once() {
    for (signal, name) in SIGNALS {
        let halls = Halls::new();
        let mut counter = halls.start(&["x", "sh", "-c", &counting(&halls, name)]);
        counter.line();
        counter.send(signal);
        assert_eq!(counter.line(), "got", "{name}");
        thread::sleep(A_WHILE);
        stop_counting(&halls);
        assert_eq!(counter.leave(), (Some(3), "total 1\n".into()), "{name}");
    }
}

#[test]
fn a_signal_that_kills_the_command_is_its_exit_status() {
    let halls = Halls::new();
    for (signal, name) in SIGNALS {
        let mut holder = halls.hold(&["-k", "1"], "x");
        holder.send(signal);
        let status = holder.process.wait().expect("it ends");
        assert_eq!(status.code(), Some(128 + signal.as_raw()), "{name}");
        assert!(halls.is_free("x"));
    }
}

#[test]
fn a_signal_in_the_first_moment_is_not_lost() {
    let halls = Halls::new();
    for delay in (0..4_000).step_by(200) {
        let mut running = halls.start(&["-k", "1", "x", "sleep", "60"]);
        thread::sleep(Duration::from_micros(delay));
        running.send(Signal::TERM);
        let code = running.process.wait().expect("it ends").code();
        // It died itself, before there was a command; or its command did.
        assert!(code.is_none() || code == Some(128 + 15), "{code:?}");
        eventually("nobody is left", || halls.is_free("x"));
    }
}

#[test]
fn a_waiter_dies_of_the_signal_and_leaves_the_queue() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    for (signal, name) in SIGNALS.into_iter().chain([(Signal::KILL, "KILL")]) {
        let mut waiter = halls.start(&["x", "true"]);
        let behind = halls.start(&["x", "true"]);
        eventually("both wait", || halls.status("x")["waiting"] == 2);
        waiter.send(signal);
        let died_of = waiter.process.wait().expect("it ends").signal();
        assert_eq!(died_of, Some(signal.as_raw()), "{name}");
        behind.send(Signal::KILL);
        drop(behind);
        eventually("nobody is in line", || halls.status("x")["waiting"] == 0);
    }
    assert_eq!(holder.leave().0, Some(0));
    eventually("nothing is lost", || halls.is_free("x"));
}

#[test]
fn a_signal_of_the_command_to_its_own_group_is_not_sent_back() {
    let halls = Halls::new();
    let script = counting(&halls, "TERM") + "; exit 4";
    let script = script.replace("echo $$;", "echo $$; kill -TERM 0;");
    let mut command = halls.command("run", &["x", "sh", "-c", &script]);
    let mut counter = Running::start(command.process_group(0));
    counter.line();
    assert_eq!(counter.line(), "got");
    thread::sleep(A_WHILE);
    stop_counting(&halls);
    assert_eq!(counter.leave(), (Some(3), "total 1\n".into()));
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let halls = Halls::new();
    // The command takes the signal's default back, so that one sent on would kill it.
    let mut command = Command::new("env");
    command.args(["--ignore-signal=HUP", HALLPASS, "run", "--dir"]).arg(halls.path());
    command.args(["x", "env", "--default-signal=HUP", "sh", "-c", "echo $$; exec cat"]);
    let mut running = Running::start(&mut command);
    running.line();
    running.send(Signal::HUP);
    thread::sleep(A_WHILE);
    running.say("still here\n");
    assert_eq!(running.line(), "still here");
    assert_eq!(running.leave().0, Some(0));
}

/// A hallpass in a process group of its own, which is not orphaned: it can be stopped.
fn hold_in_a_group(halls: &Halls) -> Running {
    let mut command = halls.command("run", &["x", "sh", "-c", "echo $$; exec cat"]);
    let mut running = Running::start(command.process_group(0));
    running.command_pid = running.line().parse().expect("a number");
    running
}

#[test]
fn we_stop_when_the_command_stops_and_continue_it_when_we_are_continued() {
    let halls = Halls::new();
    for signal in [Signal::STOP, Signal::TSTP, Signal::TTIN, Signal::TTOU] {
        let mut running = hold_in_a_group(&halls);
        send(running.command_pid, signal);
        eventually("we stop", || state(running.pid()) == Some('T'));
        assert_eq!(state(running.command_pid), Some('T'));
        running.send(Signal::CONT);
        eventually("we go on", || state(running.pid()) != Some('T'));
        eventually("it goes on", || state(running.command_pid) != Some('T'));
        running.say("on\n");
        assert_eq!(running.line(), "on");
        assert_eq!(running.leave().0, Some(0), "{signal:?}");
    }
}

#[test]
fn a_stop_sent_to_us_stops_the_command_too_and_as_often_as_it_is_sent() {
    let halls = Halls::new();
    let running = hold_in_a_group(&halls);
    let group = Pid::from_raw(running.pid()).expect("a group");
    for _ in 0..3 {
        running.send(Signal::TSTP);
        eventually("it stops", || state(running.command_pid) == Some('T'));
        eventually("we stop", || state(running.pid()) == Some('T'));
        // As a shell does it: to the whole group.
        kill_process_group(group, Signal::CONT).expect("it is there");
        eventually("it waits for input", || state(running.command_pid) == Some('S'));
        eventually("we wait for it", || state(running.pid()) == Some('S'));
    }
    assert_eq!(running.leave().0, Some(0));
}

#[test]
fn a_command_that_does_not_stop_does_not_stop_us() {
    let halls = Halls::new();
    let mut command = halls.command("run", &["x", "sh", "-c", &counting(&halls, "TSTP")]);
    let mut counter = Running::start(command.process_group(0));
    counter.line();
    counter.send(Signal::TSTP);
    assert_eq!(counter.line(), "got");
    thread::sleep(A_WHILE);
    assert_ne!(state(counter.pid()), Some('T'));
    stop_counting(&halls);
    assert_eq!(counter.leave(), (Some(3), "total 1\n".into()));
}
