//! Wires: a named pipe for each member, whose reading end the member alone holds.
//!
//! Whoever opens the writing end learns from the kernel whether the member's process lives: with no
//! reader it cannot be opened, and when the last reader goes, a poll on it ends at once. That works for
//! whoever sees the file, in whatever PID namespace, and a PID that comes again does not matter. What
//! is written to it wakes the member.

use std::{
    ffi::CString,
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{AtFlags, FileType, Mode, OFlags, chmodat, fstat, mknodat, openat, unlinkat},
    io::Errno,
};

/// Never taken for an owner.
pub(crate) const NOBODY: i64 = 0;

fn name(id: i64) -> CString {
    CString::new(format!("wire.{id:x}")).expect("no zero byte in a number")
}

/// Makes the wire of `id` in `hall` and opens its reading end.
pub(crate) fn create(hall: BorrowedFd<'_>, id: i64, mode: Mode) -> io::Result<OwnedFd> {
    let name = name(id);
    mknodat(hall, &name, FileType::Fifo, mode, 0)?;
    // Whatever the umask made of it.
    let opened = chmodat(hall, &name, mode, AtFlags::empty()).and_then(|()| {
        // Open for writing too, so that a poll does not end whenever another writer goes.
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        openat(hall, &name, flags, Mode::empty())
    });
    if opened.is_err() {
        remove(hall, id);
    }
    Ok(opened?)
}

/// Removes the wire of `id`, if that may be done.
pub(crate) fn remove(hall: BorrowedFd<'_>, id: i64) {
    // What cannot be removed is litter, and harms nobody: its number does not come again.
    let _ = unlinkat(hall, name(id), AtFlags::empty());
}

/// What trying to open a writing end tells.
pub(crate) enum Reached {
    /// Its owner lives.
    Alive(OwnedFd),
    /// Nobody reads it any more.
    Dead,
    /// It is not there, or is no wire, or may not be opened. Then nobody knows whether its owner
    /// lives, and it must be taken to.
    Unknown,
}

/// Opens the writing end of the wire of `id`.
pub(crate) fn reach(hall: BorrowedFd<'_>, id: i64) -> Reached {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match openat(hall, name(id), flags, Mode::empty()) {
        Ok(wire) => match fstat(&wire) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Fifo => {
                Reached::Alive(wire)
            }
            _ => Reached::Unknown,
        },
        Err(Errno::NXIO) => Reached::Dead,
        Err(_) => Reached::Unknown,
    }
}

/// Takes out whatever was written to the own wire; says whether anything was.
pub(crate) fn drain(wire: &OwnedFd) -> bool {
    let mut buffer = [0; 64];
    let mut any = false;
    while matches!(rustix::io::read(wire.as_fd(), &mut buffer), Ok(1..)) {
        any = true;
    }
    any
}

/// Whether nobody reads the wire any more whose writing end this is.
pub(crate) fn is_gone(wire: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(wire, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok_and(|count| count > 0)
}
