//! Tests of `hallpass run` and signals. Each signal reaches the command once, hallpass and the command are suspended
//! together, and a waiter that a signal kills leaves the queue.

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

/// Signals that hallpass forwards, with their names for `trap`.
const SIGNALS: [(Signal, &str); 6] = [
    (Signal::INT, "INT"),
    (Signal::TERM, "TERM"),
    (Signal::HUP, "HUP"),
    (Signal::QUIT, "QUIT"),
    (Signal::USR1, "USR1"),
    (Signal::USR2, "USR2"),
];

/// Time in which a second signal would arrive, if hallpass sent one.
const A_WHILE: Duration = Duration::from_millis(60);

/// Returns a script that counts the signals it gets, and prints their number when the file `stop` exists.
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
fn a_signal_to_hallpass_reaches_the_command_once() {
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
fn a_signal_that_kills_the_command_gives_128_plus_its_number() {
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
fn a_signal_during_the_start_is_not_lost() {
    let halls = Halls::new();
    for delay in (0..4_000).step_by(200) {
        let mut running = halls.start(&["-k", "1", "x", "sleep", "60"]);
        thread::sleep(Duration::from_micros(delay));
        running.send(Signal::TERM);
        let code = running.process.wait().expect("it ends").code();
        // The signal killed hallpass before hallpass started the command, or hallpass forwarded it to the command.
        assert!(code.is_none() || code == Some(128 + 15), "{code:?}");
        eventually("no holder is left", || halls.is_free("x"));
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
        eventually("no waiter is left", || halls.status("x")["waiting"] == 0);
    }
    assert_eq!(holder.leave().0, Some(0));
    eventually("the slot is free", || halls.is_free("x"));
}

#[test]
fn a_signal_from_the_command_to_its_own_group_is_not_forwarded() {
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
    // The command restores the default action, so a forwarded signal would kill it.
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

/// Starts hallpass in a new process group. The group is not orphaned, so it can be suspended.
fn hold_in_a_group(halls: &Halls) -> Running {
    let mut command = halls.command("run", &["x", "sh", "-c", "echo $$; exec cat"]);
    let mut running = Running::start(command.process_group(0));
    running.command_pid = running.line().parse().expect("a number");
    running
}

#[test]
fn hallpass_is_suspended_with_the_command_and_continues_it_when_continued() {
    let halls = Halls::new();
    for signal in [Signal::STOP, Signal::TSTP, Signal::TTIN, Signal::TTOU] {
        let mut running = hold_in_a_group(&halls);
        send(running.command_pid, signal);
        eventually("hallpass is suspended", || state(running.pid()) == Some('T'));
        assert_eq!(state(running.command_pid), Some('T'));
        running.send(Signal::CONT);
        eventually("hallpass continues", || state(running.pid()) != Some('T'));
        eventually("the command continues", || state(running.command_pid) != Some('T'));
        running.say("on\n");
        assert_eq!(running.line(), "on");
        assert_eq!(running.leave().0, Some(0), "{signal:?}");
    }
}

#[test]
fn hallpass_continues_when_the_command_alone_is_continued() {
    let halls = Halls::new();
    let mut running = hold_in_a_group(&halls);
    for signal in [Signal::STOP, Signal::TSTP, Signal::STOP] {
        send(running.command_pid, signal);
        eventually("hallpass is suspended", || state(running.pid()) == Some('T'));
        send(running.command_pid, Signal::CONT);
        eventually("hallpass continues", || state(running.pid()) != Some('T'));
        running.say("on\n");
        assert_eq!(running.line(), "on");
    }
    assert_eq!(running.leave().0, Some(0));
    assert!(halls.is_free("x"));
}

#[test]
fn a_suspended_command_that_is_killed_frees_its_slot() {
    let halls = Halls::new();
    let running = hold_in_a_group(&halls);
    send(running.command_pid, Signal::STOP);
    eventually("hallpass is suspended", || state(running.pid()) == Some('T'));
    send(running.command_pid, Signal::KILL);
    eventually("the slot is free", || halls.is_free("x"));
    assert_eq!(running.leave().0, Some(128 + 9));
}

#[test]
fn sigtstp_to_hallpass_suspends_the_command_too_each_time() {
    let halls = Halls::new();
    let running = hold_in_a_group(&halls);
    let group = Pid::from_raw(running.pid()).expect("a group");
    for _ in 0..3 {
        running.send(Signal::TSTP);
        eventually("the command is suspended", || state(running.command_pid) == Some('T'));
        eventually("hallpass is suspended", || state(running.pid()) == Some('T'));
        // A shell continues the whole group.
        kill_process_group(group, Signal::CONT).expect("it is there");
        eventually("the command waits for input", || state(running.command_pid) == Some('S'));
        eventually("hallpass waits for the command", || state(running.pid()) == Some('S'));
    }
    assert_eq!(running.leave().0, Some(0));
}

#[test]
fn hallpass_is_not_suspended_if_the_command_is_not() {
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

/// Waits until hallpass has started the group probe, its second child, but at most five seconds. With the probe,
/// hallpass notices whether a signal was sent to the whole group.
fn await_probe(running: &Running) {
    let path = format!("/proc/{0}/task/{0}/children", running.pid());
    let is_there =
        || fs::read_to_string(&path).is_ok_and(|children| children.split_whitespace().count() == 2);
    for _ in 0..1000 {
        if is_there() {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_signal_to_the_process_group_reaches_the_command_once() {
    for (signal, name) in SIGNALS {
        let halls = Halls::new();
        let mut command = halls.command("run", &["x", "sh", "-c", &counting(&halls, name)]);
        let mut counter = Running::start(command.process_group(0));
        counter.line();
        await_probe(&counter);
        let group = Pid::from_raw(counter.pid()).expect("a group");
        for _ in 0..2 {
            kill_process_group(group, signal).expect("it is there");
            assert_eq!(counter.line(), "got", "{name}");
            thread::sleep(A_WHILE);
        }
        // A signal to hallpass alone is still forwarded.
        counter.send(signal);
        assert_eq!(counter.line(), "got", "{name}");
        thread::sleep(A_WHILE);
        stop_counting(&halls);
        assert_eq!(counter.leave(), (Some(3), "total 3\n".into()), "{name}");
    }
}

#[test]
fn signals_and_suspensions_also_reach_a_command_under_a_warden() {
    let halls = Halls::new();
    let script = counting(&halls, "TERM");
    let words = ["--descendants", "x", "sh", "-c", &script];
    let mut counter = Running::start(halls.command("run", &words).process_group(0));
    let command: i32 = counter.line().parse().expect("a number");
    counter.send(Signal::TERM);
    assert_eq!(counter.line(), "got");
    counter.send(Signal::TSTP);
    eventually("the command is suspended", || state(command) == Some('T'));
    eventually("hallpass is suspended", || state(counter.pid()) == Some('T'));
    counter.send(Signal::CONT);
    eventually("the command continues", || state(command) != Some('T'));
    eventually("hallpass continues", || state(counter.pid()) != Some('T'));
    let group = Pid::from_raw(counter.pid()).expect("a group");
    kill_process_group(group, Signal::TERM).expect("it is there");
    assert_eq!(counter.line(), "got");
    thread::sleep(A_WHILE);
    stop_counting(&halls);
    assert_eq!(counter.leave(), (Some(3), "total 2\n".into()));
}
