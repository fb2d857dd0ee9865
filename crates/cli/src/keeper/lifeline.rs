//! The pipe that the command and all it starts inherit: who has it open is still inside.
//!
//! Its end says when nobody is. Who it is can be asked of Linux only, and only of our own processes.

use std::{
    fs, io,
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use rustix::fs::fstat;

pub struct Lifeline {
    /// What the system shows of a descriptor of this pipe.
    shown: PathBuf,
    /// They have it open, and are not inside: ourselves, and our opposite.
    besides: Vec<Pid>,
}

impl Lifeline {
    pub fn of(end: impl AsFd, besides: Vec<Pid>) -> io::Result<Self> {
        let shown = format!("pipe:[{}]", fstat(end)?.st_ino).into();
        Ok(Lifeline { shown, besides })
    }

    /// Those who are inside.
    pub fn holders(&self) -> Vec<Pid> {
        let Ok(processes) = fs::read_dir("/proc") else { return vec![] };
        let pid = |name: &str| name.parse().ok().map(Pid::from_raw);
        processes
            .filter_map(|entry| pid(entry.ok()?.file_name().to_str()?))
            .filter(|pid| !self.besides.contains(pid) && self.is_open_in(*pid))
            .collect()
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
    let _ = kill(pid, Signal::SIGTERM);
    let _ = kill(pid, Signal::SIGCONT);
}

pub fn end(pid: Pid) {
    let _ = kill(pid, Signal::SIGKILL);
}
