//! Checks the documents. Every block of commands must run in a test or say why not. Commands must name the programs
//! `hallpass-lab` and `hallpass-bench` with a hyphen. The targets of cargo commands must exist. The documents must
//! mention all environment variables.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use hallpass_testbed::documents::{Block, PROGRAMS, blocks, checkout, texts};

/// Variables that a program or test sets for a process that it starts. Users do not set them.
const INTERNAL: [&str; 11] = [
    "HALLPASS_DEMO_SOCKET",
    "HALLPASS_DEMO_STAY",
    "HALLPASS_DEMO_WORKER",
    "HALLPASS_PUPPET",
    "HALLPASS_STAY",
    "HALLPASS_STORM_STATUS",
    "HALLPASS_STORM_STAY",
    "HALLPASS_STORM_WITNESS",
    "HALLPASS_STORM_WORKER",
    "HALLPASS_VISITOR",
    "HALLPASS_WITNESS",
];

#[test]
fn every_block_runs_in_a_test_or_says_why_not() {
    let blocks = blocks();
    let is_settled = |block: &&Block| {
        block.not_run.as_ref().is_some_and(|reason| !reason.is_empty())
            || PROGRAMS.iter().any(|program| block.is_run_with(program))
    };
    let open: Vec<String> =
        blocks.iter().filter(|block| !is_settled(block)).map(Block::location).collect();
    assert!(
        open.is_empty(),
        "no test runs these blocks: {}. Each block needs commands of exactly one program ({}), or \
         `<!-- not run: REASON -->` before it",
        open.join(", "),
        PROGRAMS.join(", ")
    );
    for program in PROGRAMS {
        assert!(blocks.iter().any(|block| block.is_run_with(program)), "no test runs {program}");
    }
}

#[test]
fn documents_write_hallpass_lab_and_hallpass_bench_with_a_hyphen() {
    for block in blocks().iter().filter(|block| block.not_run.is_none()) {
        for command in block.commands() {
            let other =
                ["hallpass lab ", "hallpass bench "].iter().any(|other| command.starts_with(other));
            assert!(
                !other,
                "{}: write hallpass-lab or hallpass-bench: {command}",
                block.location()
            );
        }
    }
}

#[test]
fn cargo_commands_in_documents_name_existing_packages_tests_and_examples() {
    let mut seen = 0;
    for block in blocks() {
        for command in block.commands().filter(|command| command.contains("cargo ")) {
            let words: Vec<&str> = command.split_whitespace().collect();
            let values = |option: &str| -> Vec<&str> {
                words.windows(2).filter(|pair| pair[0] == option).map(|pair| pair[1]).collect()
            };
            let place = format!("{}: {command}", block.location());
            let packages: Vec<&Path> = values("-p")
                .into_iter()
                .map(|name| Path::new(name.strip_prefix("hallpass-").unwrap_or(name)))
                .collect();
            for package in &packages {
                assert!(
                    checkout().join("crates").join(package).join("Cargo.toml").is_file(),
                    "{place}"
                );
            }
            let folder = packages.first().map(|package| checkout().join("crates").join(package));
            for (option, kind) in [("--test", "tests"), ("--example", "examples")] {
                for name in values(option) {
                    let folder = folder.as_ref().expect("a package is named").join(kind);
                    let file = folder.join(format!("{name}.rs"));
                    assert!(
                        file.is_file() || folder.join(name).join("main.rs").is_file(),
                        "{place}"
                    );
                }
            }
            for path in values("--path") {
                assert!(checkout().join(path).join("Cargo.toml").is_file(), "{place}");
            }
            seen += 1;
        }
    }
    assert!(seen > 0, "the documents print no cargo command");
}

/// Returns the names of variables in string literals: `HALLPASS_` and capitals between quotes.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let literals = text.split('"').skip(1).step_by(2);
    literals.filter(|literal| {
        literal.strip_prefix("HALLPASS_").is_some_and(|rest| {
            rest.chars().all(|c| c.is_ascii_uppercase() || c == '_') && !rest.is_empty()
        })
    })
}

#[test]
fn documents_mention_every_environment_variable() {
    let mut git = Command::new("git");
    git.args(["ls-files", "crates/*.rs", "fuzz/*.rs"]).current_dir(checkout());
    let output = git.output().expect("git runs");
    if !output.status.success() {
        eprintln!("skipped: this is not a checkout");
        return;
    }
    let mut found = BTreeSet::new();
    for file in String::from_utf8(output.stdout).expect("paths are text").lines() {
        let text = fs::read_to_string(checkout().join(file)).unwrap_or_default();
        found.extend(text.lines().flat_map(variables).map(String::from));
    }
    assert!(found.contains("HALLPASS_SLOT") && found.contains("HALLPASS_FAULT_SECONDS"));
    found.retain(|name| !INTERNAL.contains(&name.as_str()));
    let documents: String = texts().into_iter().map(|(_, text)| text).collect();
    let missing: Vec<_> =
        found.iter().filter(|name| !documents.contains(&format!("`{name}"))).collect();
    assert!(missing.is_empty(), "no document mentions: {missing:?}");
}
