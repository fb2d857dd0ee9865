//! Halls that processes share.
#![allow(missing_docs, unused)]

use std::{
    fmt,
    os::fd::BorrowedFd,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

/// The most slots a hall can have.
pub const MOST_SLOTS: usize = 1024;

/// Where halls live: a directory.
#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
}

impl Place {
    /// `$HALLPASS_DIR`, else `$XDG_RUNTIME_DIR/hallpass`, else `/run/user/UID/hallpass` where that is, else
    /// `/tmp/hallpass-UID`.
    pub fn user() -> Result<Place, Error> {
        todo!()
    }
    /// `/run/lock/hallpass`: halls that all users share.
    pub fn system() -> Place {
        todo!()
    }
    pub fn at(path: impl Into<PathBuf>) -> Place {
        todo!()
    }
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// Opens the hall, or makes it with `k` slots. An error if it has another number of slots.
    pub fn open(&self, name: &str, k: usize) -> Result<SharedHall, Error> {
        todo!()
    }
    /// Opens a hall that is there.
    pub fn open_existing(&self, name: &str) -> Result<SharedHall, Error> {
        todo!()
    }
    /// The names of the halls, sorted. None if there is no such directory yet.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        todo!()
    }
    /// Removes a hall; `Error::InUse` while somebody holds or waits, unless forced. Also a damaged one, forced.
    pub fn remove(&self, name: &str, force: bool) -> Result<(), Error> {
        todo!()
    }
}

/// A hall. Cheap to clone; all clones are one handle.
#[derive(Clone)]
pub struct SharedHall {}

impl SharedHall {
    /// `Place::user()?.open(name, k)`.
    pub fn open(name: &str, k: usize) -> Result<SharedHall, Error> {
        Place::user()?.open(name, k)
    }
    pub fn name(&self) -> &str {
        todo!()
    }
    pub fn slots(&self) -> usize {
        todo!()
    }
    pub fn available(&self) -> usize {
        todo!()
    }
    pub fn waiting(&self) -> usize {
        todo!()
    }
    /// Waits its turn.
    pub fn acquire(&self) -> Result<SharedPass, Error> {
        todo!()
    }
    /// `Error::NoPermits` if no slot is free or somebody waits.
    pub fn try_acquire(&self) -> Result<SharedPass, Error> {
        todo!()
    }
    /// `Error::NoPermits` if the time is over.
    pub fn try_acquire_for(&self, time: Duration) -> Result<SharedPass, Error> {
        todo!()
    }
    pub fn try_acquire_until(&self, until: Instant) -> Result<SharedPass, Error> {
        todo!()
    }
    /// Changes the number of slots, live. Who holds a slot that is no more keeps it until it leaves.
    pub fn resize(&self, k: usize) -> Result<(), Error> {
        todo!()
    }
    /// Waiters get `Error::Closed`, and so does everybody who comes.
    pub fn close(&self) {
        todo!()
    }
    pub fn is_closed(&self) -> bool {
        todo!()
    }
    /// Who holds and who waits.
    pub fn status(&self) -> Status {
        todo!()
    }
    /// Frees what the dead hold, and says how many of those who were known had died.
    pub fn reap(&self) -> Result<usize, Error> {
        todo!()
    }
    /// What `status` shows as this process's command. Without it, the process's own command line.
    pub fn describe_as(&self, command: &str) {
        todo!()
    }
}

/// A slot, held until this is dropped.
#[must_use = "dropping a pass gives the slot back at once"]
pub struct SharedPass {}

impl SharedPass {
    pub fn slot(&self) -> usize {
        todo!()
    }
    /// While any process has this open, the slot stays taken even if this process dies. Close-on-exec:
    /// a child gets it by `dup`, or by clearing that flag. It is a pipe's reading end; nobody need read it.
    pub fn lifeline(&self) -> BorrowedFd<'_> {
        todo!()
    }
    /// Does not give the slot back: it stays taken until every process that has the lifeline open is
    /// gone (this one included; it keeps it open until it exits or execs).
    pub fn leave_to_lifeline(self) {
        todo!()
    }
}

/// A hall at one moment.
#[derive(Clone, Debug)]
pub struct Status {
    pub name: String,
    pub slots: usize,
    pub closed: bool,
    /// By slot.
    pub holders: Vec<Participant>,
    /// In the order in which they will get in.
    pub queue: Vec<Participant>,
}

#[derive(Clone, Debug)]
pub struct Participant {
    /// The slot it holds; none while it waits.
    pub slot: Option<usize>,
    /// As its own PID namespace numbers it.
    pub pid: u32,
    pub uid: u32,
    pub command: String,
    /// Since when it holds the slot, or waits.
    pub since: SystemTime,
    /// Dead ones are there until somebody frees what they held.
    pub alive: bool,
}

/// Why something did not work. `Display` says it in one sentence, with what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    NoPermits,
    Closed,
    /// No hall of that name.
    Missing {
        name: String,
        place: PathBuf,
    },
    /// It has another number of slots.
    Slots {
        name: String,
        asked: usize,
        found: usize,
    },
    /// The file is of another version.
    Version {
        path: PathBuf,
        found: u32,
        ours: u32,
    },
    /// Not a hall, or damaged.
    Damaged {
        path: PathBuf,
        why: String,
    },
    InUse {
        name: String,
        holders: usize,
        waiting: usize,
    },
    BadName {
        name: String,
        why: &'static str,
    },
    BadSlots {
        asked: usize,
    },
    /// More participants than a hall has room for.
    Full {
        name: String,
        most: usize,
    },
    /// A system call failed.
    System {
        doing: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        todo!()
    }
}
impl std::error::Error for Error {}
