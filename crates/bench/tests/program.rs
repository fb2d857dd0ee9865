//! `hallpass-bench` as a user runs it: tables, JSON, plots, and messages about bad input.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

/// Runs the command with its plots in `out`.
fn bench(out: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hallpass-bench"));
    command.args(arguments).arg("--out").arg(out);
    command.output().expect("it runs")
}

const TINY: [&str; 4] = ["--time", "5", "--rounds", "1"];
const FIELD: [&str; 6] = ["floor", "tokio", "async-lock", "std-condvar", "parking-lot", "ticket"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn a_tiny_run_has_tables_json_and_plots() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("plots");
    let arguments = [&TINY[..], &["--workload", "alone-k4", "latency"]].concat();
    let run = bench(&out, &arguments);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let table = text(&run.stdout);
    for name in FIELD {
        let lines = table.lines().filter(|line| line.split_whitespace().next() == Some(name));
        assert_eq!(lines.count(), 2, "{name} in\n{table}");
    }
    let mut files: Vec<_> = fs::read_dir(&out)
        .expect("the directory exists")
        .map(|file| file.expect("a file").path())
        .collect();
    files.sort();
    assert_eq!(files, [out.join("alone.svg"), out.join("latency.svg")]);
    for file in files {
        let svg = fs::read_to_string(file).expect("text");
        assert!(svg.trim_end().ends_with("</svg>"));
        for name in FIELD {
            assert!(svg.contains(name), "{name}");
        }
    }
    let run = bench(&out, &[&arguments[..], &["--json", "--only", "tok"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("it is JSON");
    let rows = json["workloads"][0]["contestants"].as_array().expect("rows");
    let mut names: Vec<_> = rows.iter().filter_map(|row| row["contestant"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["floor", "tokio"]);
}

#[test]
fn algorithms_of_papers_run_with_the_option_papers() {
    let folder = tempfile::tempdir().expect("a folder");
    let asked = ["--papers", "--only", "am-fig3-fast", "bakery", "--workload", "contended-4-on-2"];
    let run = bench(folder.path(), &[&TINY[..], &asked].concat());
    let table = text(&run.stdout);
    assert!(table.contains("  am-fig3-fast  everybody"), "{table}");
    assert!(table.contains("left out (exists only for k <= 1): bakery"), "{table}");
}

const TINY_OBJECTS: [&str; 17] = [
    "objects",
    "--operations",
    "2000",
    "--threads",
    "4",
    "1",
    "--rounds",
    "1",
    "--limit",
    "20",
    "--time",
    "10",
    "--pause",
    "2",
    "--memory-operations",
    "1000",
    "--active=2",
];

#[test]
fn a_tiny_run_on_objects_has_tables_json_and_plots() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("plots");
    // The list has no spin locks, which are very slow while other programs use the machine.
    let names = ["resilient-1", "resilient-2", "wait-free-64", "std-mutex", "skip-list"];
    let arguments = [&TINY_OBJECTS[..], &["--only"], &names].concat();
    let run = bench(&out, &arguments);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let table = text(&run.stdout);
    for name in names {
        let lines = table.lines().filter(|line| line.split_whitespace().next() == Some(name));
        assert!(lines.count() >= 2, "{name} in\n{table}");
    }
    for expected in
        ["plain: total time for 2000 operations", "  1  ", "plain, 4 threads: best k is "]
    {
        assert!(table.contains(expected), "{expected} in\n{table}");
    }
    for file in ["figure-10.svg", "stopped.svg"] {
        let svg = fs::read_to_string(out.join(file)).expect("text");
        assert!(svg.trim_end().ends_with("</svg>"));
        assert!(names.iter().all(|name| svg.contains(name)), "{file}");
    }
    assert!(out.join("figure-11.svg").exists());
    assert!(table.contains("memory: MiB in use over 1000"), "{table}");
    let asked = ["--json", "--part", "stopped", "--only", "std"];
    let run = bench(&out, &[&TINY_OBJECTS[..], &asked].concat());
    let json: serde_json::Value = serde_json::from_slice(&run.stdout).expect("it is JSON");
    assert_eq!(json["figures"], serde_json::json!([]));
    assert_eq!(json["stopped"][0]["contestant"], "std-mutex");
    assert_eq!(json["findings"]["one_stopped"][0]["part"], 0.0);
}

#[test]
fn bad_input_for_objects_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("plots");
    let run = bench(&out, &["objects", "--only", "nobody"]);
    let stderr = text(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("no contestant's name contains `nobody`"), "{stderr}");
    assert!(stderr.lines().count() == 1 && run.stdout.is_empty() && !out.exists(), "{stderr}");
    for arguments in [
        ["--threads", "0"],
        ["--operations", "0"],
        ["--size", "-1"],
        ["--limit", "0"],
        ["--pause", "long"],
        ["--active", "57"],
        ["--part", "best"],
        ["--papers", "--quick"],
    ] {
        let run = bench(&out, &[&["objects"][..], &arguments].concat());
        assert_eq!(run.status.code(), Some(2), "{arguments:?}");
        assert!(!out.exists());
    }
    let file = folder.path().join("file");
    fs::write(&file, "mine").expect("it can be written");
    let run = bench(&file, &TINY_OBJECTS);
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).contains("cannot create"), "{}", text(&run.stderr));
}

#[test]
fn bad_input_is_refused_with_one_line_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("plots");
    for (arguments, says) in [
        (["--only", "nobody"], "no contestant's name contains `nobody`"),
        (["--only", "am-fig3"], "add --papers"),
        (["--workload", "lonely"], "no workload is called `lonely`"),
    ] {
        let run = bench(&out, &arguments);
        let stderr = text(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(says) && stderr.lines().count() == 1, "{stderr}");
        assert!(run.stdout.is_empty() && !out.exists());
    }
    for arguments in [["--time", "0"], ["--rounds", "many"], ["--inside", "-1"]] {
        assert_eq!(bench(&out, &arguments).status.code(), Some(2), "{arguments:?}");
    }
    let file = folder.path().join("file");
    fs::write(&file, "mine").expect("it can be written");
    let run = bench(&file, &TINY);
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).contains("cannot create"), "{}", text(&run.stderr));
    assert_eq!(fs::read_to_string(&file).expect("the file exists"), "mine");
}

#[test]
fn a_tiny_run_on_a_cluster_counts_notifications() {
    let Some(()) = hallpass_testbed::etcd() else { return };
    let mut command = Command::new(env!("CARGO_BIN_EXE_hallpass-bench"));
    command.args(["cluster", "--members", "1", "--storage", "memory", "--part", "herd"]);
    let run = command.args(["--herd", "2", "5", "--rounds", "6"]).output().expect("it runs");
    let table = text(&run.stdout);
    assert!(table.contains("independent of the number of waiters: yes"), "{table}");
    assert!(table.contains("independent of the number of earlier releases: yes"), "{table}");
}

#[test]
fn without_etcd_the_cluster_benchmark_says_what_to_install() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hallpass-bench"));
    let nowhere = tempfile::tempdir().expect("a folder");
    // `machines` is an alias of `cluster`.
    let run = command.arg("machines").env("PATH", nowhere.path()).output();
    let run = run.expect("it runs");
    let stderr = text(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("apt-get install etcd-server etcd-client"), "{stderr}");
}
