//! Waits until a dying process has closed all its files.

use std::{fs, time::Duration};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, pidfd_open},
};

/// The longest wait for a dying process. Closing a file on a network may take longer. After this time, the slot is
/// reassigned anyway.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Waits until the process `pid` has ended, if it is in the middle of exiting.
///
/// The kernel closes the descriptors of a process one after the other. So its lifeline may be closed while the
/// process still has a lock or a port. If the process is in another PID namespace, `pid` may be another process
/// here. This does no harm: that process is usually not exiting, and if it is, the wait is only unnecessary.
#[cold]
pub(crate) fn await_exit(pid: i32) {
    if !is_exiting(pid) {
        return;
    }
    let process = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    if let (Some(process), Ok(limit)) = (process, Timespec::try_from(MAX_WAIT)) {
        // The descriptor is readable once all threads have ended.
        let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit));
    }
}

/// Returns `true` if the main thread of the process executes no further instruction.
fn is_exiting(pid: i32) -> bool {
    /// The flag `PF_EXITING` of the kernel.
    const EXITING: u32 = 4;
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The second field is the name of the program in parentheses. It may contain any characters.
    let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    let flags = fields.nth(6).and_then(|flags| flags.parse().ok());
    flags.is_some_and(|flags: u32| flags & EXITING != 0)
}
