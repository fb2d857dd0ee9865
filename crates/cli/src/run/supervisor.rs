//! Starts the command and stands between it and our own parent: signals pass through, stops and
//! continuations are shared, and its exit status becomes ours.
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

use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, getpgrp, getpid, getsid, kill_process, waitpid,
};

use super::signal_settings::SignalSettings;
use crate::signals::{Received, SignalFd, SignalSet, is_ignored, raise};

/// The signals that are forwarded to the command.
const FORWARDED: [Signal; 9] = [
    Signal::INT,
    Signal::TERM,
    Signal::HUP,
    Signal::QUIT,
    Signal::USR1,
    Signal::USR2,
    // The command may handle or ignore these: we stop when it stops, and not before.
    Signal::TSTP,
    Signal::TTIN,
    Signal::TTOU,
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
                let _ = SignalSet::of([Signal::INT]).unblock();
                let _ = raise(Signal::INT);
                128 + libc::SIGINT
            }
        };
        ExitCode::from(code as u8)
    }
}

/// Replaces this process by the command. Returns only if that failed.
pub fn become_command(mut command: Command) -> io::Error {
    match SignalSettings::now() {
        Ok(signal_settings) => signal_settings.pass_on(&mut command),
        Err(error) => return error,
    }
    command.exec()
}

/// The running command, supervised.
pub struct Supervisor {
    child: Pid,
    signals: SignalFd,
    /// The command has stopped.
    stopped: bool,
    /// The terminal sent SIGINT.
    interrupted: bool,
    /// We do not stop when the command stops.
    steadfast: bool,
}

impl Supervisor {
    /// Starts the command. `lifeline` is what it inherits beyond standard input and output; we let
    /// go of it.
    pub fn start(
        command: Command,
        lifeline: Option<OwnedFd>,
        die_with_us: bool,
    ) -> io::Result<Self> {
        let settings = SignalSettings::now()?;
        settings.notice_children()?;
        let ours = SignalSet::of(FORWARDED.into_iter().chain([Signal::CHILD, Signal::CONT]));
        ours.block()?;
        let signals = SignalFd::new(&ours)?;
        let child = settings.spawn(command, die_with_us)?;
        drop(lifeline);
        Ok(Supervisor { child, signals, stopped: false, interrupted: false, steadfast: false })
    }

    /// Waits for the command's end.
    pub fn wait(mut self) -> io::Result<Ended> {
        loop {
            if let Some(ended) = self.attend()? {
                return Ok(ended);
            }
        }
    }

    /// Readable when there is a signal to attend to.
    pub fn signals(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }

    /// Waits for a signal and handles it. Returns how the command ended, if it did.
    pub fn attend(&mut self) -> io::Result<Option<Ended>> {
        // A continuation after a stop interrupts the read.
        let Some(received) = self.signals.read()? else { return Ok(None) };
        let signal = received.signal;
        if !matches!(signal, Signal::CHILD | Signal::CONT) {
            self.forward(received);
            return Ok(None);
        }
        let ended = self.look()?;
        // A shell continues the whole group, and then there is nothing left to do.
        if ended.is_none() && signal == Signal::CONT && self.stopped {
            let _ = kill_process(self.child, Signal::CONT);
        }
        Ok(ended)
    }

    /// The command has to end: from now on we do not stop when it stops.
    pub fn stand_fast(&mut self) {
        self.steadfast = true;
    }

    /// The command has ended, and we wait for others: a signal that is sent to us is for us again.
    pub fn relieve(&self) -> io::Result<()> {
        SignalSet::of(FORWARDED).unblock()
    }

    /// The command, as long as its end is not known.
    pub fn child(&self) -> Pid {
        self.child
    }

    /// Sends the signal on if the command has not got it and may.
    fn forward(&mut self, Received { signal, from_kernel, pid }: Received) {
        if is_ignored(signal) {
            // As under nohup(1): our parent wants it to have no effect.
            return;
        }
        if from_kernel {
            self.interrupted |= signal == Signal::INT;
            if self.terminal_reaches_child(signal) {
                return;
            }
        } else if pid == self.child.as_raw_pid() {
            // It said so to its whole group, as `kill 0` does, and would hear its own words.
            return;
        }
        // It may be gone, or another user's: either way there is nothing to be done.
        let _ = kill_process(self.child, signal);
    }

    /// Whether the command has got what the terminal sent to us.
    fn terminal_reaches_child(&self, signal: Signal) -> bool {
        let same_group = getpgid(Some(self.child)).is_ok_and(|group| group == getpgrp());
        // A terminal that is closed tells the first process of the session only.
        let told_alone =
            signal == Signal::HUP && getsid(None).is_ok_and(|session| session == getpid());
        same_group && !told_alone
    }

    /// Checks the state of the command, and stops when it has stopped.
    fn look(&mut self) -> io::Result<Option<Ended>> {
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED;
        loop {
            let status = match waitpid(Some(self.child), options) {
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
            if let Some(signal) = status.stopping_signal().and_then(Signal::from_named_raw) {
                stop(signal)?;
            }
        }
    }
}

/// Stops as the command did, so that the shell sees it, and comes back when we are continued.
fn stop(signal: Signal) -> io::Result<()> {
    raise(signal)?;
    if signal != Signal::STOP {
        // We keep the others waiting until we let them through.
        SignalSet::of([signal]).unblock()?;
        SignalSet::of([signal]).block()?;
    }
    Ok(())
}
