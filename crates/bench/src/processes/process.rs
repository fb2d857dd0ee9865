//! Child processes: starting and ending them.
#![allow(unsafe_code)]

use std::{
    io,
    panic::{self, AssertUnwindSafe},
};

/// A child process. Dropping this value kills the process.
#[derive(Debug)]
pub struct Process {
    pid: libc::pid_t,
    ended: bool,
}

impl Process {
    /// Forks a child that runs `f`. The child has only a copy of the calling thread, so other threads must not hold a
    /// lock that `f` needs. (The C library handles its own locks.)
    pub fn new(f: impl FnOnce()) -> io::Result<Process> {
        // SAFETY: the caller ensures that no lock is held, as stated above. The child exits without
        // unwinding into the frames of its parent.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                // SAFETY: these calls take numbers only. They make the child ignore Ctrl-C, which the parent handles,
                // and make the kernel kill the child when the parent dies.
                unsafe {
                    libc::signal(libc::SIGINT, libc::SIG_IGN);
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                }
                let ended = panic::catch_unwind(AssertUnwindSafe(f));
                // SAFETY: this call has no preconditions.
                unsafe { libc::_exit(if ended.is_ok() { 0 } else { 101 }) }
            }
            pid => Ok(Process { pid, ended: false }),
        }
    }

    /// Returns the PID of the child.
    pub fn pid(&self) -> u32 {
        self.pid as u32
    }

    /// Kills the process. Does not wait until it is dead.
    pub fn kill(&self) {
        // SAFETY: the call takes numbers only. The process has not been reaped yet, so its PID is not reused.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
    }

    /// Waits until the process has ended. Fails unless its exit status is 0.
    pub fn wait(mut self) -> Result<(), String> {
        match self.reap() {
            0 => Ok(()),
            status => Err(format!("a process ended with status {status:#x}")),
        }
    }

    fn reap(&mut self) -> i32 {
        self.ended = true;
        let mut status = 0;
        // SAFETY: `status` has room for the answer.
        while unsafe { libc::waitpid(self.pid, &mut status, 0) } == -1 {
            let error = io::Error::last_os_error();
            assert_eq!(error.kind(), io::ErrorKind::Interrupted, "waitpid: {error}");
        }
        status
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.ended {
            self.kill();
            self.reap();
        }
    }
}
