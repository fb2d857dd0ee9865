//! The descriptors by which the command keeps the slot. They are descriptors of the *lifeline*, a pipe: if hallpass is
//! killed, the slot stays taken while another process has the pipe open.

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{Mode, OFlags, fcntl_getfl, open},
    io::{FdFlags, dup2, fcntl_dupfd_cloexec, fcntl_setfd},
};

/// The lowest number for the second descriptor of the lifeline. Scripts use small numbers for their own files, and
/// may close the first descriptor by accident. This number is below 64, so that even a low limit on open files allows
/// it.
const HIGH: i32 = 60;

/// A low descriptor that is reserved for the lifeline before hallpass opens other files.
pub struct LowDescriptor(OwnedFd);

/// Two descriptors of the lifeline that the command inherits.
///
/// When a process dies, Linux releases its open files in descending order of their descriptors. For a file with several
/// descriptors, the highest one counts. So the first descriptor of the lifeline has a low number: a lock or a port of
/// the command has a higher number, and is free when the slot becomes free. The first descriptor is opened separately,
/// because a duplicate would be released together with the second one.
pub struct InheritedLifeline {
    _low: OwnedFd,
    _high: OwnedFd,
}

/// What happens to the slot if hallpass is killed while the command runs.
pub enum SlotAfterUs<'a> {
    /// The command, and the [warden](super::warden) if there is one, keep the slot. The command inherits these
    /// descriptors.
    Kept(InheritedLifeline),
    /// `--close`: the slot becomes free. The command does not inherit this lifeline, and the warden closes its copy.
    Freed(BorrowedFd<'a>),
}

impl SlotAfterUs<'_> {
    /// Returns the descriptors that the command inherits, if any.
    pub fn inherited(self) -> Option<InheritedLifeline> {
        match self {
            SlotAfterUs::Kept(lifeline) => Some(lifeline),
            SlotAfterUs::Freed(_) => None,
        }
    }
}

impl LowDescriptor {
    /// Reserves the lowest descriptor that the caller of hallpass has left free.
    pub fn reserve() -> io::Result<Self> {
        Ok(LowDescriptor(open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// Replaces the reserved descriptor with the lifeline.
    pub fn replace_by(self, lifeline: BorrowedFd<'_>) -> io::Result<InheritedLifeline> {
        let LowDescriptor(mut low) = self;
        match reopen(lifeline) {
            Ok(reopened) => dup2(&reopened, &mut low)?,
            // Without /proc, the command inherits two descriptors of one open file.
            Err(_) => dup2(lifeline, &mut low)?,
        }
        let high = fcntl_dupfd_cloexec(lifeline, HIGH)
            // The limit on open files may be lower than `HIGH`.
            .or_else(|_| fcntl_dupfd_cloexec(lifeline, 0))?;
        fcntl_setfd(&high, FdFlags::empty())?;
        Ok(InheritedLifeline { _low: low, _high: high })
    }
}

/// Opens the pipe once more, for reading or writing as before.
fn reopen(pipe: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let access = fcntl_getfl(pipe)? & OFlags::ACCMODE;
    let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    Ok(open(path, access | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?)
}
