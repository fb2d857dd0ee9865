//! The signal settings with which hallpass was started. hallpass passes them on to the command.
//!
//! Rust makes programs ignore SIGPIPE. hallpass gives SIGCHLD its default action, because hallpass does not work while
//! SIGCHLD is ignored. The command must not see either of these changes.
#![allow(unsafe_code)]

use std::{
    io,
    os::unix::process::CommandExt,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};

use super::{script, spawn};
use crate::signals::{SignalSet, ignore, is_ignored, raise, set_default};

/// `true` if SIGPIPE was ignored when hallpass was started. (Later, it is always ignored: Rust's runtime does this.)
static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);

extern "C" fn remember_pipe() {
    PIPE_IGNORED.store(is_ignored(Signal::PIPE), Ordering::Relaxed);
}

/// Makes `remember_pipe` run before Rust's runtime starts, as all functions in the section `.init_array` do.
// SAFETY: the section contains pointers to functions of this signature, and this function does not need anything that
// the runtime sets up.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = remember_pipe;

/// The signal settings for the command: the settings with which hallpass was started.
#[derive(Clone, Copy)]
pub struct SignalSettings {
    blocked: SignalSet,
    pipe_ignored: bool,
    child_ignored: bool,
}

impl SignalSettings {
    pub fn now() -> io::Result<Self> {
        Ok(SignalSettings {
            blocked: SignalSet::blocked()?,
            pipe_ignored: PIPE_IGNORED.load(Ordering::Relaxed),
            child_ignored: is_ignored(Signal::CHILD),
        })
    }

    /// Gives SIGCHLD its default action. While it is ignored, the system does not report the end of a child.
    pub fn notice_children(self) -> io::Result<()> {
        if self.child_ignored {
            set_default(Signal::CHILD)?;
        }
        Ok(())
    }

    /// Starts `command` with these settings. With `die_with_us`, the kernel kills the command when this thread ends.
    pub fn spawn(self, mut command: Command, die_with_us: bool) -> io::Result<Pid> {
        match self.spawn_program(&mut command, die_with_us) {
            Err(error) if script::is_refused(&error) => {
                self.spawn_program(&mut script::by_shell(&command), die_with_us)
            }
            started => started,
        }
    }

    fn spawn_program(self, command: &mut Command, die_with_us: bool) -> io::Result<Pid> {
        // `spawn::spawn` searches the PATH of this process. It cannot make the command ignore a signal, and cannot make
        // the kernel kill the command when this thread ends.
        if !die_with_us && !self.child_ignored && !spawn::changes(command, "PATH") {
            let defaults = if self.pipe_ignored { &[][..] } else { &[Signal::PIPE] };
            return spawn::spawn(command, &self.blocked, defaults);
        }
        match die_with_us {
            true => self.pass_on_and_die_with_us(command),
            false => self.pass_on(command),
        }
        Ok(Pid::from_child(&command.spawn()?))
    }

    /// Replaces this process with the command, with these settings. Returns only if that failed.
    pub fn exec(self, mut command: Command) -> io::Error {
        self.pass_on(&mut command);
        let error = command.exec();
        if !script::is_refused(&error) {
            return error;
        }
        let mut shell = script::by_shell(&command);
        self.pass_on(&mut shell);
        shell.exec()
    }

    /// Does the same as [`pass_on`](SignalSettings::pass_on), and makes the kernel kill the command when this thread
    /// ends.
    pub fn pass_on_and_die_with_us(self, command: &mut Command) {
        self.pass_on(command);
        kill_with_parent(command);
    }

    /// Adds a step to `command` that applies these settings before it executes the program.
    pub fn pass_on(self, command: &mut Command) {
        let in_child = move || {
            for (ignored, which) in
                [(self.pipe_ignored, Signal::PIPE), (self.child_ignored, Signal::CHILD)]
            {
                if ignored {
                    ignore(which)?;
                }
            }
            self.blocked.block_only()
        };
        // SAFETY: the closure calls only `signal` and `pthread_sigmask`, which may be called between
        // fork and exec, and it does not allocate.
        unsafe { command.pre_exec(in_child) };
    }
}

/// Makes the kernel kill the command when this thread ends.
fn kill_with_parent(command: &mut Command) {
    let us = getpid();
    let in_child = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // If the parent was killed before this call, the kernel does not send the signal.
        if getppid() != Some(us) {
            raise(Signal::KILL)?;
        }
        Ok(())
    };
    // SAFETY: the closure calls only `prctl`, `getppid` and `raise`, which may be called between fork
    // and exec, and it does not allocate.
    unsafe { command.pre_exec(in_child) };
}
