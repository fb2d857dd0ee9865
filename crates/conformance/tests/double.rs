//! Checks that the suite accepts a correct hall, and that it lists every behaviour.

use std::{collections::BTreeSet, fs, path::Path};

use hallpass_conformance::{conformance, double::Double};

conformance!(Double);

/// Checks that the macro lists every behaviour. A behaviour that is not listed would never run.
#[test]
fn the_macro_names_every_behaviour() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let list = fs::read_to_string(source.join("macros.rs")).expect("the macro");
    let listed: BTreeSet<&str> =
        list.lines().map(|line| line.trim().trim_end_matches(',')).collect();
    let mut behaviours = 0;
    for file in fs::read_dir(source.join("behaviours")).expect("the behaviours") {
        let text = fs::read_to_string(file.expect("a file").path()).expect("a file");
        for line in text.lines() {
            let Some(rest) = line.strip_prefix("pub fn ") else { continue };
            let name = rest.split(['<', '(']).next().expect("a name");
            assert!(listed.contains(name), "`{name}` is not in macros.rs");
            behaviours += 1;
        }
    }
    assert!(behaviours > 40, "only {behaviours} behaviours were found");
}
