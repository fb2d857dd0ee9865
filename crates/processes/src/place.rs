//! Where halls live.

use std::{
    env,
    fs::{self, DirBuilder},
    io::ErrorKind,
    os::{
        fd::OwnedFd,
        unix::{
            self,
            fs::{DirBuilderExt, MetadataExt, PermissionsExt},
        },
    },
    path::{Path, PathBuf},
    sync::atomic::Ordering::SeqCst,
};

use hallpass_common::{check_name, check_slots};
use rustix::{
    fs::{CWD, Mode, OFlags, RenameFlags, openat, renameat_with},
    io::Errno,
    process::getuid,
};

use crate::{
    Error,
    dir::{More, NewDir},
    file::{HALL, Words},
    hall::SharedHall,
};

/// A directory with halls in it, each of which is a directory with a mapped file `hall` and the pipes of
/// those who use it; and, for a [`SharedCell`](crate::SharedCell), with a file `value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    path: PathBuf,
    audience: Audience,
}

/// For whom halls that are made in a place are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Audience {
    /// Whoever may write to the directory.
    AsItIs,
    /// This user; and the directory, which lies where anybody could make it, must be this user's.
    Owner,
    /// Everybody.
    All,
}

/// Halls in the making, or being removed, begin with this; names cannot.
const HIDDEN: &str = ".";

impl Place {
    /// The halls of this user: in `$HALLPASS_DIR`; else in `$XDG_RUNTIME_DIR/hallpass`, or in
    /// `/run/user/UID/hallpass` where cron has not set that; else in `/tmp/hallpass-UID`.
    ///
    /// # Errors
    /// If the last of these is there and somebody else's.
    pub fn user() -> Result<Place, Error> {
        let from = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        if let Some(dir) = from("HALLPASS_DIR") {
            return Ok(Place::at(dir));
        }
        if let Some(dir) = from("XDG_RUNTIME_DIR") {
            return Ok(Place::at(Path::new(&dir).join("hallpass")));
        }
        let uid = getuid().as_raw();
        let run = PathBuf::from(format!("/run/user/{uid}"));
        if fs::metadata(&run).is_ok_and(|dir| dir.is_dir() && dir.uid() == uid) {
            return Ok(Place::at(run.join("hallpass")));
        }
        let path = PathBuf::from(format!("/tmp/hallpass-{uid}"));
        let place = Place { path, audience: Audience::Owner };
        place.check_owner()?;
        Ok(place)
    }

    /// The halls that all users share: in `/run/lock/hallpass`. Whoever uses it first makes it, and may
    /// remove what is in it; on a machine with users who do not trust each other, that should be root.
    pub fn system() -> Place {
        Place { path: "/run/lock/hallpass".into(), audience: Audience::All }
    }

    /// The halls in this directory, which is made if it is not there. Who may use them is as the
    /// permissions of a directory that was there say, and this user alone in a new one.
    pub fn at(path: impl Into<PathBuf>) -> Place {
        Place { path: path.into(), audience: Audience::AsItIs }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the hall `name`, or makes it with `k` slots.
    ///
    /// # Errors
    /// If it has another number of slots, and whatever else [`Error`] lists.
    pub fn open(&self, name: &str, k: usize) -> Result<SharedHall, Error> {
        self.open_with(name, k, &|_| Ok(()))
    }

    /// The same; what is made new has besides in its directory what `more` makes there.
    pub(crate) fn open_with(&self, name: &str, k: usize, more: More) -> Result<SharedHall, Error> {
        check_name(name)?;
        check_slots(k)?;
        for _ in 0..TRIES {
            let hall = match self.open_existing(name) {
                Err(Error::Missing { .. }) => {
                    self.create(name, k, more)?;
                    continue; // whoever made it
                }
                hall => hall?,
            };
            return match hall.slots() {
                0 => Err(Error::Closed),
                found if found == k => Ok(hall),
                found => Err(Error::Slots { name: name.into(), asked: k, found }),
            };
        }
        Err(Error::Missing { name: name.into(), place: self.path.clone() })
    }

    /// Opens a hall that is there.
    ///
    /// # Errors
    /// [`Error::Missing`] if it is not, and whatever else [`Error`] lists.
    pub fn open_existing(&self, name: &str) -> Result<SharedHall, Error> {
        check_name(name)?;
        self.check_owner()?;
        let path = self.path.join(name);
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let dir: OwnedFd = match openat(CWD, &path, flags, Mode::empty()) {
            Ok(dir) => dir,
            Err(Errno::NOENT) => {
                return Err(Error::Missing { name: name.into(), place: self.path.clone() });
            }
            Err(Errno::NOTDIR | Errno::LOOP) => {
                return Err(Error::Damaged { path, why: "not a directory".into() });
            }
            Err(error) => return Err(Error::system("open", path)(error)),
        };
        SharedHall::in_dir(name, path, dir)
    }

    /// The names of the halls, in order.
    ///
    /// # Errors
    /// If the directory is there and cannot be read.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::system("read", &self.path)(error)),
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| check_name(name).is_ok())
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Removes a hall. Who waits gets [`Error::Closed`]; who is in, if it is forced, stays in.
    ///
    /// # Errors
    /// [`Error::InUse`] unless it is forced; [`Error::Missing`]; what the operating system refuses.
    pub fn remove(&self, name: &str, force: bool) -> Result<(), Error> {
        let damaged = |error: &Error| {
            matches!(error, Error::Damaged { .. } | Error::Version { .. } | Error::System { .. })
        };
        match self.open_existing(name) {
            Ok(hall) => {
                if !force {
                    hall.reap()?;
                    let status = hall.status();
                    let (holders, waiting) = (status.holders.len(), status.waiters.len());
                    if holders + waiting > 0 {
                        return Err(Error::InUse { name: name.into(), holders, waiting });
                    }
                }
                let slots = hall.inner.words.size();
                let k = slots.swap(0, SeqCst);
                // Somebody may have come in since.
                let holders = hall.status().holders.len();
                if !force && holders > 0 {
                    slots.store(k, SeqCst);
                    return Err(Error::InUse { name: name.into(), holders, waiting: 0 });
                }
                hall.close();
            }
            Err(error) if force && damaged(&error) => {}
            Err(error) => return Err(error),
        }
        // Out of sight first, so that nobody finds half a hall.
        let path = self.path.join(name);
        let hidden = self.hidden("old");
        fs::rename(&path, &hidden).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::Missing { name: name.into(), place: self.path.clone() },
            _ => Error::system("remove", &path)(error),
        })?;
        let removed = match fs::symlink_metadata(&hidden) {
            Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(&hidden),
            _ => fs::remove_file(&hidden),
        };
        removed.map_err(Error::system("remove", hidden))
    }

    /// Makes the hall, whole or not at all. That somebody else has made it is fine.
    fn create(&self, name: &str, k: usize, more: More) -> Result<(), Error> {
        self.create_itself()?;
        let mode = self.mode()?;
        let hidden = self.hidden("new");
        DirBuilder::new()
            .mode(mode)
            .create(&hidden)
            .map_err(Error::system("make a directory in", &self.path))?;
        let made = self.fill(&hidden, mode, k, more).and_then(|()| {
            let path = self.path.join(name);
            match renameat_with(CWD, &hidden, CWD, &path, RenameFlags::NOREPLACE) {
                Ok(()) => Ok(true),
                Err(Errno::EXIST) => Ok(false),
                Err(error) => Err(Error::system("make", path)(error)),
            }
        });
        if !matches!(made, Ok(true)) {
            let _ = fs::remove_dir_all(&hidden);
        }
        made.map(drop)
    }

    fn fill(&self, hidden: &Path, mode: u32, k: usize, more: More) -> Result<(), Error> {
        if mode & SET_GROUP != 0 {
            let group = self.metadata()?.gid();
            unix::fs::chown(hidden, None, Some(group)).map_err(Error::system("make", hidden))?;
        }
        // The umask is not for directories that others are meant to use.
        fs::set_permissions(hidden, fs::Permissions::from_mode(mode))
            .map_err(Error::system("make", hidden))?;
        let dir = NewDir { path: hidden, mode };
        let (file, path) = dir.file(HALL)?;
        Words::create(&file, &path, k)?;
        more(&dir)
    }

    /// Makes the directory itself, if it is not there.
    fn create_itself(&self) -> Result<(), Error> {
        if self.path.is_dir() {
            return self.check_owner();
        }
        let failed = |error: std::io::Error| Error::system("make", &self.path)(error);
        let parent = self.path.parent().unwrap_or(Path::new("/"));
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
        // With its permissions or not at all: others would be shut out for ever.
        let hidden = parent.join(format!("{HIDDEN}hallpass-{:016x}", random()));
        let mode = if self.audience == Audience::All { 0o1777 } else { 0o700 };
        DirBuilder::new().mode(0o700).create(&hidden).map_err(failed)?;
        let made = fs::set_permissions(&hidden, fs::Permissions::from_mode(mode)).and_then(|()| {
            let made = renameat_with(CWD, &hidden, CWD, &self.path, RenameFlags::NOREPLACE);
            Ok(made?)
        });
        match made {
            Ok(()) => Ok(()),
            Err(error) => {
                let _ = fs::remove_dir(&hidden);
                // Somebody else was faster.
                if error.kind() == ErrorKind::AlreadyExists {
                    self.check_owner()
                } else {
                    Err(failed(error))
                }
            }
        }
    }

    /// Refuses a directory that somebody else made where only this user's may be.
    fn check_owner(&self) -> Result<(), Error> {
        let Audience::Owner = self.audience else { return Ok(()) };
        let uid = getuid().as_raw();
        match fs::symlink_metadata(&self.path) {
            Ok(dir) if !dir.is_dir() || dir.uid() != uid || dir.mode() & 0o022 != 0 => {
                let (path, source) = (self.path.clone(), ErrorKind::PermissionDenied.into());
                Err(Error::System { doing: "trust what somebody else made as", path, source })
            }
            _ => Ok(()),
        }
    }

    fn metadata(&self) -> Result<fs::Metadata, Error> {
        fs::metadata(&self.path).map_err(Error::system("look at", &self.path))
    }

    /// The permissions of what is made here: for the same classes as may write to the directory.
    fn mode(&self) -> Result<u32, Error> {
        if self.audience == Audience::All {
            return Ok(0o777);
        }
        let dir = self.metadata()?.mode();
        let group = if dir & 0o020 != 0 { SET_GROUP | 0o070 } else { 0 };
        let others = if dir & 0o002 != 0 { 0o007 } else { 0 };
        Ok(0o700 | group | others)
    }

    /// A path that no hall has.
    fn hidden(&self, what: &str) -> PathBuf {
        self.path.join(format!("{HIDDEN}{what}-{:016x}", random()))
    }
}

/// Lets what is made in a directory belong to its group.
const SET_GROUP: u32 = 0o2000;

fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

/// How often a hall is made anew that somebody removes meanwhile.
const TRIES: usize = 100;
