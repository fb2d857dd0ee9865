//! A hall's directory before it is seen.

use std::{
    fs::{self, File, OpenOptions},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::Error;

/// A hall's directory in the making, which nobody else sees.
pub(crate) struct NewDir<'a> {
    pub path: &'a Path,
    /// Its permissions.
    pub mode: u32,
}

/// What is made in it besides the hall's file.
pub(crate) type More<'a> = &'a dyn Fn(&NewDir<'_>) -> Result<(), Error>;

impl NewDir<'_> {
    /// A new file in it, for those whom the hall is for.
    pub(crate) fn file(&self, name: &str) -> Result<(File, PathBuf), Error> {
        let path = self.path.join(name);
        let mode = self.mode & 0o666;
        let mut options = OpenOptions::new();
        let made = options.read(true).write(true).create_new(true).mode(mode).open(&path);
        let file = made.map_err(Error::system("make", &path))?;
        // The umask is not for files either.
        file.set_permissions(fs::Permissions::from_mode(mode))
            .map_err(Error::system("make", &path))?;
        Ok((file, path))
    }
}
