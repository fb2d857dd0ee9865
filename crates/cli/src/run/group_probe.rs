//! The group probe: a process that shows whether a signal was sent to the whole process group.
//!
//! A signal to the group also reaches the command, so hallpass must not forward it. But the kernel does not
//! report whether a signal was sent to one process or to its group. So hallpass keeps a second process in the
//! group, the probe. The probe does nothing and blocks all signals. A signal to the group stays pending in the
//! probe. A signal to hallpass alone does not reach the probe.
#![allow(unsafe_code)]

use std::fs;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, waitpid};

use crate::signals::SignalSet;

/// The name of the probe in lists of processes, with the zero byte that C expects.
const NAME: &[u8; 15] = b"hallpass-probe\0";

/// A process in the group of this one, with every signal blocked. Dropping it ends the process.
pub struct GroupProbe {
    process: Pid,
}

impl GroupProbe {
    /// Starts a probe. Returns `None` if the system has no room for another process.
    pub fn start() -> Option<Self> {
        let parent = getpid();
        // SAFETY: the child only calls `stay`, which makes only system calls. So it does not allocate, and it takes no
        // lock that another thread could have held at the time of the fork.
        match unsafe { libc::fork() } {
            0 => stay(parent),
            pid => Some(GroupProbe { process: Pid::from_raw(pid).filter(|_| pid > 0)? }),
        }
    }

    /// Returns the signals that were sent to the group since the probe was started.
    pub fn signals(&self) -> PendingSignals {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process));
        PendingSignals(status.map_or(0, |status| pending(&status)))
    }
}

impl Drop for GroupProbe {
    fn drop(&mut self) {
        let _ = kill_process(self.process, Signal::KILL);
        let _ = waitpid(Some(self.process), WaitOptions::empty());
    }
}

/// A set of signals that are pending for a process: bit n - 1 is signal n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingSignals(u64);

impl PendingSignals {
    pub fn contains(self, signal: Signal) -> bool {
        self.0 >> (signal.as_raw() - 1) & 1 == 1
    }

    pub fn contains_any(self, signals: &[Signal]) -> bool {
        signals.iter().any(|signal| self.contains(*signal))
    }
}

/// Reads the signals that are pending for a process from its `/proc/PID/status`.
fn pending(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Waits for the end of the parent. Closes all files first, because the probe must not keep a slot taken, or a
/// terminal or a pipe open.
fn stay(parent: Pid) -> ! {
    let _ = SignalSet::all().block();
    // SAFETY: these calls take numbers and a string with a zero byte at its end. The process uses no descriptor
    // afterwards.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        let closed = libc::syscall(libc::SYS_close_range, 0u32, u32::MAX, 0u32);
        // If the parent was killed before the call with `PR_SET_PDEATHSIG`, the kernel does not send the signal.
        if closed == 0 && libc::getppid() == parent.as_raw_pid() {
            loop {
                libc::pause();
            }
        }
        libc::_exit(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_signals_are_read_from_the_status_of_a_process() {
        let status = "Name:\thallpass\nSigPnd:\t0000000000000001\nShdPnd:\t0000000000004002\n";
        let pending = PendingSignals(pending(status));
        assert!(pending.contains(Signal::INT) && pending.contains(Signal::TERM));
        assert!(!pending.contains(Signal::HUP));
        assert!(pending.contains_any(&[Signal::HUP, Signal::TERM]));
        assert!(!pending.contains_any(&[Signal::HUP, Signal::QUIT]));
        assert_eq!(super::pending("Name:\thallpass\n"), 0);
    }
}
