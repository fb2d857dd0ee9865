//! Checks the reports of `hallpass-lab`: the verdict, the status and the scope, and its answers to mistakes.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use hallpass_testbed::copy_executable;
use serde_json::{Value, json};

/// Each process takes a slot or tries again. In its exit section, it waits until a slot is free.
const WAITS_IN_EXIT: &str = "algorithm bx shared free : k-n..k = k \
    passage waiting loop \
      1: if free > 0 then 2: if fetch_and_add(free, -1) > 0 then break end 3: fetch_and_add(free, 1) end \
    end critical 4: fetch_and_add(free, 1) 5: await free > 0 end \
    promises exclusion deadlock freedom bounded exit";

fn lab(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hallpass-lab"));
    command.args(words.split_whitespace()).current_dir(folder).output().expect("it runs")
}

fn text(output: &Output) -> String {
    let [out, error] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    format!("{out}{error}")
}

fn status(output: &Output) -> i32 {
    output.status.code().expect("no signal")
}

/// Returns the error message, and checks that the status is that of invalid arguments.
fn refusal(folder: &Path, words: &str) -> String {
    let output = lab(folder, words);
    assert_eq!(status(&output), 2, "{words}: {}", text(&output));
    text(&output)
}

/// Returns a folder with two files. Each of the algorithms violates one of its promises: `m.kx` starvation freedom, and
/// `bx.kx` its bounded exit.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("bx.kx"), WAITS_IN_EXIT).expect("written");
    assert_eq!(status(&lab(folder.path(), "new m")), 0);
    let path = folder.path().join("m.kx");
    let source = fs::read_to_string(&path).expect("a file");
    assert!(source.contains("\npromises\n"), "{source}");
    let source = source.replace("\npromises\n", "\npromises\n  starvation freedom\n");
    fs::write(path, source).expect("written");
    folder
}

#[test]
fn an_option_that_leaves_out_a_promised_property_makes_the_verdict_partial() {
    let folder = folder();
    for (words, left_out) in [
        ("check m.kx -n 3 -k 2 --symmetry", "deadlock, starvation, exit: leave out --symmetry"),
        ("check bx.kx -n 3 -k 2 --symmetry", "deadlock, exit: leave out --symmetry"),
        ("check bx.kx -n 3 -k 2 --symmetry --compact", "deadlock, exit: leave out --symmetry"),
    ] {
        let output = lab(folder.path(), words);
        assert_eq!(status(&output), 3, "{words}: {}", text(&output));
        let shown = text(&output);
        let verdict = format!("partial: no violation found, but not checked: {left_out}");
        assert_eq!(shown.matches(&verdict).count(), 2, "{words}: {shown}");
        assert!(shown.contains(&format!("PARTIAL: not checked: {left_out}")), "{words}: {shown}");
        assert!(!shown.contains("not every state was explored"), "{words}: {shown}");
        let output = lab(folder.path(), &format!("{words} --json"));
        assert_eq!(status(&output), 3, "{words}");
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["verdict"], "partial", "{words}");
        assert_eq!(report["complete"], false, "{words}");
        let names: Vec<&str> = left_out.split(": ").next().unwrap().split(", ").collect();
        assert_eq!(report["not_checked"], json!(names), "{words}");
    }
    for file in ["m.kx -n 3 -k 2", "bx.kx -n 3 -k 2", "bx.kx -n 3 -k 2 --compact"] {
        let output = lab(folder.path(), &format!("check {file}"));
        assert_eq!(status(&output), 1, "{file}: {}", text(&output));
    }
}

#[test]
fn a_violation_is_reported_even_if_other_promised_properties_are_left_out() {
    let folder = folder();
    let output = lab(folder.path(), "check m.kx -n 3 -k 2 --compact --symmetry");
    assert_eq!(status(&output), 1, "{}", text(&output));
    assert!(text(&output).contains("PARTIAL: not checked: deadlock, exit: leave out --symmetry"));
}

#[test]
fn an_option_that_leaves_out_only_what_the_algorithm_does_not_have_keeps_the_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let plain = lab(folder.path(), "check zehavi -n 2 -k 1 --json");
    let report: Value = serde_json::from_slice(&plain.stdout).expect("JSON");
    let has_invariants = report["properties"]["invariants"]["verdict"] != "not-checked";
    let output = lab(folder.path(), "check zehavi -n 2 -k 1 --forget");
    assert_eq!(status(&output), if has_invariants { 3 } else { 0 }, "{}", text(&output));
    let names_invariants = text(&output).contains("not checked: invariants: leave out --forget");
    assert_eq!(names_invariants, has_invariants, "{}", text(&output));
}

#[test]
fn the_verdict_on_selected_properties_names_them_and_the_scope_mentions_no_others() {
    let folder = folder();
    for (words, last) in [
        ("check bx.kx -n 3 -k 2 --property exclusion", "bx.kx: holds for exclusion"),
        ("check bx.kx -n 3 -k 2 --property exclusion --symmetry", "bx.kx: holds for exclusion"),
        (
            "check am-fig3 -n 3 -k 2 --property exclusion,names,invariants",
            "am-fig3: holds for exclusion, invariants",
        ),
    ] {
        let output = lab(folder.path(), words);
        let shown = text(&output);
        assert_eq!((status(&output), shown.lines().last()), (0, Some(last)), "{shown}");
        let scope = &shown[shown.find("Scope").expect("a scope")..];
        for word in ["liveness", "starvation", "deadlock"] {
            assert!(!scope.contains(word), "{word}: {shown}");
        }
    }
    let shown = text(&lab(folder.path(), "check am-fig3 -n 3 -k 2 --property deadlock"));
    assert!(shown.contains("deadlock: with no process stopped"), "{shown}");
    assert!(!shown.contains("starvation: with"), "{shown}");
}

#[test]
fn the_verdict_names_options_that_leave_out_runs() {
    let folder = tempfile::tempdir().unwrap();
    for (options, last) in [
        ("", "am-fig3: holds"),
        ("--contention 2", "am-fig3: holds with --contention 2"),
        ("--crashes 0", "am-fig3: holds with --crashes 0"),
        ("--initial smallest", "am-fig3: holds with --initial smallest"),
    ] {
        let output = lab(folder.path(), &format!("check am-fig3 -n 3 -k 2 {options}"));
        let shown = text(&output);
        assert_eq!((status(&output), shown.lines().last()), (0, Some(last)), "{shown}");
    }
}

#[test]
fn a_property_that_a_limit_leaves_undecided_names_the_limit() {
    let folder = folder();
    for (words, note) in [
        ("am-fig3 -n 3 -k 1 --states 12000", "fife-strong takes more states than --states allows"),
        (
            "am-fig3 -n 3 -k 1 --states 12000 -p bypass",
            "bypass takes more states than --states allows",
        ),
        ("am-fig8 -n 2 -k 1 --memory 2", "fife takes more memory than --memory allows"),
    ] {
        let report = text(&lab(folder.path(), &format!("check {words}")));
        let property = note.split(' ').next().expect("a word");
        let line =
            report.lines().find(|line| line.trim_start().starts_with(&format!("{property} ")));
        let line = line.unwrap_or_else(|| panic!("{words}: {report}"));
        assert!(line.contains("partial") && line.contains(note), "{words}: {report}");
    }
}

#[test]
fn the_report_on_a_small_model_is_easy_to_read() {
    let folder = folder();
    let shown = text(&lab(folder.path(), "check am-fig3 -n 3 -k 2"));
    assert!(shown.contains("  starvation with 2 stopped (not promised)  hp1."), "{shown}");
    assert!(!shown.contains("bytes per state"), "{shown}");
    let shown = text(&lab(folder.path(), "check am-fig2 -n 2 -k 1"));
    assert!(shown.contains("at most 1 own step\n"), "{shown}");
    let output = lab(folder.path(), "check am-fig3 -n 3 -k 2 --states 0 --json");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["bytes_per_state"], Value::Null);
}

#[test]
fn the_scope_of_answers_mentions_only_questions_that_were_asked() {
    let folder = tempfile::tempdir().unwrap();
    let shown = text(&lab(folder.path(), "ask am-fig8 -n 2 -k 1 --question footnote-8"));
    let scope = &shown[shown.find("Scope").expect("a scope")..];
    assert!(!scope.contains("rounds") && !scope.contains("amortised"), "{shown}");
    let shown = text(&lab(folder.path(), "ask am-fig8 -n 2 -k 1 --question rounds"));
    assert!(shown.contains("- rounds: processes stopped"), "{shown}");
}

#[test]
fn mistakes_in_arguments_are_answered_with_what_is_allowed() {
    let folder = folder();
    fs::copy(folder.path().join("bx.kx"), folder.path().join("noext")).unwrap();
    fs::write(
        folder.path().join("wide.kx"),
        "algorithm wide shared x[0..152] : 0..3 = 0 passage 1: x[0] := 1 critical 2: x[0] := 0 end",
    )
    .unwrap();
    fs::write(
        folder.path().join("long.kx"),
        "algorithm long shared x[0..100000] : bool = false passage 1: x[0] := true critical end",
    )
    .unwrap();
    for (words, advice) in [
        ("check am-fgi3 -n 3 -k 2", "did you mean am-fig3?"),
        ("rmr am-fgi3 -n 3 -k 2", "did you mean am-fig3?"),
        ("check am-fig3:foo -n 3 -k 2", "the variants of am-fig3 are am-fig3:"),
        ("check xyzzy -n 3 -k 2", "`hallpass-lab list` shows them all"),
        ("check ./noext -n 3 -k 2", "rename it to ./noext.kx"),
        ("check am-fig3 -n 99999999999999999999 -k 2", "at most 32 processes"),
        ("check wide.kx -n 2 -k 1", "declare fewer variables or smaller ranges"),
        ("check long.kx -n 2 -k 1", "an array has 1 to 4096 elements"),
        ("plot am-fig3", "or --gap GAP"),
        ("papers", "is not in the root of the sources of hallpass"),
    ] {
        let shown = refusal(folder.path(), words);
        assert!(shown.contains(advice), "{words}: {shown}");
    }
    assert!(!folder.path().join("docs").exists());
}

#[test]
fn a_new_crate_without_a_checkout_is_refused_with_what_to_do() {
    // The program looks for the checkout in which it was built, so the test runs a copy of it elsewhere.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("hallpass-lab");
    copy_executable(env!("CARGO_BIN_EXE_hallpass-lab"), &program);
    let output = Command::new(&program)
        .args(["new", "own", "--rust"])
        .current_dir(folder.path())
        .output()
        .expect("it runs");
    assert_eq!(status(&output), 2, "{}", text(&output));
    let advice = "hallpass-lab new own --rust --hallpass CHECKOUT";
    assert!(text(&output).contains(advice), "{}", text(&output));
    assert!(!folder.path().join("own").exists());
}

#[test]
fn a_mistake_of_a_line_is_shown_without_the_variable_that_records_it() {
    let folder = tempfile::tempdir().unwrap();
    let source = "algorithm zero shared x : 0..2 = 0 private v : 0..3 w : 0..3 \
                  passage 1: v := x w := 1 div v 2: x := w critical 3: x := 0 end";
    fs::write(folder.path().join("zero.kx"), source).unwrap();
    let output = lab(folder.path(), "check zero.kx -n 2 -k 1");
    assert_eq!(status(&output), 1);
    let shown = text(&output);
    assert!(shown.contains("divides by 0"), "{shown}");
    assert!(!shown.contains("fault:") && !shown.contains("outside its declared range"), "{shown}");
}

/// Bakery tickets of three processes grow without bound, so the lab explores them up to a limit. This report once said
/// that the exploration was complete.
#[test]
fn a_report_on_numbers_that_outgrow_their_range_is_not_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = lab(folder.path(), "check bakery -n 3 -k 1 --json");
    assert_eq!(status(&output), 3, "{}", text(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["verdict"], "partial");
    assert_eq!(report["complete"], false);
    let limits = report["limits"].as_array().expect("a list");
    let is_named =
        |limit: &Value| limit.as_str().is_some_and(|it| it.starts_with("PARTIAL: numbers"));
    assert!(limits.iter().any(is_named), "{limits:?}");
}

/// After it had reached a limit, this report once said that all states were explored.
#[test]
fn a_count_of_references_that_reached_a_limit_is_not_exhaustive() {
    let folder = tempfile::tempdir().expect("a folder");
    for (limit, status_expected, is_exhaustive) in [("--states 20", 3, false), ("", 0, true)] {
        let words = format!("rmr am-fig3 -n 2 -k 1 --search-steps 1000 {limit}");
        let output = lab(folder.path(), &words);
        let shown = text(&output);
        assert_eq!(status(&output), status_expected, "{shown}");
        assert_eq!(shown.contains("explored exhaustively"), is_exhaustive, "{shown}");
        assert_eq!(shown.contains("not all schedules"), !is_exhaustive, "{shown}");
    }
}

#[test]
fn a_replay_says_which_part_of_a_finding_no_single_run_can_show() {
    let folder = folder();
    let last_line = |string: &str| {
        let output = lab(folder.path(), &format!("replay --quiet {string}"));
        assert_eq!(status(&output), 0, "{}", text(&output));
        text(&output).lines().last().map(str::to_string).expect("a line")
    };
    let strong = "hp1.am-fig3.3.1.sc.00.strong-0-1-27.0111111220001101202222111010.0.812286c5";
    assert_eq!(
        last_line(strong),
        "confirmed, except that no single run can show that process 1 is enabled; `check` decides it"
    );
    let starved = "hp1.am-fig3.2.1.sc.0.starve-1-0.001111.1.70042194";
    assert_eq!(last_line(starved), "confirmed: the run shows what its replay string states");
}
