//! Tests `hallpass demo` in a pipe.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

#[test]
fn the_demo_kills_a_holder_sees_no_conflict_and_leaves_nothing_behind() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = Command::new(env!("CARGO_BIN_EXE_hallpass"))
        .args(["demo", "--seconds", "5"])
        .env("TMPDIR", directory.path())
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let figure = |name: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(name));
        let words =
            line.unwrap_or_else(|| panic!("no line `{name}` in\n{text}")).split_whitespace();
        let number = words
            .map(|word| word.trim_end_matches(';'))
            .find_map(|word| word.parse::<usize>().ok());
        number.unwrap_or_else(|| panic!("no figure in the line `{name}` of\n{text}"))
    };
    assert_eq!(figure("most at once"), 3);
    assert_eq!(figure("conflicts"), 0);
    assert!(figure("holders killed") >= 1, "{text}");
    assert!(text.contains("after the kill"), "a successor is timed:\n{text}");
    assert!(!text.contains('\x1b'), "no escape sequences in a pipe:\n{text}");
    let left = std::fs::read_dir(directory.path()).expect("the directory").count();
    assert_eq!(left, 0, "files are left behind");
}

/// Starts a demo in `directory` and returns when it has shown its first event.
fn start(directory: &tempfile::TempDir) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hallpass"))
        .args(["demo", "--seconds", "60"])
        .env("TMPDIR", directory.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("enters") {
        line.clear();
        assert_ne!(output.read_line(&mut line).expect("text"), 0, "the demo ended");
    }
    (child, output)
}

#[test]
fn a_demo_that_is_terminated_or_not_read_leaves_nothing_behind() {
    for (closed, code) in [(false, 128 + 15), (true, 128 + 13)] {
        let directory = tempfile::tempdir().expect("a directory");
        let (mut child, output) = start(&directory);
        if closed {
            drop(output);
        } else {
            let pid = Pid::from_child(&child);
            kill_process(pid, Signal::TERM).expect("it runs");
        }
        assert_eq!(child.wait().expect("it ends").code(), Some(code));
        let left = std::fs::read_dir(directory.path()).expect("the directory").count();
        assert_eq!(left, 0, "files are left behind: closed {closed}");
    }
}

/// Runs a demo for one second, in which there is no time for a kill.
fn short_demo(temporary: &std::path::Path) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_hallpass"))
        .args(["demo", "--seconds", "1"])
        .env("TMPDIR", temporary)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs")
}

#[test]
fn a_demo_without_a_kill_announces_and_measures_none() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = short_demo(directory.path());
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("\n  holders killed             0\n"), "{text}");
    assert!(!text.contains("SIGKILL"), "{text}");
}

#[test]
fn a_demo_whose_socket_has_too_long_a_path_says_what_to_do() {
    let directory = tempfile::tempdir().expect("a directory");
    let long = directory.path().join("x".repeat(100));
    std::fs::create_dir(&long).expect("a directory");
    let output = short_demo(&long);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("set TMPDIR to a directory with a shorter path"), "{error}");
    assert_eq!(
        std::fs::read_dir(&long).expect("the directory").count(),
        0,
        "files are left behind"
    );
}
