//! The files that make up a manifest: a list of models with their expected results.

use std::{
    fs,
    path::{Path, PathBuf},
};

use hallpass_algorithms::registry;

use super::manifest::Error;

/// The folder that contains the folders of the algorithms, relative to the root of the sources.
const SOURCES: &str = "crates/algorithms/src";

/// A file of models.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ManifestFile {
    /// The path of the file. The path of a built-in file is relative to the root of the sources.
    pub path: PathBuf,
    /// The text of the file.
    pub text: String,
}

impl ManifestFile {
    /// Returns the files that are built into the lab, one for each folder of algorithms.
    pub fn built_in() -> Vec<Self> {
        let file = |family: &registry::Family| ManifestFile {
            path: path(family),
            text: family.atlas.to_string(),
        };
        registry::families().map(file).collect()
    }

    /// Reads the files of [`built_in`](Self::built_in) from a checkout of hallpass in the folder
    /// `root`.
    pub fn in_checkout(root: &Path) -> Result<Vec<Self>, Error> {
        if !root.join(SOURCES).is_dir() {
            return Err(Error::new(format!(
                "`{}` has no folder {SOURCES}: run this at the root of a checkout of hallpass, or name \
                 a file with --manifest",
                if root.as_os_str().is_empty() { Path::new(".") } else { root }.display()
            )));
        }
        registry::families().map(|family| Self::read(root.join(path(family)))).collect()
    }

    /// Reads a file.
    pub fn read(path: PathBuf) -> Result<Self, Error> {
        let text = fs::read_to_string(&path)
            .map_err(|error| Error::new(format!("cannot read {}: {error}", path.display())))?;
        Ok(ManifestFile { path, text })
    }

    /// Returns the paths of the `.kx` files whose algorithms this file lists, each once.
    pub fn language_files(&self) -> Vec<String> {
        let Ok(document) = toml_edit::Document::parse(&self.text) else { return Vec::new() };
        let models = document.as_table().get("model").and_then(|item| item.as_array_of_tables());
        let mut paths: Vec<String> = models
            .into_iter()
            .flat_map(|models| models.iter())
            .filter_map(|model| model.get("algorithm")?.as_str())
            .map(|id| id.strip_suffix(registry::NAMES).unwrap_or(id))
            .filter(|id| id.ends_with(hallpass_language::EXTENSION))
            .map(String::from)
            .collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// Returns whether this is the file of the folder that registers `algorithm`.
    pub(super) fn is_of(&self, algorithm: &str) -> bool {
        let Ok((entry, _)) = registry::entry(algorithm) else { return false };
        let has = |family: &&registry::Family| family.entries.iter().any(|it| it.id == entry.id);
        registry::families().find(has).is_some_and(|family| self.path.ends_with(path(family)))
    }

    /// Returns the error, with the name of the file added.
    pub(super) fn error(&self, error: &Error) -> Error {
        Error::new(format!("{}: {error}", self.path.display()))
    }
}

fn path(family: &registry::Family) -> PathBuf {
    Path::new(SOURCES).join(family.folder).join("atlas.toml")
}
