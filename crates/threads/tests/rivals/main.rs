//! Checks that a `Hall` has the behaviours that the tests of other semaphores check. There is one module each for
//! tokio's `Semaphore`, async-lock's `Semaphore`, Go's `semaphore.Weighted` and Java's `Semaphore`. The tests are new
//! code. If a hall behaves differently on purpose, the test checks the behaviour of the hall, and its comment names
//! the difference.
//!
//! Most tests run on two kinds of fair halls: *narrow* halls keep all slot numbers in one word, and *wide* halls,
//! which can have more than 32 slots, do not. Tests that do not depend on strict order also run on halls in which
//! newcomers may overtake.

mod of_async_lock;
mod of_go;
mod of_java;
mod of_tokio;
#[path = "../behaviour/support.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod support;

use std::sync::Arc;

use hallpass_threads::Hall;

/// Makes halls with `k` slots: fair halls, and halls in which newcomers may overtake.
fn all_halls(k: usize) -> Vec<Arc<Hall>> {
    let mut halls = support::halls(k);
    for (bypass, max) in [(1, 32), (64, 100), (u32::MAX, 32), (u32::MAX, 100)] {
        let builder = Hall::builder(k).bypass(bypass).max_slots(max.max(k));
        halls.push(Arc::new(builder.build().unwrap()));
    }
    halls
}
