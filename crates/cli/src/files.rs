//! Files that are written whole or not at all.

use std::{
    io::{self, Write},
    path::Path,
};

/// Writes `text` to a new file beside `path` and puts it in its place.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The same, with an error that names the file.
pub fn save(path: &Path, text: &str) -> Result<(), String> {
    write_whole(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
