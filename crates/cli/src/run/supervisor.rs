//! Starts the command and supervises it: hallpass forwards signals, is suspended and continues together
//! with the command, and exits with the command's exit status.
//!
//! The command stays in the process group of hallpass. So the command is in the foreground when hallpass is, and both
//! get the signals of the terminal and signals to the group. hallpass forwards only the signals that were sent to
//! hallpass alone.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
    process::{Command, ExitCode},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{
        Pid, Signal, WaitOptions, WaitStatus, getpgid, getpgrp, getpid, getsid, kill_process, wait,
        waitpid,
    },
};

use super::{
    group_probe::GroupProbe, inherited::InheritedLifeline, signal_settings::SignalSettings,
    waker::Waker,
};
use crate::signals::{Received, SignalFd, SignalSet, ignore, is_ignored, raise, set_default};

/// The signals that are forwarded to the command.
const FORWARDED: [Signal; 9] = [
    Signal::INT,
    Signal::TERM,
    Signal::HUP,
    Signal::QUIT,
    Signal::USR1,
    Signal::USR2,
    // The command may handle or ignore these, so hallpass suspends itself only when the command is suspended.
    Signal::TSTP,
    Signal::TTIN,
    Signal::TTOU,
];

/// A command that runs for less than this gets no group probe, because starting a probe would slow a short command
/// down.
const SHORT: Duration = Duration::from_millis(5);

/// Exit status: the command reached its time limit. `timeout(1)` exits with the same status.
const TIME_LIMIT: i32 = 124;

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Exited(i32),
    Killed(i32),
    /// Killed by Ctrl-C.
    Interrupted,
    /// Ended by hallpass because it reached its time limit.
    TimedOut,
}

impl Ended {
    /// Returns the exit status of the command, or 128 plus the number of the signal that killed it.
    pub fn status(self) -> u8 {
        let status = match self {
            Ended::Exited(code) => code,
            Ended::Killed(signal) => 128 + signal,
            Ended::Interrupted => 128 + libc::SIGINT,
            Ended::TimedOut => TIME_LIMIT,
        };
        status as u8
    }

    /// Returns [`status`](Ended::status). After Ctrl-C, kills this process by SIGINT instead.
    pub fn exit_code(self) -> ExitCode {
        if self == Ended::Interrupted {
            // A shell continues its script after Ctrl-C unless SIGINT also kills hallpass.
            let _ = SignalSet::of([Signal::INT]).unblock();
            let _ = raise(Signal::INT);
        }
        ExitCode::from(self.status())
    }
}

/// Replaces this process with the command. Returns only if that failed.
pub fn become_command(command: Command) -> io::Error {
    match SignalSettings::now() {
        Ok(signal_settings) => signal_settings.exec(command),
        Err(error) => error,
    }
}

/// Signals that are caught for a supervisor, before its child is started.
pub struct CaughtSignals {
    /// The settings of the caller of hallpass, for the command.
    settings: SignalSettings,
    signals: SignalFd,
}

impl CaughtSignals {
    /// Catches the signals that are forwarded to the child.
    pub fn catch() -> io::Result<Self> {
        let settings = SignalSettings::now()?;
        settings.notice_children()?;
        let ours = caught();
        ours.block()?;
        Ok(CaughtSignals { settings, signals: SignalFd::new(&ours)? })
    }

    /// Supervises `child`, a forked copy of this process.
    pub fn supervise(self, child: Pid) -> Supervisor {
        Supervisor::new(child, self.signals)
    }

    /// Starts the command. It inherits `lifeline`, which is then closed in this process.
    pub fn start(
        self,
        command: Command,
        lifeline: Option<InheritedLifeline>,
        die_with_us: bool,
    ) -> io::Result<Supervisor> {
        let child = self.settings.spawn(command, die_with_us)?;
        drop(lifeline);
        Ok(Supervisor::new(child, self.signals))
    }
}

fn caught() -> SignalSet {
    SignalSet::of(FORWARDED.into_iter().chain([Signal::CHILD, Signal::CONT]))
}

/// The running command, supervised.
pub struct Supervisor {
    child: Pid,
    signals: SignalFd,
    /// Shows which signals were sent to the group.
    probe: Option<GroupProbe>,
    /// `true` while the command is suspended.
    suspended: bool,
    /// `true` if the terminal has sent SIGINT.
    interrupted: bool,
    /// `true` if hallpass keeps running when the command is suspended.
    keeps_running: bool,
    /// `true` if this process gets the orphans among the descendants of the command.
    adopts: bool,
    /// The [waker](Waker) that watched the command during the last suspension of hallpass.
    waker: Option<Pid>,
}

impl Supervisor {
    fn new(child: Pid, signals: SignalFd) -> Self {
        let (suspended, interrupted, keeps_running, adopts) = (false, false, false, false);
        let (probe, waker) = (None, None);
        Supervisor { child, signals, probe, suspended, interrupted, keeps_running, adopts, waker }
    }

    /// Starts the command. It inherits `lifeline`, which is then closed in this process.
    pub fn start(
        command: Command,
        lifeline: Option<InheritedLifeline>,
        die_with_us: bool,
    ) -> io::Result<Self> {
        CaughtSignals::catch()?.start(command, lifeline, die_with_us)
    }

    /// Waits until the command ends.
    pub fn wait(mut self) -> io::Result<Ended> {
        loop {
            if self.probe.is_none() {
                self.probe_group_of_long_command()?;
            }
            if let Some(ended) = self.attend()? {
                return Ok(ended);
            }
        }
    }

    /// Waits for the next signal, and starts the group probe if no signal comes within [`SHORT`]. If the command ends
    /// earlier, SIGCHLD is the next signal, and no probe is started.
    fn probe_group_of_long_command(&mut self) -> io::Result<()> {
        let mut file = [PollFd::new(&self.signals, PollFlags::IN)];
        let limit = Timespec::try_from(SHORT).map_err(io::Error::other)?;
        match poll(&mut file, Some(&limit)) {
            Ok(0) => self.probe_group(),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Starts the group probe.
    pub fn probe_group(&mut self) {
        self.probe = GroupProbe::start();
    }

    /// Ends the group probe, which is a child of this process.
    pub fn end_probe(&mut self) {
        self.probe = None;
    }

    /// From now on, reaps the orphans that this process gets as a child subreaper.
    pub fn adopt(&mut self) {
        self.adopts = true;
    }

    /// Returns a descriptor that is readable when [`attend`](Supervisor::attend) has a signal to handle.
    pub fn signals(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }

    /// Waits for a signal and handles it. Returns how the command ended, if it did.
    pub fn attend(&mut self) -> io::Result<Option<Ended>> {
        // If this process was suspended, the signal that continues it interrupts the read.
        let Some(received) = self.signals.read()? else { return Ok(None) };
        let signal = received.signal;
        if !matches!(signal, Signal::CHILD | Signal::CONT) {
            self.forward(received);
            return Ok(None);
        }
        let ended = self.look()?;
        // If a user continues hallpass alone, hallpass continues the command. (A shell continues the whole group, so
        // the command may run already.) A waker continues hallpass because the command runs again. If the command was
        // suspended again after that, it stays suspended.
        let by_waker = self.waker.is_some_and(|waker| waker.as_raw_pid() == received.pid);
        if ended.is_none() && signal == Signal::CONT && self.suspended && !by_waker {
            let _ = kill_process(self.child, Signal::CONT);
        }
        Ok(ended)
    }

    /// From now on, hallpass keeps running when the command is suspended, because the command has to end.
    pub fn keep_running(&mut self) {
        self.keeps_running = true;
    }

    /// Stops catching signals after the command has ended. From now on, a signal acts on hallpass itself, which
    /// may still wait for other processes. Signals that arrived earlier were for the command, and are dropped.
    pub fn stop_catching(&self) -> io::Result<()> {
        for signal in FORWARDED.into_iter().filter(|signal| !is_ignored(*signal)) {
            // While a signal is ignored, the kernel drops it even if it is pending.
            ignore(signal)?;
            set_default(signal)?;
        }
        SignalSet::of(FORWARDED).unblock()
    }

    /// Returns the PID of the command, which is valid until [`attend`](Supervisor::attend) reports its end.
    pub fn child(&self) -> Pid {
        self.child
    }

    /// Sends the signal to the command, unless the command has got it already or the caller of hallpass
    /// ignores it.
    fn forward(&mut self, Received { signal, from_kernel, pid }: Received) {
        let to_group = self.is_sent_to_group(signal);
        if is_ignored(signal) {
            // The caller wants the signal to have no effect, as with nohup(1).
            return;
        }
        if from_kernel {
            self.interrupted |= signal == Signal::INT;
            if self.terminal_reaches_child(signal) {
                return;
            }
        } else if pid == self.child.as_raw_pid() || (to_group && self.shares_group()) {
            // The command has got the signal already: the command itself (as by `kill 0`) or another process sent
            // it to the whole group.
            return;
        }
        // This fails if the command has ended or runs as another user. Ignore both.
        let _ = kill_process(self.child, signal);
    }

    /// Returns `true` if the probe has also got the signal.
    fn is_sent_to_group(&mut self, signal: Signal) -> bool {
        let Some(probe) = &self.probe else { return false };
        let pending = probe.signals();
        if pending.contains_any(&FORWARDED) {
            // A pending signal hides the next one, so start a new probe. The new probe starts before the old one ends.
            self.probe = GroupProbe::start();
        }
        pending.contains(signal)
    }

    /// Returns `true` if the command also got the signal from the terminal.
    fn terminal_reaches_child(&self, signal: Signal) -> bool {
        // When a terminal is closed, the kernel sends SIGHUP to the session leader only.
        let sent_to_leader =
            signal == Signal::HUP && getsid(None).is_ok_and(|session| session == getpid());
        self.shares_group() && !sent_to_leader
    }

    /// Returns `true` if the command is in the process group of hallpass.
    fn shares_group(&self) -> bool {
        getpgid(Some(self.child)).is_ok_and(|group| group == getpgrp())
    }

    /// Checks the state of the command. If the command is suspended, suspends this process too.
    fn look(&mut self) -> io::Result<Option<Ended>> {
        while let Some(status) = self.next_status()? {
            if let Some(code) = status.exit_status() {
                return Ok(Some(Ended::Exited(code)));
            }
            if let Some(signal) = status.terminating_signal() {
                let interrupted = self.interrupted && signal == libc::SIGINT;
                let ended = if interrupted { Ended::Interrupted } else { Ended::Killed(signal) };
                return Ok(Some(ended));
            }
            self.suspended = status.stopped();
            if self.keeps_running {
                continue;
            }
            if let Some(signal) = status.stopping_signal().and_then(Signal::from_named_raw) {
                self.waker = suspend(signal, self.child)?;
            }
        }
        Ok(None)
    }

    /// Returns the next change of the command's state, if there is one.
    fn next_status(&self) -> io::Result<Option<WaitStatus>> {
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED;
        loop {
            let changed = match self.adopts {
                true => wait(options),
                false => waitpid(Some(self.child), options),
            };
            match changed {
                Ok(Some((pid, status))) if pid == self.child => return Ok(Some(status)),
                // This is an orphan that this process has adopted.
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Suspends this process by the signal that suspended the command, so that the shell sees a suspended job. Returns
/// when this process is continued. If the command is no longer suspended, the waker continues this process. Returns the
/// PID of the waker.
fn suspend(signal: Signal, command: Pid) -> io::Result<Option<Pid>> {
    // If no waker can be started, for example for lack of memory, only a signal to hallpass continues it.
    let waker = Waker::start(command).ok();
    raise(signal)?;
    if signal != Signal::STOP {
        // The other signals that suspend a process are blocked, and take effect only here.
        SignalSet::of([signal]).unblock()?;
        SignalSet::of([signal]).block()?;
    }
    Ok(waker.map(|waker| waker.pid()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For example, the command has ended, its exit status is not yet reported, and Ctrl-C comes a second time.
    #[test]
    fn after_stop_catching_an_earlier_signal_for_the_command_does_not_kill_hallpass() {
        let supervisor = CaughtSignals::catch().unwrap().supervise(getpid());
        for signal in FORWARDED {
            raise(signal).unwrap();
        }
        // If a signal acted on this process, it would kill or suspend the test here.
        supervisor.stop_catching().unwrap();
        let mut file = [PollFd::new(&supervisor.signals, PollFlags::IN)];
        assert_eq!(poll(&mut file, Some(&Timespec::default())), Ok(0), "a signal is pending");
    }
}
