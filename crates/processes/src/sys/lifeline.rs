//! Lifelines: one named pipe per registration. The name of the pipe contains a number, the *identity* of its owner. The
//! registered process has the reading end open. Processes that inherit it from the registered process have it open too;
//! all others open only the writing end.
//!
//! A process that opens the writing end learns from the kernel whether the owner of the lifeline is alive. If the
//! pipe has no reader, its writing end cannot be opened. When the last reader closes the pipe, a poll on the writing
//! end returns immediately. This works for every process that sees the file, in any PID namespace, and even if PIDs are
//! reused. A byte written to the lifeline wakes its owner.

use std::{
    ffi::{CString, OsStr},
    io,
    mem::ManuallyDrop,
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{AtFlags, FileType, Mode, OFlags, chmodat, fstat, mknodat, openat, unlinkat},
    io::{DupFlags, Errno, dup3},
};

/// The identity that no owner of a lifeline has.
pub(crate) const NOBODY: i64 = 0;

/// The beginning of the file name of a lifeline. It is part of the format, so that versions of hallpass can share
/// a hall.
const PREFIX: &str = "wire.";

fn name(id: i64) -> CString {
    CString::new(format!("{PREFIX}{id:x}")).expect("a number contains no zero byte")
}

/// Returns the identity whose lifeline has this file name.
pub(crate) fn id_of(name: &OsStr) -> Option<i64> {
    let id = name.to_str()?.strip_prefix(PREFIX)?;
    Some(u64::from_str_radix(id, 16).ok()? as i64)
}

/// The permissions of a lifeline. The directory decides which users can reach the lifeline. Each of these users
/// must be able to open it. For example, root may use a hall in the private directory of another user, who must be
/// able to open the lifelines of root.
const MODE: Mode = Mode::from_raw_mode(0o666);

/// Creates the lifeline of `id` in the directory `hall` and opens its reading end.
pub(crate) fn create(hall: BorrowedFd<'_>, id: i64) -> io::Result<OwnedFd> {
    let name = name(id);
    mknodat(hall, &name, FileType::Fifo, MODE, 0)?;
    // The umask may have removed permissions.
    let opened = chmodat(hall, &name, MODE, AtFlags::empty()).and_then(|()| {
        // Also open the lifeline for writing. Otherwise a poll would return whenever the last other writer closes it.
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        openat(hall, &name, flags, Mode::empty())
    });
    if opened.is_err() {
        remove(hall, id);
    }
    Ok(opened?)
}

/// Removes the lifeline of `id`, if this process may do so.
pub(crate) fn remove(hall: BorrowedFd<'_>, id: i64) {
    // A lifeline that cannot be removed does no harm, because its identity is not used again.
    let _ = unlinkat(hall, name(id), AtFlags::empty());
}

/// Result of opening the writing end of a lifeline.
pub(crate) enum Reached {
    /// The owner is alive; this is the writing end.
    Alive(OwnedFd),
    /// No process reads the lifeline any more.
    Dead,
    /// The lifeline could not be opened, because this process or the machine has no free descriptor.
    NoDescriptor,
    /// The file is missing, is not a pipe, or this process has no right to open it. Its owner may be alive, so callers
    /// must treat the owner as alive.
    Unknown,
}

/// Opens the writing end of the lifeline of `id`.
pub(crate) fn reach(hall: BorrowedFd<'_>, id: i64) -> Reached {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match openat(hall, name(id), flags, Mode::empty()) {
        Ok(lifeline) => match fstat(&lifeline) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Fifo => {
                Reached::Alive(lifeline)
            }
            _ => Reached::Unknown,
        },
        Err(Errno::NXIO) => Reached::Dead,
        Err(Errno::MFILE | Errno::NFILE) => Reached::NoDescriptor,
        Err(_) => Reached::Unknown,
    }
}

/// Closes this process's copy of a lifeline that it has inherited by a fork. The values that own the descriptor are
/// never dropped in this process, so the descriptor must stay valid: it becomes a copy of `hall`.
pub(crate) fn close_inherited(lifeline: &OwnedFd, hall: BorrowedFd<'_>) {
    // SAFETY: the descriptor is open, because `lifeline` owns it. `ManuallyDrop` prevents a second close.
    let mut descriptor = ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(lifeline.as_raw_fd()) });
    // If this fails, the lifeline stays open until this process ends, as without this function.
    let _ = dup3(hall, &mut descriptor, DupFlags::CLOEXEC);
}

/// Reads all bytes from the lifeline of this process. Returns `true` if there were any.
pub(crate) fn drain(lifeline: &OwnedFd) -> bool {
    let mut buffer = [0; 64];
    let mut any = false;
    while matches!(rustix::io::read(lifeline.as_fd(), &mut buffer), Ok(1..)) {
        any = true;
    }
    any
}

/// Returns `true` if no process reads the lifeline any more. `lifeline` is a writing end.
pub(crate) fn is_gone(lifeline: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(lifeline, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok_and(|count| count > 0)
}

/// Result of [`sleep`].
pub(crate) struct Woken {
    /// Whether no lifeline reported an event. Then the time is over, or a signal came.
    pub silent: bool,
    /// For each watched lifeline, in the given order, whether it has lost its reader.
    pub gone: Vec<bool>,
}

/// Sleeps until a byte arrives on the lifeline of this process, a watched lifeline loses its reader, or the time
/// is over.
pub(crate) fn sleep<'a>(
    own: &'a OwnedFd,
    watched: impl Iterator<Item = &'a OwnedFd>,
    time: Duration,
) -> Woken {
    let mut fds = vec![PollFd::new(own, PollFlags::IN)];
    // These entries request no events, because the kernel always reports a lost reader.
    fds.extend(watched.map(|lifeline| PollFd::new(lifeline, PollFlags::empty())));
    let time = time.try_into().ok();
    // A signal also ends the sleep. The caller looks again in any case.
    let reports = poll(&mut fds, time.as_ref()).unwrap_or(0);
    let gone = fds[1..].iter().map(|fd| !fd.revents().is_empty()).collect();
    Woken { silent: reports == 0, gone }
}
