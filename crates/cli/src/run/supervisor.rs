//! Starts the command and supervises it: hallpass forwards signals, stops and continues together with the
//! command, and exits with its exit status.
//!
//! The command stays in the process group of hallpass. So it is in the foreground when hallpass is, and both
//! get the signals of the terminal. hallpass forwards only the signals that were sent to hallpass alone.

use std::{
    io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::process::CommandExt,
    },
    process::{Command, ExitCode},
};

use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, getpgrp, getpid, getsid, kill_process, waitpid,
};

use super::{inherited::InheritedLifeline, signal_settings::SignalSettings};
use crate::signals::{Received, SignalFd, SignalSet, is_ignored, raise};

/// The signals that are forwarded to the command.
const FORWARDED: [Signal; 9] = [
    Signal::INT,
    Signal::TERM,
    Signal::HUP,
    Signal::QUIT,
    Signal::USR1,
    Signal::USR2,
    // The command may handle or ignore these, so hallpass stops only when the command has stopped.
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
    /// Returns the exit status of the command, or 128 plus the number of the signal that killed it. After
    /// Ctrl-C, kills this process by SIGINT instead.
    pub fn exit_code(self) -> ExitCode {
        let code = match self {
            Ended::Exited(code) => code,
            Ended::Killed(signal) => 128 + signal,
            Ended::Interrupted => {
                // A shell continues its script after Ctrl-C unless SIGINT kills hallpass too.
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
    /// `true` while the command is stopped.
    stopped: bool,
    /// `true` if the terminal has sent SIGINT.
    interrupted: bool,
    /// `true` if hallpass does not stop when the command stops.
    steadfast: bool,
}

impl Supervisor {
    /// Starts the command. It inherits `lifeline`, which is then closed in this process.
    pub fn start(
        command: Command,
        lifeline: Option<InheritedLifeline>,
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

    /// Waits until the command ends.
    pub fn wait(mut self) -> io::Result<Ended> {
        loop {
            if let Some(ended) = self.attend()? {
                return Ok(ended);
            }
        }
    }

    /// Returns a descriptor that is readable when [`attend`](Supervisor::attend) has a signal to handle.
    pub fn signals(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }

    /// Waits for a signal and handles it. Returns how the command ended, if it did.
    pub fn attend(&mut self) -> io::Result<Option<Ended>> {
        // Continuing this process after a stop interrupts the read.
        let Some(received) = self.signals.read()? else { return Ok(None) };
        let signal = received.signal;
        if !matches!(signal, Signal::CHILD | Signal::CONT) {
            self.forward(received);
            return Ok(None);
        }
        let ended = self.look()?;
        // A shell continues the whole group, so the command may run already.
        if ended.is_none() && signal == Signal::CONT && self.stopped {
            let _ = kill_process(self.child, Signal::CONT);
        }
        Ok(ended)
    }

    /// From now on, hallpass does not stop when the command stops: the command has to end.
    pub fn stand_fast(&mut self) {
        self.steadfast = true;
    }

    /// Stops catching signals after the command has ended: from now on, a signal acts on hallpass itself,
    /// which may still wait for other processes.
    pub fn relieve(&self) -> io::Result<()> {
        SignalSet::of(FORWARDED).unblock()
    }

    /// Returns the PID of the command, which is valid until [`attend`](Supervisor::attend) reports its end.
    pub fn child(&self) -> Pid {
        self.child
    }

    /// Sends the signal to the command, unless the command has got it already or the caller of hallpass
    /// ignores it.
    fn forward(&mut self, Received { signal, from_kernel, pid }: Received) {
        if is_ignored(signal) {
            // As with nohup(1): the caller wants the signal to have no effect.
            return;
        }
        if from_kernel {
            self.interrupted |= signal == Signal::INT;
            if self.terminal_reaches_child(signal) {
                return;
            }
        } else if pid == self.child.as_raw_pid() {
            // The command sent the signal to its whole group, as `kill 0` does, and has got it.
            return;
        }
        // This fails if the command has ended, or runs as another user. Neither can be helped.
        let _ = kill_process(self.child, signal);
    }

    /// Returns `true` if the command got the signal from the terminal too.
    fn terminal_reaches_child(&self, signal: Signal) -> bool {
        let same_group = getpgid(Some(self.child)).is_ok_and(|group| group == getpgrp());
        // When a terminal is closed, the kernel sends SIGHUP to the session leader only.
        let sent_to_leader =
            signal == Signal::HUP && getsid(None).is_ok_and(|session| session == getpid());
        same_group && !sent_to_leader
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

/// Stops this process by the signal that stopped the command, so that the shell sees it. Returns when this
/// process is continued.
fn stop(signal: Signal) -> io::Result<()> {
    raise(signal)?;
    if signal != Signal::STOP {
        // These signals are blocked and take effect only here.
        SignalSet::of([signal]).unblock()?;
        SignalSet::of([signal]).block()?;
    }
    Ok(())
}
