//! `hallpass lab` and `hallpass bench` run other programs.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, Output},
};

use hallpass_testbed::{copy_executable, write_executable};
use tempfile::TempDir;

/// A directory with a copy of hallpass. At first, it contains no other program.
fn hallpass_dir() -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    copy_executable(env!("CARGO_BIN_EXE_hallpass"), &dir.path().join("hallpass"));
    dir
}

fn script(dir: &Path, name: &str, text: &str) {
    write_executable(&dir.join(name), &format!("#!/bin/sh\n{text}\n"));
}

fn run(dir: &TempDir, path: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(dir.path().join("hallpass"));
    command.args(words).env("PATH", path).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_program_beside_hallpass_gets_all_arguments_and_its_exit_status_is_returned() {
    let dir = hallpass_dir();
    script(dir.path(), "hallpass-lab", "echo \"$#:$*\"; exit 3");
    let elsewhere = tempfile::tempdir().expect("a folder");
    script(elsewhere.path(), "hallpass-lab", "echo the wrong one");
    for (words, expected) in [
        (&["lab"][..], "0:\n"),
        (&["lab", "--help"], "1:--help\n"),
        (&["lab", "check", "am-fig3", "-n", "3", "--json"], "5:check am-fig3 -n 3 --json\n"),
    ] {
        let output = run(&dir, elsewhere.path(), words);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(3), expected.into()));
    }
}

#[test]
fn the_program_on_the_path_runs_in_the_same_process() {
    let dir = hallpass_dir();
    let elsewhere = tempfile::tempdir().expect("a folder");
    script(elsewhere.path(), "hallpass-bench", "kill -TERM $$");
    let output = run(&dir, elsewhere.path(), &["bench", "--quick"]);
    assert_eq!(output.status.signal(), Some(15), "{output:?}");
}

#[test]
fn the_error_for_a_missing_program_says_how_to_get_it() {
    let dir = hallpass_dir();
    let nowhere = tempfile::tempdir().expect("a folder");
    for (command, help) in
        [("lab", "cargo install --path crates/lab`, or from a release"), ("bench", "crates/bench")]
    {
        let output = run(&dir, nowhere.path(), &[command, "list"]);
        assert_eq!(output.status.code(), Some(2));
        let stderr = text(&output.stderr);
        let begins = format!("hallpass: hallpass-{command} is neither beside hallpass nor on PATH");
        assert!(stderr.starts_with(&begins) && stderr.contains(help), "{stderr}");
    }
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let dir = hallpass_dir();
    fs::write(dir.path().join("hallpass-lab"), "no program").expect("written");
    let output = run(&dir, dir.path(), &["lab", "list"]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = text(&output.stderr);
    assert!(stderr.starts_with("hallpass: cannot run hallpass-lab: "), "{stderr}");
}

#[test]
fn help_lists_lab_and_bench() {
    let dir = hallpass_dir();
    let help = text(&run(&dir, dir.path(), &["--help"]).stdout);
    for command in ["run", "status", "lab", "bench"] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(command)), "{help}");
    }
}
