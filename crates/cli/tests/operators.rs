//! The commands of operators, `evict`, `drain`, `close`, `reap` and `wait`, on this machine and on both stores. Also a
//! command of `--on-loss` (a hook) that fills standard error after an eviction.

mod common;

use std::{fs, process::Child, thread, time::Duration};

use common::{
    Halls, Running,
    cluster::{Far, far_stores, stores},
    eventually, send, state, text,
};
use rustix::process::Signal;
use serde_json::{Value, json};

/// Halls on this machine, and on each store.
fn everywhere(test: &str) -> impl Iterator<Item = Halls> {
    [Halls::new()].into_iter().chain(stores(test))
}

/// Kills a holder together with its keeper, so that nobody releases its slot.
fn crash(holder: &mut Running) {
    let keeper = holder.keeper();
    send(holder.pid(), Signal::STOP);
    send(keeper, Signal::KILL);
    holder.kill_hallpass();
}

fn refused(halls: &Halls, command: &str, words: &[&str], code: i32) -> String {
    let output = halls.output(command, words);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command} {words:?}: {stderr}");
    stderr
}

fn reaped(halls: &Halls, name: &str) -> Value {
    let printed = halls.prints("reap", &["--json", name]);
    let mut json: Value = serde_json::from_str(&printed).expect("JSON");
    json["halls"][0].take()
}

fn ended(mut child: Child) -> (Option<i32>, String) {
    let mut written = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        std::io::Read::read_to_string(&mut stderr, &mut written).expect("text");
    }
    (child.wait().expect("it ends").code(), written)
}

fn in_background(halls: &Halls, command: &str, words: &[&str]) -> Child {
    let mut command = halls.command(command, words);
    command.stderr(std::process::Stdio::piped()).spawn().expect("it runs")
}

#[test]
fn eviction_takes_all_slots_of_a_holder_and_only_of_this_holder() {
    for halls in stores("evict-several") {
        let name = "evicted";
        let options = ["--ttl", "300", "--take", "2", "-k", "3"];
        let mut holder = halls.hold(&options, name);
        let other = halls.hold(&[], name);
        let before = halls.status(name)["holders"][1]["token"].as_u64().expect("a token");
        let mut waiter = halls.start(&[
            "--take",
            "2",
            name,
            "sh",
            "-c",
            "echo $HALLPASS_SLOTS_HELD $HALLPASS_TOKEN; exec cat",
        ]);
        eventually("it waits", || halls.status(name)["waiting"] == 1);
        assert!(refused(&halls, "evict", &[name, "3"], 1).contains("slot 3 of hall"));
        assert!(refused(&halls, "evict", &[name, "1000000"], 1).contains("is not held"));
        crash(&mut holder);
        // With this ttl, a slot that is not evicted stays taken beyond the time limit of the test.
        halls.prints("evict", &[name, "1"]);
        let line = waiter.line();
        let (slots, token) = line.split_once(' ').expect("two words");
        assert_eq!(slots, "0,1");
        assert!(token.parse::<u64>().expect("a number") > before, "{token} after {before}");
        let holders = halls.status(name)["holders"].as_array().expect("a list").len();
        assert_eq!(holders, 3, "the other holder still has its slot");
        assert_eq!(other.leave().0, Some(0));
        assert!(refused(&halls, "evict", &[name, "2"], 1).contains("is not held"));
        // Eviction also works for slot 1, which the hall no longer has.
        halls.prints("resize", &[name, "1"]);
        halls.prints("evict", &[name, "1"]);
        assert_eq!(waiter.process.wait().expect("it ends").code(), Some(123));
        let status = halls.status(name);
        assert_eq!((&status["held"], &status["slots"]), (&json!(0), &json!(1)));
        assert!(halls.is_free(name));
    }
}

#[test]
fn eviction_takes_as_many_slots_as_a_holder_can_have() {
    for halls in stores("evict-most") {
        let name = "most";
        let mut holder = halls.hold(&["--ttl", "300", "--take", "60", "-k", "60"], name);
        crash(&mut holder);
        halls.prints("evict", &[name, "59"]);
        assert_eq!(halls.run(&["-n", "--take", "60", name, "true"]), Some(0));
    }
}

#[test]
fn on_one_machine_evict_says_to_kill_the_holder() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    assert!(refused(&halls, "evict", &["x", "0"], 1).contains("kill it"));
    assert_eq!(holder.leave().0, Some(0));
}

#[test]
fn draining_survives_an_outage_of_the_store_and_ends_with_the_last_holder() {
    for Far { path, halls, near } in far_stores("drain-outage") {
        let name = "drained";
        let holder = near.hold(&["-k", "1"], name);
        let waiter = near.start(&[name, "true"]);
        eventually("it waits", || near.status(name)["waiting"] == 1);
        let drain = in_background(&halls, "drain", &["--dial-timeout", "2", name]);
        let wait = in_background(&halls, "wait", &["--dial-timeout", "2", name]);
        assert_eq!(waiter.leave().0, Some(125), "waiters of a closed hall give up");
        eventually("both are connected", || path.connections() >= 2);
        // Time for their first answers, also on a busy machine. If the first answer is late, the commands fail.
        thread::sleep(Duration::from_secs(3));
        path.cut();
        thread::sleep(Duration::from_secs(5));
        path.heal();
        assert_eq!(holder.leave().0, Some(0));
        for (what, child) in [("drain", drain), ("wait", wait)] {
            let (code, stderr) = ended(child);
            assert_eq!(code, Some(0), "{what}: {stderr}");
        }
        assert_eq!(near.status(name)["closed"], true);
    }
}

#[test]
fn draining_frees_slots_of_dead_holders_while_others_still_run() {
    for halls in stores("drain-dead") {
        let name = "half-dead";
        let mut dead = halls.hold(&["-k", "2", "--ttl", "2", "--grace", "0.2"], name);
        let alive = halls.hold(&[], name);
        crash(&mut dead);
        let drain = in_background(&halls, "drain", &[name]);
        eventually("the slot of the dead holder is free", || {
            halls.status(name)["holders"].as_array().is_some_and(|all| all.len() == 1)
        });
        assert_eq!(alive.leave().0, Some(0));
        assert_eq!(ended(drain), (Some(0), String::new()));
    }
}

#[test]
fn an_interrupted_drain_leaves_the_hall_closed() {
    for halls in everywhere("drain-interrupted") {
        let name = "interrupted";
        let holder = halls.hold(&["-k", "1"], name);
        let drain = in_background(&halls, "drain", &[name]);
        eventually("the hall is closed", || halls.status(name)["closed"] == true);
        send(drain.id() as i32, Signal::INT);
        assert_eq!(ended(drain).0, None, "the signal ends it");
        // Closing once more changes nothing.
        halls.prints("close", &[name]);
        let why = refused(&halls, "run", &[name, "true"], 125);
        assert!(why.contains("closed"), "{why}");
        let why = refused(&halls, "drain", &["-w", "0.2", name], 124);
        assert!(why.contains("slots are still held: 1"), "{why}");
        assert_eq!(holder.leave().0, Some(0));
        halls.prints("drain", &[name]);
        halls.prints("rm", &[name]);
        assert!(refused(&halls, "close", &[name], 1).contains("there is no hall"));
        assert!(refused(&halls, "drain", &[name], 1).contains("there is no hall"));
    }
}

#[test]
fn reaping_counts_the_slots_that_it_frees() {
    for halls in everywhere("reaped") {
        let name = "reaped";
        assert_eq!(halls.run(&["-k", "2", name, "true"]), Some(0));
        assert_eq!(reaped(&halls, name), json!({ "name": name, "dead": 0 }));
        let on_store = halls.location[0] == "--on";
        let lease: &[&str] = if on_store { &["--ttl", "2", "--grace", "0.2"] } else { &[] };
        let mut dead = halls.hold(lease, name);
        if on_store {
            crash(&mut dead);
            eventually("its lease ends", || halls.status(name)["holders"][0]["alive"] == false);
        } else {
            dead.stdin = None;
            dead.kill_hallpass();
            eventually("it is dead", || halls.status(name)["holders"][0]["alive"] == false);
        }
        assert_eq!(reaped(&halls, name), json!({ "name": name, "dead": 1 }));
        assert_eq!(reaped(&halls, name), json!({ "name": name, "dead": 0 }));
        let printed = halls.output("reap", &["--json", name, "absent"]);
        assert_eq!(printed.status.code(), Some(1));
        let json: Value = serde_json::from_slice(&printed.stdout).expect("JSON");
        assert_eq!(json["halls"][0]["dead"], 0);
        assert!(json["halls"][1]["error"].is_string(), "{json}");
    }
}

#[test]
fn a_hook_that_fills_standard_error_does_not_keep_hallpass_from_ending_it() {
    for halls in stores("hook-floods") {
        let (name, file) = ("floods", halls.path().join("pid"));
        let hook = format!("echo $$ >{0}.new; mv {0}.new {0}; exec yes >&2", file.display());
        let options = ["--ttl", "20", "--grace", "1", "-k", "1", "--on-loss", &hook];
        let mut command = halls
            .command("run", &[&options[..], &[name, "sh", "-c", "echo in; exec cat"]].concat());
        let mut holder = Running::start(command.env("SHELL", "/bin/sh"));
        assert_eq!(holder.line(), "in");
        halls.prints("evict", &[name, "0"]);
        eventually("the hook runs", || file.exists());
        let pid = fs::read_to_string(&file).expect("read").trim().parse().expect("a number");
        // Until the hook is killed, nobody reads standard error.
        eventually("the hook is killed", || state(pid).is_none());
        let mut stderr = holder.process.stderr.take().expect("a pipe");
        let mut written = String::new();
        std::io::Read::read_to_string(&mut stderr, &mut written).expect("text");
        assert!(written.contains("--on-loss did not end within --grace"), "no message");
        assert_eq!(holder.process.wait().expect("it ends").code(), Some(123));
    }
}
