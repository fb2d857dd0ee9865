//! The lifeline: a pipe that the command and all processes it starts inherit. A process that has the lifeline open
//! still needs the slot.
//!
//! The pipe closes when the last of these processes ends. Linux lists the processes of this user that have the
//! pipe open. Some processes close inherited descriptors, as the children of Python programs do. hallpass finds them by
//! a variable in their environment.

use std::{
    collections::HashSet,
    ffi::OsString,
    fs, io,
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::fstat,
    process::{Pid, Signal, kill_process},
};

/// The environment variable that identifies processes which have closed the lifeline. Its value is a list. If the
/// command of a `hallpass run` runs `hallpass run` itself, the inner one adds its id to the list.
pub const VARIABLE: &str = "HALLPASS_ID";
const SEPARATOR: char = ',';

/// The number of times that hallpass looks for new processes before it concludes that none needs the slot. A process
/// that forks and exits within milliseconds may escape a single look.
const LOOKS: usize = 30;

pub struct Lifeline {
    /// The target of `/proc/PID/fd/N` for a descriptor of this pipe.
    shown: PathBuf,
    /// The id in the list of the variable. It is unique on this machine.
    pub id: String,
    /// The process `hallpass run`. `hallpass run` and its keeper may also have the pipe open, but do not need the slot.
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

    /// Returns the value of [`VARIABLE`] for the command, given the value of this process.
    pub fn variable(&self, outer: Option<OsString>) -> OsString {
        let mut list = outer.filter(|outer| !outer.is_empty()).unwrap_or_default();
        if !list.is_empty() {
            list.push(SEPARATOR.to_string());
        }
        list.push(&self.id);
        list
    }

    /// Returns the processes that need the slot. Processes that have just started may be missing, but the result is
    /// empty only if [`LOOKS`] looks have found none.
    pub fn holders(&self) -> Vec<Pid> {
        let mut known = HashSet::from([self.run, self.keeper]);
        let needs_slot = |pid: &Pid| self.needs_slot(*pid);
        for _ in 0..LOOKS {
            // The first look reads all processes. Later looks read only processes that have started since.
            let new: Vec<_> = processes().filter(|pid| known.insert(*pid)).collect();
            let found: Vec<_> = new.into_iter().filter(needs_slot).collect();
            if !found.is_empty() {
                return found;
            }
        }
        vec![]
    }

    /// Returns `true` if any process needs the slot. Keeps such a process in `known` for the next call, which then looks
    /// at all processes only if the known one no longer needs the slot.
    pub fn is_needed(&self, known: &mut Option<Pid>) -> bool {
        let is_known = known.is_some_and(|pid| self.needs_slot(pid));
        if !is_known {
            *known = self.holders().first().copied();
        }
        known.is_some()
    }

    fn needs_slot(&self, pid: Pid) -> bool {
        self.is_open_in(pid) || self.is_named_in(pid)
    }

    fn is_named_in(&self, pid: Pid) -> bool {
        let Ok(variables) = fs::read(Path::new("/proc").join(pid.to_string()).join("environ"))
        else {
            return false;
        };
        let name = format!("{VARIABLE}=");
        let mut variables = variables.split(|byte| *byte == 0);
        let list = variables.find_map(|variable| variable.strip_prefix(name.as_bytes()));
        let mut ids = list.unwrap_or_default().split(|byte| *byte == SEPARATOR as u8);
        ids.any(|id| id == self.id.as_bytes())
    }

    fn is_open_in(&self, pid: Pid) -> bool {
        // This fails if the process has ended or belongs to another user.
        let Ok(open) = fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd")) else {
            return false;
        };
        open.flatten().any(|file| fs::read_link(file.path()).is_ok_and(|shown| shown == self.shown))
    }
}

/// Lists all processes.
fn processes() -> impl Iterator<Item = Pid> {
    let pid = |name: &str| Pid::from_raw(name.parse().ok()?);
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(move |entry| pid(entry.ok()?.file_name().to_str()?))
}

/// Sends SIGTERM, and SIGCONT in case the process is suspended.
pub fn ask_to_end(pid: Pid) {
    // The process may have ended, which is fine.
    let _ = kill_process(pid, Signal::TERM);
    let _ = kill_process(pid, Signal::CONT);
}

/// Sends SIGKILL to this process.
pub fn end(pid: Pid) {
    let _ = kill_process(pid, Signal::KILL);
}

#[cfg(test)]
mod tests {
    #![allow(unsafe_code)]

    use rustix::{
        fs::{OFlags, fcntl_setfl},
        io::read,
        pipe::pipe,
        process::getpid,
    };

    use super::*;

    /// The number of processes of the chain, and how long each of them lives, in microseconds.
    const LINKS: usize = 1500;
    const LIFE: libc::c_uint = 1500;

    /// Starts a process that forks and exits, whose child does the same, and so on.
    fn start_chain() {
        // SAFETY: the child calls only functions that are allowed in a copy of a process with several threads.
        unsafe {
            if libc::fork() != 0 {
                return;
            }
            for _ in 1..LINKS {
                if libc::fork() != 0 {
                    libc::usleep(LIFE);
                    libc::_exit(0);
                }
            }
            libc::_exit(0)
        }
    }

    #[test]
    fn a_chain_of_processes_that_fork_and_exit_is_found_as_long_as_it_lasts() {
        let (open, write_end) = pipe().expect("a pipe");
        let lifeline = Lifeline::of(&write_end, getpid(), getpid()).expect("it is a pipe");
        start_chain();
        drop(write_end);
        fcntl_setfl(&open, OFlags::NONBLOCK).expect("a pipe");
        let mut found = 0;
        while !lifeline.holders().is_empty() {
            found += 1;
        }
        // The pipe is closed when no process of the chain has it open.
        let rest = read(&open, &mut [0]);
        assert_eq!(rest, Ok(0), "the chain still runs; it was found {found} times");
    }
}
