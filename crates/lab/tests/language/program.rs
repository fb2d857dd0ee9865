//! `hallpass-lab` with files: exit status, messages, and the files that `new` writes.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

fn lab(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hallpass-lab"));
    command.args(words).current_dir(folder).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_new_file_can_be_checked_unchanged_and_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let output = lab(folder.path(), &["new", "my-lock"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("hallpass-lab check my-lock.kx -n 3 -k 2"));
    for command in [
        &["check", "my-lock.kx", "-n", "3", "-k", "2"][..],
        &["rmr", "my-lock.kx", "-n", "2", "-k", "1"],
    ] {
        let output = lab(folder.path(), command);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    let again = lab(folder.path(), &["new", "my-lock"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("exists"));
    assert_eq!(lab(folder.path(), &["new", "../x"]).status.code(), Some(2));
}

#[test]
fn the_example_crate_is_what_new_writes() {
    let folder = tempfile::tempdir().unwrap();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let shown = checkout.to_str().unwrap();
    let output = lab(folder.path(), &["new", "own-algorithm", "--rust", "--hallpass", shown]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let example = checkout.join("examples/own-algorithm");
    for file in ["Cargo.toml", "src/main.rs"] {
        let written = fs::read_to_string(folder.path().join("own-algorithm").join(file)).unwrap();
        // The example lies in the checkout, so its path is relative.
        let written = written.replace(shown, "../..");
        assert_eq!(written, fs::read_to_string(example.join(file)).unwrap(), "{file}");
    }
}

#[test]
fn a_new_crate_outside_the_checkout_finds_the_checkout() {
    let folder = tempfile::tempdir().unwrap();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let lab_crate = checkout.join("crates").join("lab");

    // The path is relative to the current folder, and the manifest lies one folder below.
    std::os::unix::fs::symlink(&checkout, folder.path().join("hallpass")).unwrap();
    let output = lab(folder.path(), &["new", "own", "--rust", "--hallpass", "hallpass"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let manifest = fs::read_to_string(folder.path().join("own/Cargo.toml")).unwrap();
    assert!(manifest.contains(lab_crate.to_str().unwrap()), "{manifest}");

    let output = lab(folder.path(), &["new", "lost", "--rust", "--hallpass", "nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("nowhere is not a checkout of hallpass"));
    assert!(!folder.path().join("lost").exists());
}

#[test]
fn a_word_of_the_language_is_not_the_name_of_a_new_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["end", "loop", "critical"] {
        let output = lab(folder.path(), &["new", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(text(&output.stderr).contains("it is a word of the language"), "{name}");
    }
    assert_eq!(lab(folder.path(), &["new", "hallpass-lab", "--rust"]).status.code(), Some(2));
}

#[test]
fn a_violation_of_a_file_replays_and_a_changed_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.kx");
    let source = "algorithm bad shared x : 0..1 = 0 passage 1: x := 1 critical 2: x := 0 end";
    fs::write(&path, source).unwrap();
    let output = lab(folder.path(), &["check", "bad.kx", "-n", "2", "-k", "1"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stdout);
    let line = shown
        .lines()
        .find(|line| line.starts_with("  exclusion ") && line.contains("hp1."))
        .unwrap();
    let string = line.split_whitespace().last().unwrap();
    assert_eq!(lab(folder.path(), &["replay", string]).status.code(), Some(0));

    fs::rename(&path, folder.path().join("moved.kx")).unwrap();
    let lost = lab(folder.path(), &["replay", string]);
    assert_eq!(lost.status.code(), Some(2));
    assert!(text(&lost.stderr).contains("--file PATH"), "{}", text(&lost.stderr));
    assert_eq!(
        lab(folder.path(), &["replay", string, "--file", "moved.kx"]).status.code(),
        Some(0)
    );

    fs::write(&path, source.replace("2: x := 0", "2: x := 1")).unwrap();
    let changed = lab(folder.path(), &["replay", string]);
    assert_eq!(changed.status.code(), Some(2));
    assert!(text(&changed.stderr).contains("has changed since this run was found"));
}

#[test]
fn errors_of_a_file_are_shown_with_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("bad.kx"),
        "algorithm bad\nshared x : 0..1 = 0\npassage\n  1: x := x + 1\n  critical\nend\n",
    )
    .unwrap();
    let output = lab(folder.path(), &["check", "bad.kx", "-n", "2", "-k", "1"]);
    assert_eq!(output.status.code(), Some(2));
    let shown = text(&output.stderr);
    assert!(shown.contains("bad.kx:4:3") && shown.contains("split it in two"), "{shown}");
    assert!(shown.contains("bad.kx has 1 error"), "{shown}");
    let missing = lab(folder.path(), &["check", "none.kx", "-n", "2", "-k", "1"]);
    assert!(text(&missing.stderr).contains("cannot read none.kx"));
}

#[test]
fn a_file_that_is_not_text_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let utf16: Vec<u8> = "\u{feff}algorithm a".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, reason) in [
        (
            &b"algorithm a\n// caf\xe9\n"[..],
            "line 2, column 7 is not text in UTF-8: save the file as UTF-8",
        ),
        (&utf16, "it is text in UTF-16: save it as UTF-8"),
        (b"\x7fELF\x02\x01\x01\0\0", "it is not a text file"),
        (&[b'x'; 300_000], "it has more than 262144 bytes"),
    ] {
        fs::write(folder.path().join("bad.kx"), bytes).unwrap();
        let output = lab(folder.path(), &["check", "bad.kx", "-n", "2", "-k", "1"]);
        assert_eq!(output.status.code(), Some(2));
        let shown = text(&output.stderr);
        assert!(shown.contains("cannot read bad.kx") && shown.contains(reason), "{shown}");
    }
}

#[test]
fn a_fault_of_a_line_is_named_in_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let source =
        "algorithm bad shared x[process] : 0..2 = 0 private v : 0..3 passage LINES critical end";
    for (lines, sentence) in [
        ("v := 1 div v 1: x[me] := v", "the first line divides by 0"),
        ("1: x[me + 1] := 1", "line 1 uses the index 2 of x, whose indices go from 0 to 1"),
        ("v := 4 1: x[me] := v", "the first line assigns 4 to v, which ranges from 0 to 3"),
        ("1: fetch_and_add(x[me], 1)", "x[0] becomes 3, outside its declared range"),
        (
            "1: v := fetch_and_add(x[me], 1, 0)",
            "line 1 adds modulo a number that is not from 1 to 65536",
        ),
    ] {
        fs::write(folder.path().join("bad.kx"), source.replace("LINES", lines)).unwrap();
        let output = lab(folder.path(), &["check", "bad.kx", "-n", "2", "-k", "1"]);
        assert_eq!(output.status.code(), Some(1));
        let shown = text(&output.stdout);
        assert!(shown.contains(&format!("range        VIOLATED  {sentence}")), "{shown}");
    }
}

#[test]
fn the_explorer_opens_files_and_replay_strings_of_files() {
    let folder = tempfile::tempdir().unwrap();
    // The algorithm exists at one size only, which the user need not know.
    let source = "algorithm pair requires n = 2 and k = 1 shared x : 0..1 = 0 \
                  passage 1: x := 1 critical 2: x := 0 end";
    fs::write(folder.path().join("pair.kx"), source).unwrap();
    let output = lab(folder.path(), &["explore", "pair.kx", "--export", "page.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));

    let output = lab(folder.path(), &["check", "pair.kx", "-n", "2", "-k", "1"]);
    let shown = text(&output.stdout);
    let string = shown.split_whitespace().find(|word| word.starts_with("hp1.")).unwrap();
    let output = lab(folder.path(), &["explore", string, "--export", "run.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn reports_on_a_file_speak_of_the_file_and_not_of_a_paper() {
    let folder = tempfile::tempdir().unwrap();
    let source = "algorithm pair shared x : bool open y : 0..1 = 0 \
                  passage waiting 1: await not test_and_set(x) critical 2: x := false end \
                  invariant Zero: y = 0 invariant Free: not x promises deadlock freedom";
    fs::write(folder.path().join("pair.kx"), source).unwrap();
    // The filter lock survives no crash, and does not promise to.
    fs::copy(super::path("filter.kx"), folder.path().join("filter.kx")).unwrap();
    let mut shown = String::new();
    for words in [
        &["check", "pair.kx", "-n", "3", "-k", "2"][..],
        &[
            "check",
            "pair.kx",
            "-n",
            "3",
            "-k",
            "2",
            "--initial",
            "smallest",
            "--show",
            "starvation",
        ],
        &["check", "pair.kx", "-n", "3", "-k", "2", "--show", "invariants"],
        &["check", "filter.kx", "-n", "3", "-k", "2", "--show", "starvation"],
        &["rmr", "pair.kx", "-n", "2", "-k", "1"],
    ] {
        let output = lab(folder.path(), words);
        shown += &text(&output.stdout);
        shown += &text(&output.stderr);
    }
    for sentence in [
        "the file does not promise it",
        "the file does not promise to tolerate stopped processes",
        "the file's invariant Free does not hold",
        "(the file states no bound)",
        "variables that the file leaves open",
        "left open by the file",
    ] {
        assert!(shown.contains(sentence), "{sentence:?} is missing in\n{shown}");
    }
    assert!(!shown.contains("paper"), "{shown}");
}
