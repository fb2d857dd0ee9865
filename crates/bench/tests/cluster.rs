//! Checks that `hallpass-bench cluster` measures `hallpass run`, and that `hallpass run` behaves well in every trial.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{LazyLock, atomic::AtomicBool},
};

use hallpass_bench::{
    cluster::{
        measure::Plan,
        report::Part,
        setting::{Engine, Medium, Setting},
    },
    common::rounds::Steps,
};
use serde_json::Value;

/// The program `hallpass` beside `hallpass-bench`. If the whole workspace is tested, it exists already. Otherwise
/// this builds it.
static HALLPASS: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_BIN_EXE_hallpass-bench")).with_file_name("hallpass");
    if !path.is_file() {
        let is_release = path.parent().is_some_and(|folder| folder.ends_with("release"));
        let profile = if is_release { "release" } else { "dev" };
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--package", "hallpass-cli", "--profile", profile]);
        assert!(build.status().expect("cargo runs").success(), "hallpass cannot be built");
    }
    path
});

fn report(engine: Engine, parts: &[Part]) -> Value {
    let plan = Plan {
        parts: parts.to_vec(),
        settings: vec![Setting { engine, members: 1, medium: Medium::Memory }],
        rounds: 1,
        herds: vec![2],
        waiting: [2, 2],
        before: None,
        passages: 2,
        program: HALLPASS.clone(),
    };
    let report = plan
        .run(&mut Steps::new(&AtomicBool::new(false), &mut |_| ()))
        .expect("the plan can be measured");
    report.to_json()
}

#[test]
fn handovers_and_races_are_measured_without_overlaps() {
    let Some(()) = hallpass_testbed::etcd() else { return };
    let json = report(Engine::Etcd, &[Part::Handover, Part::Race]);
    assert_eq!(json["handovers"][0]["members"], 1);
    assert!(
        json["handovers"][0]["in_writes"].as_f64().is_some_and(|writes| writes > 0.0),
        "{json}"
    );
    assert_eq!(json["races"].as_array().map(Vec::len), Some(2), "{json}");
    assert!(
        json["races"][1]["ratio"]["median"].as_f64().is_some_and(|ratio| ratio > 0.0),
        "{json}"
    );
    for succession in json["successions"].as_array().expect("rows") {
        assert_eq!(succession["overlaps"], 0, "{json}");
    }
}

#[test]
fn handovers_and_waiting_commands_are_measured_on_postgresql() {
    let Some(()) = hallpass_testbed::postgres() else { return };
    let json = report(Engine::Postgres, &[Part::Handover, Part::Idle, Part::Race]);
    assert_eq!(json["handovers"][0]["engine"], "postgres");
    let writes = json["handovers"][0]["in_writes"].as_f64();
    assert!(writes.is_some_and(|writes| writes > 0.0), "{json}");
    assert_eq!(json["idle"][0]["waiting"], 2);
    let connections = json["idle"][0]["connections"].as_u64();
    assert!(connections.is_some_and(|count| (1..=3).contains(&count)), "{json}");
    assert_eq!(json["races"].as_array().map(Vec::len), Some(0), "etcdctl lock needs etcd");
}

#[test]
fn hallpass_run_behaves_as_expected_in_every_trial() {
    let Some(()) = hallpass_testbed::etcd() else { return };
    let json = report(Engine::Etcd, &[Part::Behaviour]);
    let all = json["behaviours"].as_array().expect("rows");
    let ours: Vec<_> = all.iter().filter(|one| one["wrapper"] == "hallpass run").collect();
    assert_eq!(ours.len(), 7);
    assert!(ours.iter().all(|one| one["good"] == true), "{ours:#?}");
}
