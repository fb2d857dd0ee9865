//! Starting the command and standing between it and whoever started us: signals pass through, a
//! stop and a continuation are shared, and in the end there is its exit status.
//!
//! The command stays in our process group, so it is in the foreground when we are, and what the
//! terminal sends reaches both. Only what was sent to us alone is sent on.

use std::{
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::{Command, ExitCode},
};

use nix::{
    errno::Errno,
    libc,
    sys::{
        signal::{SigSet, Signal, kill, raise},
        signalfd::{SfdFlags, SignalFd, siginfo},
    },
    unistd::{Pid, getpgid, getpgrp, getpid, getsid},
};
use rustix::process::{WaitOptions, waitpid};

use super::inherited::{self, Inherited};

/// What is sent on to the command.
const FORWARDED: [Signal; 9] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    // The command may handle or ignore these: we stop when it stops, and not before.
    Signal::SIGTSTP,
    Signal::SIGTTIN,
    Signal::SIGTTOU,
];

/// How the command ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    Exited(i32),
    Killed(i32),
    /// Killed by Ctrl-C.
    Interrupted,
}

impl Ended {
    /// Ends as the command did: with its exit status, or with 128 and the signal.
    pub fn exit_code(self) -> ExitCode {
        let code = match self {
            Ended::Exited(code) => code,
            Ended::Killed(signal) => 128 + signal,
            Ended::Interrupted => {
                // A shell that runs a script goes on after Ctrl-C unless we die of it too.
                let _ = SigSet::from(Signal::SIGINT).thread_unblock();
                let _ = raise(Signal::SIGINT);
                128 + libc::SIGINT
            }
        };
        ExitCode::from(code as u8)
    }
}

/// Takes the command's place. Comes back only if that failed.
pub fn become_command(mut command: Command) -> io::Error {
    match Inherited::now() {
        Ok(inherited) => inherited.pass_on(&mut command),
        Err(error) => return error,
    }
    command.exec()
}

/// Our place between the command, which runs, and the world.
pub struct Post {
    child: Pid,
    signals: SignalFd,
    /// The command has stopped.
    stopped: bool,
    /// The terminal sent SIGINT.
    interrupted: bool,
    /// We do not stop when the command stops.
    steadfast: bool,
}

impl Post {
    /// Starts the command. `lifeline` is what it inherits beyond standard input and output; we let
    /// go of it.
    pub fn start(
        mut command: Command,
        lifeline: Option<OwnedFd>,
        die_with_us: bool,
    ) -> io::Result<Self> {
        let inherited = Inherited::now()?;
        inherited.notice_children()?;
        let ours: SigSet =
            FORWARDED.into_iter().chain([Signal::SIGCHLD, Signal::SIGCONT]).collect();
        ours.thread_block()?;
        let signals = SignalFd::with_flags(&ours, SfdFlags::SFD_CLOEXEC)?;
        inherited.pass_on(&mut command);
        if die_with_us {
            inherited::die_with_us(&mut command);
        }
        let child = command.spawn()?;
        drop(lifeline);
        // It fits: it came from the system as this type.
        let child = Pid::from_raw(child.id() as i32);
        Ok(Post { child, signals, stopped: false, interrupted: false, steadfast: false })
    }

    /// Waits for the command's end.
    pub fn wait(mut self) -> io::Result<Ended> {
        loop {
            if let Some(ended) = self.attend()? {
                return Ok(ended);
            }
        }
    }

    /// What can be read when there is something to attend to.
    pub fn signals(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }

    /// Waits for a signal and does what it asks for. The command's end, if it was that.
    pub fn attend(&mut self) -> io::Result<Option<Ended>> {
        let info = match self.signals.read_signal() {
            Ok(Some(info)) => info,
            // What comes after a stop may look like an interruption.
            Ok(None) | Err(Errno::EINTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Ok(signal) = Signal::try_from(info.ssi_signo as i32) else { return Ok(None) };
        if !matches!(signal, Signal::SIGCHLD | Signal::SIGCONT) {
            self.forward(signal, &info);
            return Ok(None);
        }
        let ended = self.look()?;
        // A shell continues the whole group, and then there is nothing left to do.
        if ended.is_none() && signal == Signal::SIGCONT && self.stopped {
            let _ = kill(self.child, Signal::SIGCONT);
        }
        Ok(ended)
    }

    /// The command has to end: from now on we do not stop when it stops.
    pub fn stand_fast(&mut self) {
        self.steadfast = true;
    }

    /// The command has ended, and we wait for others: a signal that is sent to us is for us again.
    pub fn relieve(&self) -> io::Result<()> {
        Ok(FORWARDED.into_iter().collect::<SigSet>().thread_unblock()?)
    }

    /// The command, as long as its end is not known.
    pub fn child(&self) -> Pid {
        self.child
    }

    /// Sends the signal on if the command has not got it and may.
    fn forward(&mut self, signal: Signal, info: &siginfo) {
        if inherited::is_ignored(signal) {
            // As under nohup(1): whoever started us wants it to have no effect.
            return;
        }
        if info.ssi_code == libc::SI_KERNEL {
            self.interrupted |= signal == Signal::SIGINT;
            if self.terminal_reaches_child(signal) {
                return;
            }
        } else if info.ssi_pid as i32 == self.child.as_raw() {
            // It said so to its whole group, as `kill 0` does, and would hear its own words.
            return;
        }
        // It may be gone, or another user's: either way there is nothing to be done.
        let _ = kill(self.child, signal);
    }

    /// Whether the command has got what the terminal sent to us.
    fn terminal_reaches_child(&self, signal: Signal) -> bool {
        let same_group = getpgid(Some(self.child)).is_ok_and(|group| group == getpgrp());
        // A terminal that is closed tells the first process of the session only.
        let told_alone =
            signal == Signal::SIGHUP && getsid(None).is_ok_and(|session| session == getpid());
        same_group && !told_alone
    }

    /// Sees what has become of the command since, and stops when it has stopped.
    fn look(&mut self) -> io::Result<Option<Ended>> {
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED;
        let child = rustix::process::Pid::from_raw(self.child.as_raw());
        loop {
            let status = match waitpid(child, options) {
                Ok(Some((_, status))) => status,
                Ok(None) => return Ok(None),
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            if let Some(code) = status.exit_status() {
                return Ok(Some(Ended::Exited(code)));
            }
            if let Some(signal) = status.terminating_signal() {
                let interrupted = self.interrupted && signal == libc::SIGINT;
                let ended = if interrupted { Ended::Interrupted } else { Ended::Killed(signal) };
                return Ok(Some(ended));
            }
            self.stopped = status.stopped();
            if self.steadfast {
                continue;
            }
            if let Some(Ok(signal)) = status.stopping_signal().map(Signal::try_from) {
                stop(signal)?;
            }
        }
    }
}

/// Stops as the command did, so that the shell sees it, and comes back when we are continued.
fn stop(signal: Signal) -> io::Result<()> {
    raise(signal)?;
    if signal != Signal::SIGSTOP {
        // We keep the others waiting until we let them through.
        SigSet::from(signal).thread_unblock()?;
        SigSet::from(signal).thread_block()?;
    }
    Ok(())
}
