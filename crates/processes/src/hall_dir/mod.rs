//! Directories that contain halls.

mod create;
mod remove;
mod sweep;

use std::{
    env, fs,
    hash::{BuildHasher, RandomState},
    io::{self, ErrorKind},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use hallpass_common::{check_name, check_slots};
use rustix::{io::Errno, process::getuid};

use crate::{Error, hall::SharedHall, hall_file::HALL, sys};

pub(crate) use create::NewDir;

/// A directory that contains halls.
///
/// Each hall is a directory in it, with a mapped file `hall` and the pipes of the processes that use the
/// hall. A [`SharedCell`](crate::SharedCell) also has a file `value`.
///
/// ```
/// use hallpass_processes::HallDir;
///
/// let temp = tempfile::tempdir()?;
/// let dir = HallDir::at(temp.path());
/// let hall = dir.open("build", 2)?;
/// let pass = hall.acquire()?;
/// assert_eq!((pass.slot(), dir.names()?), (0, vec!["build".to_string()]));
/// drop(pass);
/// dir.remove("build", false)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HallDir {
    path: PathBuf,
    audience: Audience,
}

/// The users for whom halls in a directory are created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Audience {
    /// All users who may write to the directory.
    AsItIs,
    /// This user. The directory is in `/tmp`, where any user can create it first, so its owner is checked.
    Owner,
    /// All users.
    All,
}

/// The first byte of the name of a directory that is being created or removed. The name of a hall cannot begin
/// with it.
const HIDDEN: &str = ".";

/// The number of times that [`HallDir::open`] tries to create a hall if other processes keep removing it.
const TRIES: usize = 100;

/// Adds files to a new hall before other processes see it.
pub(crate) type AddFiles<'a> = &'a dyn Fn(&NewDir<'_>) -> Result<(), Error>;

impl HallDir {
    /// Returns the directory for the halls of this user.
    ///
    /// This is the first of these directories that applies:
    ///
    /// 1. `$HALLPASS_DIR`, if it is set and not empty;
    /// 2. `$XDG_RUNTIME_DIR/hallpass`, if that variable is an absolute path;
    /// 3. `/run/user/UID/hallpass`, if this user owns `/run/user/UID` (cron jobs have no `$XDG_RUNTIME_DIR`);
    /// 4. `/tmp/hallpass-UID`.
    ///
    /// # Errors
    /// Returns [`Error::System`] if case 4 applies and another user owns `/tmp/hallpass-UID` or may write to it.
    pub fn user() -> Result<HallDir, Error> {
        let from = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        if let Some(dir) = from("HALLPASS_DIR") {
            return Ok(HallDir::at(dir));
        }
        // A relative path would name a different directory for each working directory. So the XDG specification, which
        // defines the variable, says to ignore a relative path.
        if let Some(dir) = from("XDG_RUNTIME_DIR").filter(|dir| Path::new(dir).is_absolute()) {
            return Ok(HallDir::at(Path::new(&dir).join("hallpass")));
        }
        let uid = getuid().as_raw();
        let run = PathBuf::from(format!("/run/user/{uid}"));
        if fs::metadata(&run).is_ok_and(|dir| dir.is_dir() && dir.uid() == uid) {
            return Ok(HallDir::at(run.join("hallpass")));
        }
        let path = PathBuf::from(format!("/tmp/hallpass-{uid}"));
        let dir = HallDir { path, audience: Audience::Owner };
        dir.check_owner()?;
        Ok(dir)
    }

    /// Returns the directory for halls that all users share: `/run/lock/hallpass`.
    ///
    /// The first process that opens a hall there creates the directory, and the user of this process may remove all
    /// halls in it. On a machine whose users do not trust each other, this user should be root.
    pub fn system() -> HallDir {
        HallDir { path: "/run/lock/hallpass".into(), audience: Audience::All }
    }

    /// Returns the directory at `path`. If it does not exist, it is created together with its first hall.
    ///
    /// A new directory is private to this user. If the directory exists, all users who may write to it may use its
    /// halls.
    pub fn at(path: impl Into<PathBuf>) -> HallDir {
        HallDir { path: path.into(), audience: Audience::AsItIs }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the hall `name`, or creates it with `k` slots.
    ///
    /// # Errors
    /// - [`Error::Slots`] if the hall exists with a different number of slots.
    /// - [`Error::Closed`] if the hall is closed.
    /// - [`Error::Missing`] if other processes remove the hall again and again before this process can open it.
    /// - [`Error::BadName`] or [`Error::BadSlots`] if no hall can have this name or number of slots.
    /// - [`Error::Damaged`], [`Error::Version`] or [`Error::System`] if the hall cannot be used.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let dir = hallpass_processes::HallDir::at(temp.path());
    /// let hall = dir.open("gpu", 4)?;
    /// assert_eq!(hall.slots(), 4);
    /// assert!(dir.open("gpu", 8).is_err()); // the hall has 4 slots
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(&self, name: &str, k: usize) -> Result<SharedHall, Error> {
        self.open_with(name, k, &|_| Ok(()))
    }

    /// Opens a hall, or creates it with the files that `add` puts into its directory.
    pub(crate) fn open_with(
        &self,
        name: &str,
        k: usize,
        add: AddFiles<'_>,
    ) -> Result<SharedHall, Error> {
        check_name(name)?;
        check_slots(k)?;
        for _ in 0..TRIES {
            let hall = match self.open_existing(name) {
                Err(Error::Missing { .. }) => {
                    self.create(name, k, add)?;
                    continue; // another process may have created it first
                }
                hall => hall?,
            };
            return match hall.slots() {
                0 => Err(Error::Closed),
                found if found == k => Ok(hall),
                found => Err(Error::Slots { name: name.into(), asked: k, found }),
            };
        }
        Err(self.missing(name))
    }

    /// Opens an existing hall, whatever its number of slots is.
    ///
    /// # Errors
    /// - [`Error::Missing`] if there is no hall of this name.
    /// - [`Error::BadName`] if no hall can have this name.
    /// - [`Error::Damaged`], [`Error::Version`] or [`Error::System`] if the hall cannot be used.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let dir = hallpass_processes::HallDir::at(temp.path());
    /// dir.open("gpu", 4)?;
    /// assert_eq!(dir.open_existing("gpu")?.slots(), 4);
    /// assert!(dir.open_existing("other").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_existing(&self, name: &str) -> Result<SharedHall, Error> {
        check_name(name)?;
        self.check_owner()?;
        match self.open_once(name) {
            // Perhaps another process has removed the hall after its directory was opened. Then the name is free now,
            // or belongs to a new hall.
            Err(Error::Damaged { .. }) => self.open_once(name),
            opened => opened,
        }
    }

    fn open_once(&self, name: &str) -> Result<SharedHall, Error> {
        let path = self.path.join(name);
        let dir = match sys::open_dir(&path) {
            Ok(dir) => dir,
            Err(Errno::NOENT) => return Err(self.missing(name)),
            Err(Errno::NOTDIR | Errno::LOOP) => {
                return Err(Error::Damaged { path, why: "it is not a directory".into() });
            }
            Err(error) => return Err(Error::system("open", path)(error)),
        };
        SharedHall::in_dir(name, path, dir)
    }

    /// Returns the names of the halls, sorted. A directory that does not exist contains none.
    ///
    /// # Errors
    /// [`Error::System`] if the directory cannot be read.
    ///
    /// # Examples
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let dir = hallpass_processes::HallDir::at(temp.path());
    /// dir.open("gpu", 4)?;
    /// dir.open("build", 2)?;
    /// assert_eq!(dir.names()?, ["build", "gpu"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::system("read", &self.path)(error)),
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            // A directory without this file is not a hall. A directory in which this user may not look may be a hall.
            .filter(|entry| entry.path().join(HALL).try_exists().unwrap_or(true))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| check_name(name).is_ok())
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    fn missing(&self, name: &str) -> Error {
        Error::Missing { name: name.into(), dir: self.path.clone() }
    }

    /// Fails if the directory must belong to this user, but another user owns it or may write to it.
    fn check_owner(&self) -> Result<(), Error> {
        let Audience::Owner = self.audience else { return Ok(()) };
        let uid = getuid().as_raw();
        match fs::symlink_metadata(&self.path) {
            Ok(dir) if !dir.is_dir() || dir.uid() != uid || dir.mode() & 0o022 != 0 => {
                let why =
                    "it is not a directory of this user alone: remove it, or set HALLPASS_DIR";
                let (path, source) =
                    (self.path.clone(), io::Error::new(ErrorKind::PermissionDenied, why));
                Err(Error::System { doing: "use the directory", path, source })
            }
            _ => Ok(()),
        }
    }

    /// Returns a path that no hall has.
    fn hidden(&self, what: &str) -> PathBuf {
        self.path.join(format!("{HIDDEN}{what}-{:016x}", random()))
    }
}

fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
