//! Where halls live.

use std::{
    env,
    fs::{self, DirBuilder, File, OpenOptions},
    io::ErrorKind,
    os::{
        fd::OwnedFd,
        unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, RenameFlags, openat, renameat_with},
    io::Errno,
    process::getuid,
};

use crate::{
    Error,
    file::Words,
    hall::{SharedHall, check_slots},
};

/// A directory with halls in it, each of which is a directory with a mapped file `hall` and the pipes of
/// those who use it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    path: PathBuf,
    /// Whether halls that are made here are for everybody.
    for_all: bool,
}

/// The longest name a hall can have: names of files have an end.
const LONGEST_NAME: usize = 200;

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
        match fs::symlink_metadata(&path) {
            Ok(dir) if !dir.is_dir() || dir.uid() != uid || dir.mode() & 0o022 != 0 => {
                let source = std::io::Error::from(ErrorKind::PermissionDenied);
                Err(Error::System { doing: "trust what somebody else made as", path, source })
            }
            _ => Ok(Place::at(path)),
        }
    }

    /// The halls that all users share: in `/run/lock/hallpass`.
    pub fn system() -> Place {
        Place { path: "/run/lock/hallpass".into(), for_all: true }
    }

    /// The halls in this directory, which is made if it is not there. Who may use them is as the
    /// permissions of a directory that was there say, and this user alone in a new one.
    pub fn at(path: impl Into<PathBuf>) -> Place {
        Place { path: path.into(), for_all: false }
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
        check_name(name)?;
        check_slots(k)?;
        for _ in 0..TRIES {
            let hall = match self.open_existing(name) {
                Err(Error::Missing { .. }) => {
                    self.create(name, k)?;
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
                    let (holders, waiting) = (status.holders.len(), status.queue.len());
                    if holders + waiting > 0 {
                        return Err(Error::InUse { name: name.into(), holders, waiting });
                    }
                }
                hall.close();
            }
            Err(error) if force && damaged(&error) => {}
            Err(error) => return Err(error),
        }
        // Out of sight first, so that nobody finds half a hall.
        let path = self.path.join(name);
        let hidden = self.hidden("old");
        fs::rename(&path, &hidden).map_err(Error::system("remove", &path))?;
        let removed = match fs::symlink_metadata(&hidden) {
            Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(&hidden),
            _ => fs::remove_file(&hidden),
        };
        removed.map_err(Error::system("remove", hidden))
    }

    /// Makes the hall, whole or not at all. That somebody else has made it is fine.
    fn create(&self, name: &str, k: usize) -> Result<(), Error> {
        self.create_itself()?;
        let mode = if self.for_all { 0o777 } else { self.mode()? };
        let hidden = self.hidden("new");
        DirBuilder::new()
            .mode(mode)
            .create(&hidden)
            .map_err(Error::system("make a directory in", &self.path))?;
        let made = self.fill(&hidden, mode, k).and_then(|()| {
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

    fn fill(&self, hidden: &Path, mode: u32, k: usize) -> Result<(), Error> {
        // The umask is not for directories that others are meant to use.
        fs::set_permissions(hidden, fs::Permissions::from_mode(mode))
            .map_err(Error::system("make", hidden))?;
        let path = hidden.join("hall");
        let file: File = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(mode & 0o666)
            .open(&path)
            .map_err(Error::system("make", &path))?;
        file.set_permissions(fs::Permissions::from_mode(mode & 0o666))
            .map_err(Error::system("make", &path))?;
        Words::create(&file, &path, k)
    }

    /// Makes the directory itself, if it is not there.
    fn create_itself(&self) -> Result<(), Error> {
        if self.path.is_dir() {
            return Ok(());
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.path)
            .map_err(Error::system("make", &self.path))?;
        if self.for_all {
            // As /tmp is: everybody may make halls, and remove only their own.
            fs::set_permissions(&self.path, fs::Permissions::from_mode(0o1777))
                .map_err(Error::system("make", &self.path))?;
        }
        Ok(())
    }

    /// The permissions of what is made here: the same classes as may write to the directory.
    fn mode(&self) -> Result<u32, Error> {
        let dir = fs::metadata(&self.path).map_err(Error::system("look at", &self.path))?;
        let classes = [(0o020, 0o070), (0o002, 0o007)];
        let others = classes.into_iter().filter(|(bit, _)| dir.mode() & bit != 0);
        Ok(others.fold(0o700, |mode, (_, all)| mode | all))
    }

    /// A path that no hall has.
    fn hidden(&self, what: &str) -> PathBuf {
        use std::hash::{BuildHasher, RandomState};
        let random = RandomState::new().hash_one(std::process::id());
        self.path.join(format!("{HIDDEN}{what}-{random:016x}"))
    }
}

/// How often a hall is made anew that somebody removes meanwhile.
const TRIES: usize = 100;

/// Whether a hall can have that name.
fn check_name(name: &str) -> Result<(), Error> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.len() > LONGEST_NAME {
        "it is longer than 200 bytes"
    } else if name.contains('/') {
        "it contains a slash"
    } else if name.starts_with(HIDDEN) {
        "it begins with a dot"
    } else if name.chars().any(char::is_control) {
        "it contains a control character"
    } else {
        return Ok(());
    };
    Err(Error::BadName { name: name.into(), why })
}
