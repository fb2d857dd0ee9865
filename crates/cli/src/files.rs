//! Files that are written whole or not at all.

use std::{
    fs::{self, Permissions},
    io::{self, Write},
    path::Path,
};

/// Writes `text` to a new file beside `path` and puts it in its place. A file that was there before
/// keeps its permissions, and a link keeps pointing to it.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    let permissions = fs::metadata(&target).map(|data| data.permissions()).ok();
    if let Some(permissions) = permissions.or_else(usual_permissions) {
        builder.permissions(permissions);
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// What a new file gets; the system takes away what the user's mask forbids.
#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    Some(std::os::unix::fs::PermissionsExt::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}

/// The same, with an error that names the file.
pub fn save(path: &Path, text: &str) -> Result<(), String> {
    write_whole(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
