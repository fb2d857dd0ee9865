//! Processes: making them, ending them.
#![allow(unsafe_code)]

use std::{
    io,
    panic::{self, AssertUnwindSafe},
};

/// A process that this one made. It is killed if this is dropped.
#[derive(Debug)]
pub struct Process {
    pid: libc::pid_t,
    ended: bool,
}

impl Process {
    /// One that runs `f`. It has none of this process's other threads; those must hold no lock that
    /// `f` needs. (The C library sees to it that its own are free.)
    pub fn new(f: impl FnOnce()) -> io::Result<Process> {
        // SAFETY: see above; it ends without unwinding into what belongs to the one it was made by.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                // SAFETY: these take numbers. An interrupt is for the one who made this, and who takes
                // this along when it dies.
                unsafe {
                    libc::signal(libc::SIGINT, libc::SIG_IGN);
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                }
                let ended = panic::catch_unwind(AssertUnwindSafe(f));
                // SAFETY: it is always allowed.
                unsafe { libc::_exit(if ended.is_ok() { 0 } else { 101 }) }
            }
            pid => Ok(Process { pid, ended: false }),
        }
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.pid as u32
    }

    /// Kills it, without waiting until it is dead.
    pub fn kill(&self) {
        // SAFETY: it takes numbers, and the process was not waited for, so the number is still its.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
    }

    /// Waits until it has ended; an error if it did not end well.
    pub fn wait(mut self) -> Result<(), String> {
        match self.reap() {
            0 => Ok(()),
            status => Err(format!("a process ended with status {status:#x}")),
        }
    }

    fn reap(&mut self) -> i32 {
        self.ended = true;
        let mut status = 0;
        // SAFETY: the status is written to a number that is there.
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
