//! Checks that every file of the gallery outside `gallery/papers` has the results in `gallery/atlas.toml`, and that
//! every exercise (a file in `gallery/wrong`) is rejected.

use std::{collections::BTreeSet, fs, path::PathBuf, sync::atomic::AtomicBool};

use hallpass_lab::{
    atlas::{self, Manifest, ManifestFile, Selection, Status, Tier},
    catalogue,
    check::Verdict,
};

use crate::common::resources;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the files of a folder of the gallery, as the manifest names them.
fn files(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let names = entries.map(|entry| format!("{folder}/{}", entry.unwrap().file_name().display()));
    names.filter(|name| name.ends_with(".kx")).collect()
}

/// Loads every file that the manifest lists, under the name that it has there.
fn manifest() -> Manifest {
    let file = ManifestFile::read(root().join("gallery/atlas.toml")).unwrap();
    for id in file.language_files() {
        let path = root().join(&id).display().to_string();
        let file = catalogue::load_as(&path, &id).unwrap_or_else(|error| panic!("{error}"));
        assert!(file.warnings.is_empty(), "{}", file.render_warnings(false));
    }
    Manifest::of(&[file]).unwrap()
}

#[test]
fn the_gallery_has_the_recorded_results() {
    let manifest = manifest();
    let stop = AtomicBool::new(false);
    let selection = Selection { tier: Tier::Quick, only: Vec::new() };
    let report = atlas::run(&manifest, &selection, &resources(1 << 22, 1 << 29, &stop), |_| ());
    assert_eq!(report.differences(), Vec::<String>::new());
    assert_eq!(report.status(), Status::AsExpected, "{:?}", report.unseen());
    for entry in &report.entries {
        let verdict = entry.measured.check_report().map(|report| report.verdict());
        let is_exercise = entry.model.algorithm.contains("/wrong/");
        let id = entry.model.id();
        let expected = if is_exercise { Verdict::Violated } else { Verdict::Holds };
        assert_eq!(verdict, Some(expected), "{id}");
    }
}

#[test]
fn every_file_of_the_gallery_is_in_the_manifest() {
    let listed: BTreeSet<String> =
        manifest().models.into_iter().map(|model| model.algorithm).collect();
    let mut present = files("gallery");
    present.extend(files("gallery/wrong"));
    assert_eq!(listed, present);
}
