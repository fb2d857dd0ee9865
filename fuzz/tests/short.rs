//! Runs each fuzz target for a short time: first on its corpus, then on random changes of the corpus.
//!
//! `HALLPASS_FUZZ_SECONDS` sets the time for each target. `HALLPASS_FUZZ_SEED` repeats a run.

use std::{
    env, fs,
    panic::{self, AssertUnwindSafe},
    path::Path,
    time::{Duration, Instant},
};

use fastrand::Rng;
use hallpass_fuzz::TARGETS;

/// Reads a number from the environment.
fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().expect("the variable must be a number"))
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Returns a changed input of the corpus. A change overwrites, inserts, removes or repeats bytes, or joins two inputs.
fn mutate(rng: &mut Rng, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = rng.choice(corpus).unwrap().clone();
    for _ in 0..rng.usize(1..6) {
        let at = rng.usize(..=bytes.len());
        match rng.u8(..6) {
            0 if at < bytes.len() => bytes[at] = rng.u8(..),
            1 if at < bytes.len() => bytes[at] ^= 1 << rng.u8(..8),
            2 => bytes.insert(at, *rng.choice(b"0019-_.:/%+[]\"=\n\x80\xff").unwrap()),
            3 => drop(bytes.drain(at..(at + rng.usize(..16)).min(bytes.len()))),
            4 => {
                let part = bytes[at..(at + rng.usize(..16)).min(bytes.len())].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                let other = rng.choice(corpus).unwrap();
                bytes.truncate(at);
                bytes.extend(&other[rng.usize(..=other.len())..]);
            }
        }
    }
    bytes
}

fn run(name: &str) {
    let (_, target) =
        TARGETS.into_iter().find(|(known, _)| *known == name).expect("the target exists");
    let seed = number("HALLPASS_FUZZ_SEED").unwrap_or_else(|| fastrand::u64(..));
    let end = Instant::now() + Duration::from_secs(number("HALLPASS_FUZZ_SECONDS").unwrap_or(2));
    let (mut rng, corpus) = (Rng::with_seed(seed), corpus(name));
    assert!(!corpus.is_empty());
    let mut inputs = corpus.iter().cloned();
    let mut executions = 0;
    loop {
        let input = match inputs.next() {
            Some(input) => input,
            None if Instant::now() < end => mutate(&mut rng, &corpus),
            None => break,
        };
        let survived = panic::catch_unwind(AssertUnwindSafe(|| target(&input))).is_ok();
        assert!(survived, "seed {seed}: this input of {name} panics: {}", input.escape_ascii());
        executions += 1;
    }
    println!("{name}: {executions} executions, seed {seed}");
}

#[test]
fn no_message_of_etcd_causes_a_panic() {
    run("cluster_message");
}

#[test]
fn no_url_causes_a_panic() {
    run("cluster_url");
}

#[test]
fn no_content_of_a_hall_file_causes_a_panic() {
    run("hall_file");
}

#[test]
fn no_message_of_a_keeper_causes_a_panic() {
    run("keeper_message");
}

#[test]
fn no_log_of_a_hall_causes_a_panic() {
    run("log_file");
}

#[test]
fn no_tally_of_a_hall_causes_a_panic() {
    run("tally_file");
}

#[test]
fn no_file_of_the_language_causes_a_panic() {
    run("language");
}

#[test]
fn no_manifest_causes_a_panic() {
    run("manifest");
}

#[test]
fn no_replay_string_causes_a_panic() {
    run("replay");
}

#[test]
fn no_content_of_a_value_file_causes_a_panic() {
    run("value_file");
}

#[test]
fn no_command_line_causes_a_panic() {
    run("command_line");
}

#[test]
fn no_row_of_postgresql_causes_a_panic() {
    run("postgres");
}

#[test]
fn no_holder_or_waiter_controls_the_terminal() {
    run("status");
}

#[test]
fn every_target_has_a_corpus_and_a_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, _) in TARGETS {
        assert!(folder.join(format!("fuzz_targets/{name}.rs")).is_file(), "{name}");
        assert!(!corpus(name).is_empty(), "{name}");
    }
}
