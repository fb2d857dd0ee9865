//! Creates halls and directories of halls, so that other processes see them complete or not at all.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    os::unix::{
        self,
        fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

use super::{AddFiles, Audience, HIDDEN, HallDir, random};
use crate::{
    Error,
    hall_file::{HALL, HallFile},
    sys,
};

/// Permission bit of a directory: new files in it belong to its group.
const SET_GROUP: u32 = 0o2000;
/// Permission bits for users who are neither the owner nor in the group.
const OTHERS: u32 = 0o007;

/// The directory of a new hall, which no other process sees yet.
pub(crate) struct NewDir<'a> {
    path: &'a Path,
    /// The permissions of the directory.
    mode: u32,
}

impl NewDir<'_> {
    /// Creates a file in the directory, with the permissions of the hall.
    pub(crate) fn file(&self, name: &str) -> Result<(File, PathBuf), Error> {
        let path = self.path.join(name);
        let mode = self.mode & 0o666;
        let mut options = OpenOptions::new();
        let created = options.read(true).write(true).create_new(true).mode(mode).open(&path);
        let file = created.map_err(Error::system("create", &path))?;
        // The umask may have removed permissions.
        file.set_permissions(fs::Permissions::from_mode(mode))
            .map_err(Error::system("create", &path))?;
        Ok((file, path))
    }
}

impl HallDir {
    /// Creates a hall. Also succeeds if another process has created it in the meantime.
    pub(super) fn create(&self, name: &str, k: usize, add: AddFiles<'_>) -> Result<(), Error> {
        self.create_dir()?;
        self.sweep();
        let mode = self.mode()?;
        let hidden = self.hidden("new");
        DirBuilder::new()
            .mode(mode)
            .create(&hidden)
            .map_err(Error::system("create a directory in", &self.path))?;
        let created = self.fill(&hidden, mode, k, add).and_then(|()| {
            let path = self.path.join(name);
            sys::rename_new(&hidden, &path).map_err(Error::system("create", path))
        });
        if !matches!(created, Ok(true)) {
            let _ = fs::remove_dir_all(&hidden);
        }
        created.map(drop)
    }

    fn fill(&self, hidden: &Path, mode: u32, k: usize, add: AddFiles<'_>) -> Result<(), Error> {
        let mut mode = mode;
        if mode & SET_GROUP != 0 {
            let group = self.metadata()?.gid();
            match unix::fs::chown(hidden, None, Some(group)) {
                Ok(()) => {}
                // The user is not a member of the group of the directory, for example in /tmp. The hall then does not
                // need this group, because all other users have the same permissions.
                Err(_) if mode & OTHERS == OTHERS => mode &= !SET_GROUP,
                Err(error) => return Err(Error::system("create", hidden)(error)),
            }
        }
        // The umask may have removed permissions.
        fs::set_permissions(hidden, fs::Permissions::from_mode(mode))
            .map_err(Error::system("create", hidden))?;
        let dir = NewDir { path: hidden, mode };
        let (file, path) = dir.file(HALL)?;
        HallFile::create(&file, &path, k)?;
        add(&dir)
    }

    /// Creates the directory itself, if it does not exist.
    fn create_dir(&self) -> Result<(), Error> {
        if self.path.is_dir() {
            return self.check_owner();
        }
        let failed = |error: std::io::Error| Error::system("create", &self.path)(error);
        let parent = self.path.parent().unwrap_or(Path::new("/"));
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
        // Create the directory under a hidden name, and rename it when it has its permissions. Otherwise a process
        // that is killed before it sets the permissions could lock other users out permanently.
        let hidden = parent.join(format!("{HIDDEN}hallpass-{:016x}", random()));
        let mode = if self.audience == Audience::All { 0o1777 } else { 0o700 };
        DirBuilder::new().mode(0o700).create(&hidden).map_err(failed)?;
        let created = fs::set_permissions(&hidden, fs::Permissions::from_mode(mode))
            .and_then(|()| sys::rename_new(&hidden, &self.path));
        if !matches!(created, Ok(true)) {
            let _ = fs::remove_dir(&hidden);
        }
        match created.map_err(failed)? {
            true => Ok(()),
            false => self.check_owner(), // another process was faster
        }
    }

    fn metadata(&self) -> Result<fs::Metadata, Error> {
        fs::metadata(&self.path).map_err(Error::system("inspect", &self.path))
    }

    /// Returns the permissions of new halls. The classes of users that may write to the directory may use its halls.
    fn mode(&self) -> Result<u32, Error> {
        if self.audience == Audience::All {
            return Ok(0o777);
        }
        let dir = self.metadata()?.mode();
        let group = if dir & 0o020 != 0 { SET_GROUP | 0o070 } else { 0 };
        let others = if dir & 0o002 != 0 { OTHERS } else { 0 };
        Ok(0o700 | group | others)
    }
}
