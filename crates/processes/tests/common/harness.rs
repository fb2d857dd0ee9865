//! Runs named tests one after another in the main thread, so that they may fork.
//!
//! It supports only the arguments that tools need: `--list`, and filters for names.

use std::{env, panic, process};

/// A test: its name and its function.
pub type Test = (&'static str, fn());

/// Runs the tests that the arguments select. Exits with 101 if one fails.
pub fn run(tests: &[Test]) {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    if flag("--list") {
        // No test here is `#[ignore]`d.
        let shown = if flag("--ignored") { &[] } else { tests };
        shown.iter().for_each(|(name, _)| println!("{name}: test"));
        return;
    }
    let texts: Vec<&String> = arguments.iter().filter(|text| !text.starts_with('-')).collect();
    let wanted = |name: &str| texts.is_empty() || texts.iter().any(|text| name.contains(*text));
    let mut failed = false;
    for (name, test) in tests.iter().filter(|(name, _)| wanted(name)) {
        let ended = panic::catch_unwind(test);
        println!("test {name} ... {}", if ended.is_ok() { "ok" } else { "FAILED" });
        failed |= ended.is_err();
    }
    if failed {
        process::exit(101);
    }
}
