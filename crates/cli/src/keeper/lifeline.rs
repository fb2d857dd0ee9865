//! The lifeline: a pipe that the command and all processes it starts inherit. A process that has it open
//! still needs the slot.
//!
//! The pipe closes when the last of these processes ends. Linux lists the processes that have it open, as far
//! as they belong to this user. Some programs close inherited descriptors, as Python does for its children;
//! those processes are found by a variable in their environment.

use std::{
    fs, io,
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::fstat,
    process::{Pid, Signal, kill_process},
};

/// The environment variable that identifies processes which have closed the pipe.
pub const VARIABLE: &str = "HALLPASS_ID";

pub struct Lifeline {
    /// The target of `/proc/PID/fd/N` for a descriptor of this pipe.
    shown: PathBuf,
    /// The value of the variable, which is unique on this machine.
    pub id: String,
    /// `hallpass run`, which has the pipe open without needing the slot, as its keeper has.
    pub run: Pid,
    keeper: Pid,
}

impl Lifeline {
    /// Describes the pipe of which `end` is one end, and which `run` and `keeper` share.
    pub fn of(end: impl AsFd, run: Pid, keeper: Pid) -> io::Result<Self> {
        let number = fstat(end)?.st_ino;
        let (shown, id) = (format!("pipe:[{number}]").into(), format!("{run}-{number}"));
        Ok(Lifeline { shown, id, run, keeper })
    }

    /// Returns the processes that need the slot.
    pub fn holders(&self) -> Vec<Pid> {
        let Ok(processes) = fs::read_dir("/proc") else { return vec![] };
        let pid = |name: &str| Pid::from_raw(name.parse().ok()?);
        processes
            .filter_map(|entry| pid(entry.ok()?.file_name().to_str()?))
            .filter(|pid| ![self.run, self.keeper].contains(pid))
            .filter(|pid| self.is_open_in(*pid) || self.is_named_in(*pid))
            .collect()
    }

    fn is_named_in(&self, pid: Pid) -> bool {
        let Ok(variables) = fs::read(Path::new("/proc").join(pid.to_string()).join("environ"))
        else {
            return false;
        };
        let ours = format!("{VARIABLE}={}", self.id);
        variables.split(|byte| *byte == 0).any(|variable| variable == ours.as_bytes())
    }

    fn is_open_in(&self, pid: Pid) -> bool {
        // This fails if the process has ended or belongs to another user.
        let Ok(open) = fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd")) else {
            return false;
        };
        open.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|shown| shown == self.shown))
    }
}

/// Sends SIGTERM, and SIGCONT in case the process is stopped.
pub fn ask_to_end(pid: Pid) {
    // The process may have ended, which is fine.
    let _ = kill_process(pid, Signal::TERM);
    let _ = kill_process(pid, Signal::CONT);
}

/// Sends SIGKILL.
pub fn end(pid: Pid) {
    let _ = kill_process(pid, Signal::KILL);
}
