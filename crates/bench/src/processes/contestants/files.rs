//! Locks on a file. When the process that holds such a lock ends, the kernel closes its descriptor of the file, and
//! this releases the lock.
#![allow(unsafe_code)]

use std::{
    fs::File,
    io,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
};

use super::{ProcessSemaphore, only_one};
use crate::common::Semaphore;

/// Creates the file. Each process opens the file itself, because processes that inherit a descriptor share its lock.
fn make(k: usize, folder: &Path) -> Result<PathBuf, String> {
    only_one(k)?;
    let path = folder.join("lock");
    File::create(&path).map_err(|error| error.to_string())?;
    Ok(path)
}

fn open(path: &Path) -> File {
    File::options().read(true).write(true).open(path).expect("`make` created it")
}

/// A lock on a file by `flock(2)`.
pub struct Flock(PathBuf);

pub struct FlockHandle(File);

pub struct FlockGuard<'a>(&'a File);

impl ProcessSemaphore for Flock {
    type Handle = FlockHandle;

    fn make(k: usize, folder: &Path) -> Result<Self, String> {
        make(k, folder).map(Flock)
    }

    fn join(&self) -> FlockHandle {
        FlockHandle(open(&self.0))
    }
}

fn flock(file: &File, operation: libc::c_int) {
    // SAFETY: the descriptor is open.
    while unsafe { libc::flock(file.as_raw_fd(), operation) } != 0 {
        let error = io::Error::last_os_error();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted, "flock: {error}");
    }
}

impl Semaphore for FlockHandle {
    type Guard<'a> = FlockGuard<'a>;

    fn enter(&self, _: usize) -> FlockGuard<'_> {
        flock(&self.0, libc::LOCK_EX);
        FlockGuard(&self.0)
    }
}

impl Drop for FlockGuard<'_> {
    fn drop(&mut self) {
        flock(self.0, libc::LOCK_UN);
    }
}

/// An open file description lock (`F_OFD_SETLKW`).
pub struct Ofd(PathBuf);

pub struct OfdHandle(File);

pub struct OfdGuard<'a>(&'a File);

impl ProcessSemaphore for Ofd {
    type Handle = OfdHandle;

    fn make(k: usize, folder: &Path) -> Result<Self, String> {
        make(k, folder).map(Ofd)
    }

    fn join(&self) -> OfdHandle {
        OfdHandle(open(&self.0))
    }
}

fn ofd(file: &File, kind: libc::c_int) {
    // SAFETY: all zeros are a valid `flock`, which consists of numbers.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    // SAFETY: the descriptor is open, and the pointer is to a `flock`.
    while unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLKW, &lock) } != 0 {
        let error = io::Error::last_os_error();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted, "fcntl: {error}");
    }
}

impl Semaphore for OfdHandle {
    type Guard<'a> = OfdGuard<'a>;

    fn enter(&self, _: usize) -> OfdGuard<'_> {
        ofd(&self.0, libc::F_WRLCK);
        OfdGuard(&self.0)
    }
}

impl Drop for OfdGuard<'_> {
    fn drop(&mut self) {
        ofd(self.0, libc::F_UNLCK);
    }
}
