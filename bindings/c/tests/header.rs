//! Checks that the header in `include` is what cbindgen generates from the crate.

use std::{env, fs, path::Path};

#[test]
fn the_header_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let mut generated = Vec::new();
    cbindgen::generate_with_config(folder, config).unwrap().write(&mut generated);
    let path = folder.join("include/hallpass.h");
    if env::var_os("HALLPASS_WRITE_HEADER").is_some() {
        fs::write(&path, &generated).unwrap();
    }
    let committed = fs::read(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "include/hallpass.h is out of date: run HALLPASS_WRITE_HEADER=1 cargo test --test header"
    );
}
