//! Manual pages and completions, generated from the description of the command line.

use std::{
    fs,
    process::{Command, Output},
};

fn hallpass(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hallpass")).args(words).output().expect("it runs")
}

#[test]
fn there_is_a_page_for_each_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("man1");
    let output = hallpass(&["man", pages.to_str().expect("text")]);
    assert!(output.status.success() && output.stdout.is_empty());
    for command in
        ["", "-run", "-status", "-list", "-top", "-reap", "-resize", "-rm", "-lab", "-bench"]
    {
        let page = fs::read_to_string(pages.join(format!("hallpass{command}.1"))).expect("a page");
        assert!(page.contains(".TH") && page.contains(".SH NAME"), "{command}");
    }
    let run = fs::read_to_string(pages.join("hallpass-run.1")).expect("a page");
    for word in
        ["nonblock", "conflict", "HALLPASS_SLOT", "127", "etcds://", "HALLPASS_TOKEN", "grace"]
    {
        assert!(run.contains(word), "{word}");
    }
    let others = fs::read_dir(&pages).expect("there").filter(|file| {
        file.as_ref().is_ok_and(|file| !file.file_name().to_string_lossy().ends_with(".1"))
    });
    assert_eq!(others.count(), 0, "no temporary file is left");
    assert!(!pages.join("hallpass-keeper.1").exists(), "the keeper has no page");
}

#[test]
fn pages_that_cannot_be_written_are_an_error() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let output = hallpass(&["man", file.path().to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("hallpass: cannot create "));
}

#[test]
fn completions_contain_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = hallpass(&["completions", shell]);
        assert!(output.status.success());
        let script = String::from_utf8(output.stdout).expect("text");
        for word in ["run", "resize", "per-device", "conflict-exit-code", "password-file"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(hallpass(&["completions", "tcl"]).status.code(), Some(2));
}
