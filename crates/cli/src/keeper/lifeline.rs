//! The pipe that the command and all it starts inherit: who has it open is still inside.
//!
//! Its end says when nobody is. Who it is can be asked of Linux only, and only of our own processes. Some
//! programs close what they inherit, and Python has its children do so; they are known by a variable in
//! their environment.

use std::{
    fs, io,
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::fstat,
    process::{Pid, Signal, kill_process},
};

/// The variable by which those are known who have closed the pipe.
pub const VARIABLE: &str = "HALLPASS_ID";

pub struct Lifeline {
    /// What the system shows of a descriptor of this pipe.
    shown: PathBuf,
    /// What the variable says, for no other command that runs on this machine.
    pub id: String,
    /// `hallpass run` and its keeper have it open, and are not inside.
    pub run: Pid,
    keeper: Pid,
}

impl Lifeline {
    /// The pipe that this is an end of, of `hallpass run` and its keeper.
    pub fn of(end: impl AsFd, run: Pid, keeper: Pid) -> io::Result<Self> {
        let number = fstat(end)?.st_ino;
        let (shown, id) = (format!("pipe:[{number}]").into(), format!("{run}-{number}"));
        Ok(Lifeline { shown, id, run, keeper })
    }

    /// Those who are inside.
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
        // Who is gone meanwhile, or another user's, shows nothing.
        let Ok(open) = fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd")) else {
            return false;
        };
        open.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|shown| shown == self.shown))
    }
}

/// Asks a process to end, even one that was stopped.
pub fn ask_to_end(pid: Pid) {
    // It may be gone: then there is nothing to be done.
    let _ = kill_process(pid, Signal::TERM);
    let _ = kill_process(pid, Signal::CONT);
}

pub fn end(pid: Pid) {
    let _ = kill_process(pid, Signal::KILL);
}
