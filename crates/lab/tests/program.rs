//! Checks the output and the exit status of `hallpass-lab objects`. Also checks manual pages and
//! completions.

use std::process::{Command, Output};

fn objects(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hallpass-lab"));
    command.arg("objects").args(words).output().expect("it runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_report_on_a_correct_object_says_that_it_holds() {
    let output = objects(&["counter", "-k", "2", "--operations", "1"]);
    assert_eq!(output.status.code(), Some(0));
    let text = text(&output);
    assert!(text.starts_with("counter k=2, 1 of add/look: holds"), "{text}");
    assert!(text.contains("2,637 states (all)"), "{text}");
    assert!(text.contains("at most 50 to change the object, 9 to read it"), "{text}");
}

#[test]
fn the_report_on_a_wrong_variant_shows_the_run_that_violates_a_property() {
    let words = ["counter", "-k", "2", "--operations", "2", "--wrong", "hasty"];
    let output = objects(&words);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("race is violated by this run of 45 steps"));
    let output = objects(&[&words[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&json["verdict"], &json["run"]["shows"]), (&"violated".into(), &"race".into()));
    assert_eq!(json["run"]["steps"].as_array().map(Vec::len), Some(45));
}

#[test]
fn a_run_that_repeats_forever_is_shown_with_its_cycle() {
    let output = objects(&["counter", "-k", "2", "--operations", "1", "--wrong", "hurried"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("repeats forever from here:"));
}

#[test]
fn a_search_that_reaches_its_limit_is_reported_as_partial() {
    let output = objects(&["queue", "-k", "2", "--states", "10000"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output).contains("partial"));
}

#[test]
fn invalid_arguments_exit_with_status_2() {
    for words in [
        &["heap"][..],
        &["counter", "-k", "5"],
        &["counter", "--wrong", "lazy"],
        &["counter", "--only", "put"],
        &["counter", "-k", "2", "--operations", "1,2,3"],
        &["-k", "2"],
    ] {
        assert_eq!(objects(words).status.code(), Some(2), "{words:?}");
    }
}

/// Reads the names of the subcommands from the help of the program, except `help` itself.
fn subcommands(help: &str) -> Vec<String> {
    let (_, list) = help.split_once("\nCommands:\n").expect("the help lists the subcommands");
    let lines = list.lines().take_while(|line| !line.is_empty());
    // Longer descriptions continue on lines that are indented further.
    let names = lines.filter_map(|line| line.strip_prefix("  ").filter(|it| !it.starts_with(' ')));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(String::from).collect()
}

#[test]
fn manual_pages_and_completions_cover_subcommands() {
    let directory = tempfile::tempdir().expect("a directory");
    let lab = || std::process::Command::new(env!("CARGO_BIN_EXE_hallpass-lab"));
    let status = lab().arg("man").arg(directory.path()).status().expect("the program runs");
    assert!(status.success());
    let completions = lab().args(["completions", "bash"]).output().expect("the program runs");
    let script = String::from_utf8(completions.stdout).expect("text");
    let help = lab().arg("--help").output().expect("the program runs");
    let commands = subcommands(&text(&help));
    assert!(
        ["check", "ask", "new", "man"].iter().all(|known| commands.contains(&known.to_string()))
    );
    for command in commands {
        let page = directory.path().join(format!("hallpass-lab-{command}.1"));
        assert!(page.exists(), "no manual page for {command}");
        assert!(script.contains(&format!(",{command})")), "no completion for {command}");
    }
}
