//! Removes the files that remain if a process is killed while it creates or removes a hall.

use std::{
    fs,
    time::{Duration, SystemTime},
};

use super::{HIDDEN, HallDir};

/// A hidden directory counts as abandoned after this time. A creation or removal takes milliseconds, but its process
/// may be stopped for a while, and must still find its directory when it continues.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// The kinds of hidden directories, as [`HallDir::hidden`] names them.
const KINDS: [&str; 2] = ["new", "old"];

impl HallDir {
    /// Removes hidden directories that a killed process has left behind. Ignores directories that cannot be removed.
    pub(super) fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let is_hidden = entry.file_name().to_str().is_some_and(is_hidden_name);
            let changed = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
            let age = changed.and_then(|time| SystemTime::now().duration_since(time).ok());
            if is_hidden && age.is_some_and(|age| age > ABANDONED) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Returns `true` if the name has the form of the names that [`HallDir::hidden`] makes.
fn is_hidden_name(name: &str) -> bool {
    let Some((kind, number)) = name.strip_prefix(HIDDEN).and_then(|name| name.split_once('-'))
    else {
        return false;
    };
    KINDS.contains(&kind) && number.len() == 16 && number.bytes().all(|b| b.is_ascii_hexdigit())
}
