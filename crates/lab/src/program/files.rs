//! Writes files completely or not at all.

use std::{
    fs::{self, Permissions},
    io::{self, Write},
    path::Path,
};

/// Writes `text` to a new file beside `path`, and renames this file to `path`. Keeps the permissions of
/// an existing file, and follows a symbolic link. If `path` is not a regular file, such as a terminal,
/// writes directly to it.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(&target).is_ok_and(|data| !data.is_file()) {
        return fs::OpenOptions::new().write(true).open(&target)?.write_all(text.as_bytes());
    }
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

/// Returns the permissions of a new file, before the umask.
#[cfg(unix)]
fn usual_permissions() -> Option<Permissions> {
    Some(std::os::unix::fs::PermissionsExt::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}

/// Checks that `path` can be written. Call this before a long computation.
pub fn check(path: &Path) -> Result<(), String> {
    let refuse = |why: &str| Err(format!("cannot write {}: {why}", path.display()));
    let data = fs::metadata(path);
    if data.as_ref().is_ok_and(|data| data.is_dir()) {
        return refuse("it is a directory; name a file");
    }
    if data.as_ref().is_ok_and(|data| data.permissions().readonly()) {
        return refuse("it is read-only");
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            refuse("its directory does not exist; create it first")
        }
        _ => Ok(()),
    }
}

/// Works like [`write_whole`]. The error names the file.
pub fn save(path: &Path, text: &str) -> Result<(), String> {
    check(path)?;
    let what = |error: io::Error| format!("cannot write {}: {}", path.display(), error.kind());
    write_whole(path, text).map_err(what)
}
