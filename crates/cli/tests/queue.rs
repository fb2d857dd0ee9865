//! Tests of `hallpass cancel`, `wait`, `log` and `status --follow`.

mod common;

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::Stdio,
    thread,
    time::Duration,
};

use common::{Halls, Running, eventually, state, text};
use rustix::process::Signal;
use serde_json::Value;

/// Starts waiters one after the other.
fn waiters(halls: &Halls, count: usize) -> Vec<Running> {
    let start = |number: usize| {
        let waiter = halls.start(&["x", "echo", &number.to_string()]);
        eventually("it waits", || halls.status("x")["waiting"] == number + 1);
        waiter
    };
    (0..count).map(start).collect()
}

/// Waits for the end of a waiter. Returns its exit status, and its standard output followed by its standard error.
fn end(mut waiter: Running) -> (Option<i32>, String) {
    let mut stderr = waiter.process.stderr.take().expect("a pipe");
    let (code, output) = waiter.leave();
    let mut written = String::new();
    stderr.read_to_string(&mut written).expect("text");
    (code, output + &written)
}

#[test]
fn cancel_removes_waiters_by_pid_and_by_position() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let mut all = waiters(&halls, 4);
    let pid = all[2].pid().to_string();
    assert_eq!(halls.prints("cancel", &["x", &pid]), "");
    let cancelled = (Some(125), "hallpass: x: the wait was cancelled\n".to_string());
    assert_eq!(end(all.remove(2)), cancelled);
    assert_eq!(halls.prints("cancel", &["--position", "1", "x"]), "");
    assert_eq!(end(all.remove(0)), cancelled);
    assert_eq!(halls.status("x")["waiting"], 2);
    assert_eq!(holder.leave().0, Some(0));
    for waiter in all {
        assert_eq!(end(waiter).0, Some(0), "the others get their slots");
    }
}

#[test]
fn cancel_without_a_waiter_names_all_ways_to_choose_one() {
    let output = Halls::new().output("cancel", &["x"]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = text(&output.stderr);
    assert!(["PID", "--position N", "--all"].iter().all(|way| stderr.contains(way)), "{stderr}");
}

#[test]
fn cancel_never_ends_a_command_that_has_its_slot() {
    let halls = Halls::new();
    let mut holder = halls.hold(&["-k", "1"], "x");
    let pid = holder.pid().to_string();
    for (words, why) in [
        (&["x", &pid][..], "does not wait"),
        (&["x", "--position", "1"], "nobody waits at position 1"),
        (&["x", "--position", "0"], "nobody waits at position 0"),
    ] {
        let output = halls.output("cancel", words);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(why), "{stderr}");
    }
    // The signal that cancels waiters has no effect on a holder.
    holder.send(Signal::URG);
    holder.say("still here\n");
    assert_eq!(holder.line(), "still here");
    assert_eq!(halls.prints("cancel", &["x", "--all"]), "", "there is nobody to cancel");
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(halls.output("cancel", &["x"]).status.code(), Some(2), "bad usage");
}

/// The slot and the signal reach the waiter at the same time, because it is suspended until both are there.
#[test]
fn a_waiter_that_gets_its_slot_together_with_the_cancellation_runs_its_command() {
    let halls = Halls::new();
    for round in 0..40 {
        let holder = halls.hold(&["-k", "1"], "x");
        let waiter = waiters(&halls, 1).remove(0);
        waiter.send(Signal::STOP);
        eventually("it is suspended", || state(waiter.pid()) == Some('T'));
        assert_eq!(holder.leave().0, Some(0));
        eventually("it has the slot", || halls.status("x")["held"] == 1);
        waiter.send(Signal::URG);
        waiter.send(Signal::CONT);
        assert_eq!(end(waiter), (Some(0), "0\n".into()), "round {round}");
    }
}

#[test]
fn cancel_all_empties_the_queue() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let all = waiters(&halls, 3);
    assert_eq!(halls.prints("cancel", &["x", "--all"]), "");
    for waiter in all {
        assert_eq!(end(waiter).0, Some(125));
    }
    assert_eq!(halls.status("x")["held"], 1);
    assert_eq!(holder.leave().0, Some(0));
}

#[test]
fn wait_returns_when_the_hall_is_empty_or_a_process_is_done() {
    let halls = Halls::new();
    assert_eq!(halls.run(&["-k", "2", "x", "true"]), Some(0));
    assert_eq!(halls.prints("wait", &["x"]), "");
    let (first, second) = (halls.hold(&[], "x"), halls.hold(&[], "x"));
    assert_eq!(halls.output("wait", &["-w", "0.1", "x"]).status.code(), Some(124));
    let pid = first.pid().to_string();
    let start = |words: &[&str]| halls.command("wait", words).spawn().expect("it runs");
    let (mut of_first, mut of_all) = (start(&["--pid", &pid, "x"]), start(&["x"]));
    thread::sleep(Duration::from_millis(50));
    assert!(of_first.try_wait().expect("asked").is_none());
    assert_eq!(first.leave().0, Some(0));
    assert!(of_first.wait().expect("it ends").success());
    assert!(of_all.try_wait().expect("asked").is_none());
    assert_eq!(second.leave().0, Some(0));
    assert!(of_all.wait().expect("it ends").success());
    assert_eq!(halls.output("wait", &["missing"]).status.code(), Some(1));
}

#[test]
fn the_log_shows_how_long_runs_waited_and_ran_and_their_status() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let waiter = halls.start(&["--label", "nightly", "x", "sh", "-c", "sleep 0.3; exit 7"]);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    thread::sleep(Duration::from_millis(300));
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(waiter.leave().0, Some(7));
    assert_eq!(halls.run(&["--no-log", "x", "true"]), Some(0));
    let json = halls.prints("log", &["--json", "x"]);
    let entries: Vec<Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(entries.len(), 2, "{json}");
    let number = |entry: &Value, key: &str| entry[key].as_f64().expect("a number");
    assert_eq!(entries[0]["command"], "sh -c echo $$; exec cat");
    assert_eq!((&entries[1]["command"], &entries[1]["status"]), (&"nightly".into(), &7.into()));
    assert_eq!(entries[1]["slots"], serde_json::json!([0]));
    assert!(number(&entries[1], "waited") >= 0.3 && number(&entries[1], "ran") >= 0.3, "{json}");
    let table = halls.prints("log", &["-n", "1", "x"]);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 2, "{table}");
    assert!(lines[0].starts_with("END") && lines[1].ends_with("7  nightly"), "{table}");
    // A log that cannot be written does not affect the command.
    fs::remove_file(halls.path().join("x/log")).expect("removed");
    fs::create_dir(halls.path().join("x/log")).expect("created");
    let output = halls.output("run", &["x", "sh", "-c", "exit 3"]);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(3), ""));
}

#[test]
fn follow_reports_events_until_its_reader_closes_the_pipe() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let mut follow = halls.command("status", &["--json", "--follow", "--delay", "0.05"]);
    let mut follow = follow.stdout(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(follow.stdout.take().expect("a pipe")).lines();
    let mut next = || -> Value {
        let line = lines.next().expect("a line").expect("text");
        let event: Value = serde_json::from_str(&line).expect("JSON");
        assert!(event["time"].is_string() && event["hall"] == "x", "{event}");
        event
    };
    let first = next();
    assert_eq!((&first["event"], &first["held"]), (&"hall".into(), &1.into()));
    let waiter = halls.start(&["x", "cat"]);
    let joined = next();
    assert_eq!((&joined["event"], &joined["pid"]), (&"joined".into(), &waiter.pid().into()));
    assert_eq!(holder.leave().0, Some(0));
    let words = [next(), next()].map(|event| event["event"].clone());
    assert_eq!(words, ["left", "entered"]);
    assert_eq!(waiter.leave().0, Some(0));
    assert_eq!(next()["event"], "left");
    assert_eq!(halls.prints("resize", &["x", "3"]), "");
    let resized = next();
    assert_eq!((&resized["event"], &resized["slots"]), (&"resized".into(), &3.into()));
    assert_eq!(halls.prints("rm", &["x"]), "");
    assert_eq!(next()["event"], "removed");
    drop(lines);
    assert!(follow.wait().expect("it ends").success());
    assert_eq!(state(follow.id() as i32), None);
}
