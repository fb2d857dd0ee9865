//! Tests of the output and the errors of commands on halls of this machine, such as `hallpass status`, `list`, `reap`,
//! `resize` and `rm`.

mod common;

use std::{
    fs::{self, OpenOptions},
    io::Write,
    time::SystemTime,
};

use common::{Halls, eventually, text};
use serde_json::Value;

fn json(printed: &str) -> Value {
    serde_json::from_str(printed).expect("it is JSON")
}

#[test]
fn status_shows_holders_and_the_queue_in_order() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "gpu");
    let first = halls.start(&["gpu", "echo", "first"]);
    eventually("it waits", || halls.status("gpu")["waiting"] == 1);
    let second = halls.start(&["gpu", "echo", "second one"]);
    eventually("both wait", || halls.status("gpu")["waiting"] == 2);

    let seen = halls.status("gpu");
    let numbers = ["slots", "available", "held", "waiting"].map(|field| seen[field].as_u64());
    assert_eq!(numbers, [Some(1), Some(0), Some(1), Some(2)]);
    assert_eq!((&seen["name"], &seen["closed"]), (&"gpu".into(), &false.into()));
    let held = &seen["holders"][0];
    assert_eq!(held["slot"], 0);
    assert_eq!(held["pid"], holder.pid());
    assert_eq!(held["uid"].as_u64(), Some(rustix::process::getuid().as_raw().into()));
    assert_eq!(held["command"], "sh -c echo $$; exec cat");
    assert_eq!(held["alive"], true);
    let since = humantime::parse_rfc3339(held["since"].as_str().expect("text")).expect("a time");
    assert!(since <= SystemTime::now() && since.elapsed().is_ok_and(|time| time.as_secs() < 60));
    assert!(held["seconds"].as_f64().is_some_and(|seconds| (0.0..60.0).contains(&seconds)));
    let queue: Vec<_> = seen["queue"].as_array().expect("a list").iter().collect();
    assert_eq!(queue[0]["pid"], first.pid());
    assert_eq!(queue[1]["pid"], second.pid());
    assert_eq!(queue[1]["command"], "echo second one");
    assert_eq!(queue[1]["slot"], Value::Null);

    let table = halls.prints("status", &[]);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines[0], "gpu: 1 of 1 slot held, 2 waiting");
    assert!(lines[2].trim_start().starts_with("0 ") && lines[2].ends_with("exec cat"), "{table}");
    assert!(
        lines[3].trim_start().starts_with("#1 ") && lines[3].ends_with("echo first"),
        "{table}"
    );
    assert!(lines[4].ends_with("echo second one") && lines.len() == 5, "{table}");
}

#[test]
fn list_shows_all_halls() {
    let halls = Halls::new();
    assert_eq!(halls.prints("list", &[]), "", "a directory without halls is no error");
    assert_eq!(json(&halls.prints("list", &["--json"]))["halls"], Value::Array(vec![]));
    assert_eq!(halls.run(&["-k", "3", "wide", "true"]), Some(0));
    let _holder = halls.hold(&["-k", "2"], "a");
    let printed = halls.prints("list", &[]);
    let rows: Vec<Vec<_>> = printed.lines().map(|line| line.split_whitespace().collect()).collect();
    let expected =
        [["NAME", "SLOTS", "HELD", "WAITING"], ["a", "2", "1", "0"], ["wide", "3", "0", "0"]];
    assert_eq!(rows, expected);
    let halls_seen = json(&halls.prints("list", &["--json"]));
    assert_eq!(halls_seen["place"], halls.path().to_str().expect("text"));
    assert_eq!(halls_seen["halls"][0]["name"], "a");
    assert_eq!(halls_seen["halls"][0]["available"], 1);
    assert_eq!(halls_seen["halls"][1]["slots"], 3);
}

#[test]
fn a_missing_directory_has_no_halls() {
    let halls = Halls::new();
    let missing = halls.path().join("missing");
    let mut list = std::process::Command::new(common::HALLPASS);
    let output = list.args(["list", "--dir"]).arg(&missing).output().expect("it runs");
    assert!(output.status.success() && output.stdout.is_empty());
    assert!(!missing.exists(), "`list` creates nothing");
}

#[test]
fn a_missing_hall_is_an_error_and_is_not_created() {
    let halls = Halls::new();
    for (command, words) in [
        ("status", &["x"][..]),
        ("reap", &["x"]),
        ("resize", &["x", "2"]),
        ("rm", &["x"]),
        ("rm", &["--force", "x"]),
    ] {
        let output = halls.output(command, words);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {stderr}");
        assert!(stderr.starts_with("hallpass: ") && stderr.contains('x'), "{stderr}");
        assert!(output.stdout.is_empty());
    }
    assert_eq!(halls.output("rm", &[]).status.code(), Some(2), "bad usage");
    assert_eq!(halls.prints("list", &[]), "");
}

#[test]
fn resize_adds_slots_immediately_and_removes_them_when_they_are_free() {
    let halls = Halls::new();
    let first = halls.hold(&["-k", "1"], "x");
    let mut second = halls.start(&["x", "sh", "-c", "echo $HALLPASS_SLOT; exec cat"]);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    assert_eq!(halls.prints("resize", &["x", "2"]), "");
    assert_eq!(second.line(), "1", "the waiter gets the new slot");
    assert_eq!(halls.prints("resize", &["x", "1"]), "");
    assert_eq!(halls.status("x")["held"], 2, "holders keep removed slots");
    assert_eq!(first.leave().0, Some(0));
    assert_eq!(halls.status("x")["available"], 0, "the hall has one slot and one holder");
    assert!(!halls.is_free("x"), "nobody gets slot 0 while the removed slot 1 is held");
    assert_eq!(second.leave().0, Some(0));
    let _only = halls.hold(&["-k", "1"], "x");
    assert!(!halls.is_free("x"));
    for bad in ["0", "100000000"] {
        assert_eq!(halls.output("resize", &["x", bad]).status.code(), Some(1), "{bad}");
    }
    assert_eq!(halls.output("resize", &["x", "many"]).status.code(), Some(2));
    assert_eq!(halls.status("x")["slots"], 1);
}

#[test]
fn rm_refuses_while_in_use_unless_forced() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let output = halls.output("rm", &["x"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains('x'), "{}", text(&output.stderr));
    assert!(!halls.is_free("x"), "the hall is not removed");
    assert_eq!(holder.leave().0, Some(0));
    assert_eq!(halls.prints("rm", &["x"]), "");
    assert_eq!(halls.prints("list", &[]), "");

    let _holder = halls.hold(&["-k", "1"], "y");
    let waiter = halls.start(&["y", "true"]);
    eventually("it waits", || halls.status("y")["waiting"] == 1);
    assert_eq!(halls.prints("rm", &["--force", "y"]), "");
    assert_eq!(halls.prints("list", &[]), "");
    assert_eq!(waiter.leave().0, Some(125), "a waiter of a removed hall does not wait forever");
}

#[test]
fn a_failure_with_one_hall_does_not_affect_the_others() {
    let halls = Halls::new();
    for name in ["a", "b"] {
        assert_eq!(halls.run(&["-k", "1", name, "true"]), Some(0));
    }
    let output = halls.output("status", &["a", "missing", "b"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stdout);
    assert!(shown.contains("a: 0 of 1") && shown.contains("b: 0 of 1"), "{shown}");
    let output = halls.output("status", &["--json", "missing", "b"]);
    let seen = json(&text(&output.stdout));
    assert_eq!(seen["halls"][0]["name"], "missing");
    assert!(seen["halls"][0]["error"].is_string());
    assert_eq!(seen["halls"][1]["name"], "b");
    assert_eq!(halls.output("rm", &["a", "missing", "b"]).status.code(), Some(1));
    assert_eq!(halls.prints("list", &[]), "");
}

#[test]
fn reap_prints_a_line_for_each_hall() {
    let halls = Halls::new();
    for name in ["a", "b"] {
        assert_eq!(halls.run(&["-k", "1", name, "true"]), Some(0));
    }
    assert_eq!(halls.prints("reap", &[]), "a: 0 dead\nb: 0 dead\n");
    let mut killed = halls.hold(&["--close"], "a");
    killed.kill_hallpass();
    let dead = halls.status("a");
    assert_eq!((&dead["held"], &dead["available"]), (&0.into(), &1.into()));
    assert_eq!(dead["holders"][0]["alive"], false, "a dead holder is shown until it is reaped");
    let output = halls.prints("reap", &["a"]);
    assert_eq!(output, "a: 1 dead\n");
    assert_eq!(halls.status("a")["holders"], Value::Array(vec![]));
    assert!(halls.is_free("a"));
}

#[test]
fn rm_force_removes_only_halls() {
    let halls = Halls::new();
    let project = halls.path().join("project");
    fs::create_dir_all(project.join("src")).expect("created");
    fs::write(project.join("src/main.rs"), "text").expect("written");
    let diary = halls.path().join("diary");
    fs::create_dir(&diary).expect("created");
    fs::write(diary.join("monday"), "text").expect("written");
    fs::write(halls.path().join("notes"), "text").expect("written");
    std::os::unix::fs::symlink(&diary, halls.path().join("link")).expect("linked");
    for name in ["project", "diary", "notes", "link"] {
        let output = halls.output("rm", &["--force", name]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {stderr}");
        assert!(stderr.contains("is not a hall (") && stderr.contains(name), "{stderr}");
    }
    for file in ["project/src/main.rs", "diary/monday", "notes", "link/monday"] {
        assert_eq!(fs::read_to_string(halls.path().join(file)).expect("kept"), "text", "{file}");
    }
    assert_eq!(halls.prints("list", &[]), "", "other directories are not listed");
}

#[test]
fn a_hall_without_its_file_is_damaged_and_the_message_names_the_remedy() {
    let halls = Halls::new();
    assert_eq!(halls.run(&["-k", "2", "x", "true"]), Some(0));
    fs::remove_file(halls.path().join("x/hall")).expect("removed");
    for command in ["run", "status", "rm"] {
        let words: &[&str] = if command == "run" { &["x", "true"] } else { &["x"] };
        let stderr = text(&halls.output(command, words).stderr);
        assert!(stderr.contains("it has no file `hall`"), "{command}: {stderr}");
        assert!(stderr.contains("hallpass rm --force"), "{command}: {stderr}");
    }
    assert_eq!(halls.prints("rm", &["--force", "x"]), "");
    assert_eq!(halls.run(&["-k", "1", "x", "true"]), Some(0));
}

#[test]
fn a_damaged_hall_is_an_error_and_rm_force_removes_it() {
    for damage in ["garbage", "truncated", "empty"] {
        let halls = Halls::new();
        assert_eq!(halls.run(&["-k", "2", "x", "true"]), Some(0));
        assert_eq!(halls.run(&["-k", "2", "fine", "true"]), Some(0));
        let path = halls.path().join("x").join("hall");
        let file = OpenOptions::new().write(true).open(&path).expect("opened");
        let length = file.metadata().expect("asked").len();
        match damage {
            "garbage" => (&file).write_all(&[0xa5; 4096]).expect("written"),
            "truncated" => file.set_len(length / 2).expect("cut"),
            _ => file.set_len(0).expect("cut"),
        }
        let before = fs::read(&path).expect("read");
        let output = halls.output("run", &["x", "echo", "ran"]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{damage}: {stderr}");
        assert!(output.stdout.is_empty());
        assert!(stderr.starts_with("hallpass: ") && stderr.lines().count() == 1, "{stderr}");
        let output = halls.output("list", &["--json"]);
        assert_eq!(output.status.code(), Some(1), "{damage}");
        let seen = json(&text(&output.stdout));
        assert_eq!(seen["halls"][0]["slots"], 2, "the other hall is fine");
        assert!(seen["halls"][1]["error"].is_string(), "{seen}");
        assert!(fs::read(&path).expect("read") == before, "a damaged file is not changed");
        assert_eq!(halls.prints("rm", &["--force", "x"]), "", "{damage}");
        assert_eq!(halls.run(&["-k", "1", "x", "true"]), Some(0));
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let halls = Halls::new();
    for number in 0..3 {
        assert_eq!(halls.run(&["-k", "1", &format!("x{number}"), "true"]), Some(0));
    }
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = halls.command("list", &[]).stdout(writer).output().expect("it runs");
    assert_eq!(output.status.code(), Some(128 + 13));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn a_misspelt_directory_is_an_error() {
    let halls = Halls::new();
    let missing = halls.path().join("missing").display().to_string();
    for command in ["status", "reap"] {
        let mut run = std::process::Command::new(common::HALLPASS);
        let output = run.args([command, "--dir", &missing]).output().expect("it runs");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {stderr}");
        assert_eq!(stderr, format!("hallpass: there is no directory {missing}\n"));
    }
    let output = halls.output("status", &[]);
    assert!(output.status.success());
    let expected = format!("hallpass: there are no halls in {}\n", halls.path().display());
    assert_eq!(text(&output.stderr), expected);
}

#[test]
fn a_drained_hall_is_closed_and_empty() {
    let halls = Halls::new();
    let holder = halls.hold(&["-k", "1"], "x");
    let waiter = halls.start(&["x", "true"]);
    eventually("it waits", || halls.status("x")["waiting"] == 1);
    let metrics = halls.prints("metrics", &["x"]);
    assert_eq!(metrics.matches("hallpass_waiting{").count(), 1, "{metrics}");
    let twice = halls.prints("metrics", &["x", "x"]);
    assert_eq!(twice.matches("hallpass_waiting{").count(), 1, "{twice}");
    for line in ["hallpass_waiting{hall=\"x\"} 1", "hallpass_closed{hall=\"x\"} 0"] {
        assert!(metrics.lines().any(|other| other == line), "{metrics}");
    }
    let late = halls.output("drain", &["-w", "0.3", "x"]);
    assert_eq!(late.status.code(), Some(124));
    assert!(text(&late.stderr).contains("x: slots are still held: 1"), "{}", text(&late.stderr));
    assert_eq!(waiter.leave().0, Some(125), "a closed hall has no waiters");
    assert_eq!(holder.leave().0, Some(0));
    halls.prints("drain", &["x"]);
    halls.prints("close", &["x"]);
    let metrics = halls.prints("metrics", &[]);
    assert!(metrics.contains("hallpass_closed{hall=\"x\"} 1"), "{metrics}");
    let evicted = halls.output("evict", &["x", "0"]);
    assert_eq!(evicted.status.code(), Some(1));
    assert!(text(&evicted.stderr).contains("evict is for halls on etcd or PostgreSQL"));
}
