//! Tests of `hallpass run` while it waits: Ctrl-Z, suspended waiters in `hallpass status`, and the status line.

mod common;

use std::{
    os::unix::process::CommandExt,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use common::{HALLPASS, Halls, Running, eventually, state, terminal::Terminal, text};
use rustix::process::Signal;

/// Time in which every waiter would have painted its line, if each of them did.
const SOME_UPDATES: Duration = Duration::from_millis(1200);

/// Starts a waiter in a new process group. The group is not orphaned, so it can be suspended.
fn wait_in_a_group(halls: &Halls, words: &[&str]) -> Running {
    Running::start(halls.command("run", words).process_group(0))
}

/// Waits until a process has ended. Returns its exit status, its output and its standard error.
fn finish(running: Running) -> (Option<i32>, String, String) {
    let mut running = running;
    let mut stderr = running.process.stderr.take().expect("a pipe");
    let (code, output) = running.leave();
    let mut written = Vec::new();
    std::io::Read::read_to_end(&mut stderr, &mut written).expect("read");
    (code, output, text(&written))
}

#[test]
fn a_waiter_suspended_by_ctrl_z_leaves_the_queue_and_joins_it_again_when_continued() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let suspended = wait_in_a_group(&halls, &["x", "echo", "suspended one"]);
    eventually("the first waits", || halls.status("x")["waiting"] == 1);
    let behind = halls.start(&["x", "echo", "behind"]);
    eventually("both wait", || halls.status("x")["waiting"] == 2);
    suspended.send(Signal::TSTP);
    eventually("it is suspended", || state(suspended.pid()) == Some('T'));
    assert_eq!(halls.status("x")["waiting"], 1, "the suspended waiter has left the queue");
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(
        behind.leave(),
        (Some(0), "behind\n".into()),
        "the second waiter does not wait for the suspended one"
    );
    let holder = halls.hold(&[], "x");
    suspended.send(Signal::CONT);
    eventually("it waits again", || halls.status("x")["waiting"] == 1);
    assert_eq!(holder.leave().0, Some(0));
    let (code, output, stderr) = finish(suspended);
    assert_eq!((code, output.as_str()), (Some(0), "suspended one\n"));
    assert!(stderr.contains("its position is lost"), "{stderr}");
}

#[test]
fn a_waiter_suspended_twice_keeps_its_time_limit() {
    let halls = Halls::new();
    let _holder = halls.hold(&["-k", "1"], "x");
    let begun = Instant::now();
    let waiter = wait_in_a_group(&halls, &["-w", "1", "x", "true"]);
    for _ in 0..2 {
        eventually("it waits", || {
            halls.status("x")["waiting"] == 1 || begun.elapsed() > Duration::from_secs(1)
        });
        waiter.send(Signal::TSTP);
        eventually("it is suspended or ends", || matches!(state(waiter.pid()), Some('T') | None));
        if state(waiter.pid()).is_some() {
            waiter.send(Signal::CONT);
        }
    }
    assert_eq!(waiter.leave().0, Some(124));
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[test]
fn status_shows_which_holders_and_waiters_are_stopped() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let waiter = halls.start(&["x", "true"]);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    assert_eq!(halls.status("x")["queue"][0]["stopped"], false);
    for process in [&holder, &waiter] {
        process.send(Signal::STOP);
        eventually("it is suspended", || state(process.pid()) == Some('T'));
    }
    let seen = halls.status("x");
    assert_eq!(
        (&seen["holders"][0]["stopped"], &seen["queue"][0]["stopped"]),
        (&true.into(), &true.into())
    );
    let table = halls.prints("status", &["x"]);
    assert!(table.contains("exec cat (stopped)") && table.contains("true (stopped)"), "{table}");
    for process in [&holder, &waiter] {
        process.send(Signal::CONT);
    }
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(waiter.leave().0, Some(0));
}

/// Returns the positions in the queue that were painted.
fn painted(text: &str) -> Vec<&str> {
    let mut positions: Vec<_> = text
        .split("\x1b[2K")
        .filter_map(|line| line.strip_prefix("hallpass: x: ")?.split(" in line").next())
        .collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

#[test]
fn waiters_of_one_script_show_one_line_on_their_terminal() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let script = "for i in 1 2 3 4; do \"$HALLPASS\" run --dir \"$DIR\" x echo ran & done; wait";
    let mut terminal = Terminal::run(&halls, &["bash", "-c", script]);
    eventually("all wait", || halls.status("x")["waiting"] == 4);
    terminal.shows(" in line");
    thread::sleep(SOME_UPDATES);
    let text = terminal.text();
    assert_eq!(painted(&text).len(), 1, "{text:?}");
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(terminal.end().code(), Some(0));
    assert_eq!(terminal.text().matches("ran\r\n").count(), 4);
}

#[test]
fn a_terminal_without_escape_sequences_gets_none() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let script = "TERM=dumb \"$HALLPASS\" run --dir \"$DIR\" x echo ran";
    let mut terminal = Terminal::run(&halls, &["bash", "-c", script]);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    thread::sleep(SOME_UPDATES);
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(terminal.end().code(), Some(0));
    let text = terminal.text();
    assert!(text.contains("ran") && !text.contains('\x1b'), "{text:?}");
}

/// In a separate PID namespace, every waiter has PID 1.
#[test]
fn waiters_with_the_same_pid_see_their_own_position() {
    let halls = Halls::new();
    let is_allowed = Command::new("unshare").args(["--pid", "--fork", "true"]).output();
    if !is_allowed.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this user may not create PID namespaces");
        return;
    }
    let holder = halls.hold(&["-k", "1"], "x");
    let waits = || {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--kill-child", HALLPASS, "run", "--dir"]);
        command.arg(halls.path()).args(["x", "true"]);
        command
    };
    let first = Running::start(&mut waits());
    eventually("the first waits", || halls.status("x")["waiting"] == 1);
    // The process group in the foreground of the terminal must belong to the namespace.
    let script =
        "exec unshare --pid --fork setsid --ctty --wait \"$HALLPASS\" run --dir \"$DIR\" x true";
    let mut terminal = Terminal::run(&halls, &["bash", "-c", script]);
    terminal.shows("2nd in line");
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(first.leave().0, Some(0));
    assert_eq!(terminal.end().code(), Some(0));
}
