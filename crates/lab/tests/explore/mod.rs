//! Tests the engine and the server of the explorer. `crates/lab/browser` tests the page in a real browser.

mod answers;
mod pseudocode;
mod random_play;
#[cfg(feature = "cli")]
mod server;
mod session;
mod waits;

use std::sync::atomic::AtomicBool;

use hallpass_lab::{
    explorer::{Engine, Subject},
    schedule::MemoryModel,
};
use serde_json::{Value, json};

use crate::common::resources;

fn subject(id: &str, n: usize, k: usize) -> Subject {
    Subject::registered(id, n, k, MemoryModel::Sequential).unwrap()
}

/// Returns an engine that has explored its subject.
fn explored(id: &str, n: usize, k: usize) -> Engine {
    let mut engine = Engine::new(subject(id, n, k));
    let stop = AtomicBool::new(false);
    engine.explore(&resources(2_000_000, 2 << 30, &stop)).unwrap();
    engine
}

fn ask(engine: &mut Engine, request: Value) -> Value {
    engine.handle(&request).unwrap()
}

/// Plays these agents from `node` and returns the last view.
fn play(engine: &mut Engine, node: u64, agents: &[usize]) -> Value {
    let mut view = ask(engine, json!({ "do": "view", "node": node }));
    for &agent in agents {
        view = ask(engine, json!({ "do": "step", "node": view["node"], "agent": agent }));
    }
    view
}
