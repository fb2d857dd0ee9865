//! Checks files of the language in the lab.

use std::path::PathBuf;

use hallpass_lab::catalogue;

mod gallery;
mod papers;
#[cfg(feature = "cli")]
mod program;
#[cfg(feature = "cli")]
mod runs;

/// Returns the path of a file of the gallery.
fn path(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("gallery").join(name).display().to_string()
}

/// Loads a file of the gallery and returns its identifier.
fn load(name: &str) -> String {
    let path = path(name);
    let file = catalogue::load(&path).unwrap_or_else(|error| panic!("{error}"));
    assert!(file.warnings.is_empty(), "{}", file.render_warnings(false));
    path
}
