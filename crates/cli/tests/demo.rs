//! `hallpass demo`, in a pipe.

use std::process::{Command, Stdio};

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
