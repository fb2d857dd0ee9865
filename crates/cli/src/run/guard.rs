//! Guards a command whose pass can be lost. If the pass is lost, the guard ends the command and all processes that the
//! command started. They end before another holder may get the slot, except after `hallpass evict`, which frees the
//! slot immediately. The guard finds these processes by a pipe that they inherit, the [`lifeline`], or by a variable in
//! their environment.

use std::{
    io,
    os::fd::AsFd,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::Pid,
};

use super::{
    loss_hook::LossHook,
    supervisor::{Ended, Supervisor},
};
use crate::keeper::{Keeper, lifeline, messages::Report};

/// Time between two searches for remaining processes while they are being killed.
const SOON: Duration = Duration::from_millis(50);

/// Time between two looks at processes that need the slot although they have closed the lifeline.
const LOOK: Duration = Duration::from_millis(500);

/// The reason for ending a command at its deadline.
pub const NOT_RENEWED: &str = "it could not be renewed in time";

/// How a guarded command ended.
pub enum Outcome {
    /// The command ended by itself, and the slot is still held.
    Ended(Ended, Keeper),
    /// hallpass ended the command, for this reason.
    Lost(String),
}

/// A supervised command whose slot a keeper holds.
pub struct Guard {
    supervisor: Supervisor,
    keeper: Keeper,
    grace: Duration,
    /// How the command ended; `None` while it runs.
    ended: Option<Ended>,
    /// `--descendants`: wait for the processes that the command left running.
    descendants: bool,
    /// `true` if no process has the lifeline open. Processes that have closed it may still need the slot.
    idle: bool,
    /// A process that needed the slot when the guard looked last.
    remaining: Option<Pid>,
    keeper_gone: bool,
    stopping: Option<Stopping>,
    /// Runs when the pass is lost.
    hook: Option<LossHook>,
}

/// The state after the command and its processes have got SIGTERM.
struct Stopping {
    why: String,
    /// The time at which SIGKILL follows SIGTERM.
    kill_at: Instant,
    /// Whether SIGKILL was sent.
    killing: bool,
}

/// The events that ended a sleep.
struct Woken {
    signal: bool,
    report: bool,
    stop: bool,
    kill: bool,
}

impl Guard {
    /// Guards a command. With `descendants`, also guards the processes that the command leaves running.
    pub fn new(supervisor: Supervisor, keeper: Keeper, grace: Duration, descendants: bool) -> Self {
        Guard {
            supervisor,
            keeper,
            grace,
            ended: None,
            descendants,
            idle: false,
            remaining: None,
            keeper_gone: false,
            stopping: None,
            hook: None,
        }
    }

    /// Sets a hook that runs when the pass is lost.
    pub fn with_hook(self, hook: Option<LossHook>) -> Self {
        Guard { hook, ..self }
    }

    /// Waits until the command, and with `descendants` the processes it left running, have ended.
    pub fn watch(mut self) -> io::Result<Outcome> {
        while !self.is_over() {
            let woken = self.sleep()?;
            if woken.kill {
                self.stop(NOT_RENEWED);
                self.kill();
            }
            if woken.signal {
                self.ended = self.supervisor.attend()?;
                if self.ended.is_some() {
                    // A report that arrives now no longer matters.
                    if self.is_over() {
                        break;
                    }
                    self.supervisor.stop_catching()?;
                }
            }
            if woken.report {
                self.read_report()?;
            }
            if woken.stop {
                self.stop(NOT_RENEWED);
            }
            if self.stopping.as_ref().is_some_and(|it| it.killing || Instant::now() >= it.kill_at) {
                self.kill();
            }
            if let Some(hook) = &mut self.hook {
                hook.kill_if_late();
            }
        }
        Ok(match (self.stopping, self.ended) {
            (None, Some(ended)) => Outcome::Ended(ended, self.keeper),
            (stopping, _) => Outcome::Lost(stopping.map_or_else(String::new, |it| it.why)),
        })
    }

    /// Waits for an event.
    fn sleep(&self) -> io::Result<Woken> {
        let killing = self.stopping.as_ref().is_some_and(|it| it.killing);
        let watched = [
            (self.supervisor.signals(), self.ended.is_none()),
            (self.keeper.channel.as_fd(), !self.keeper_gone),
            (self.keeper.deadline.stop(), self.stopping.is_none()),
            (self.keeper.deadline.kill(), !killing),
        ];
        let mut files = watched.map(|(file, is_wanted)| match is_wanted {
            true => PollFd::from_borrowed_fd(file, PollFlags::IN),
            false => PollFd::from_borrowed_fd(self.supervisor.signals(), PollFlags::empty()),
        });
        let patience = match &self.stopping {
            None => (self.ended.is_some() && self.idle).then_some(LOOK),
            Some(_) if killing || self.ended.is_some() => Some(SOON),
            Some(it) => Some(it.kill_at.saturating_duration_since(Instant::now())),
        };
        let patience = patience.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut files, patience.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [signal, report, stop, kill] = files.map(|file| !file.revents().is_empty());
        Ok(Woken { signal, report, stop, kill })
    }

    fn is_over(&mut self) -> bool {
        match (&self.ended, &self.stopping) {
            (None, _) => false,
            (Some(_), None) => {
                let lifeline = &self.keeper.lifeline;
                !self.descendants || (self.idle && !lifeline.is_needed(&mut self.remaining))
            }
            (Some(_), Some(_)) => {
                self.hook.as_mut().is_none_or(LossHook::is_done)
                    && self.keeper.lifeline.holders().is_empty()
            }
        }
    }

    fn read_report(&mut self) -> io::Result<()> {
        match self.keeper.channel.receive()? {
            Some(Report::Idle) => self.idle = true,
            Some(Report::Lost(why)) => self.stop(&why),
            // The keeper answers an order that hallpass sent before the keeper had the slot.
            Some(_) => {}
            None => {
                self.keeper_gone = true;
                self.stop("the keeper has died");
            }
        }
        Ok(())
    }

    /// Sends SIGTERM to the command and its processes, and starts the hook.
    fn stop(&mut self, why: &str) {
        if self.stopping.is_some() {
            return;
        }
        let kill_at = Instant::now() + self.grace;
        self.stopping = Some(Stopping { why: why.into(), kill_at, killing: false });
        self.supervisor.keep_running();
        self.signal_all(lifeline::ask_to_end);
        if let Some(hook) = &mut self.hook {
            hook.start(why, self.grace);
        }
    }

    /// Kills the command and its processes. The hook has a separate time limit: after a suspension, the hook may have
    /// just begun.
    fn kill(&mut self) {
        if let Some(stopping) = &mut self.stopping {
            stopping.killing = true;
        }
        self.signal_all(lifeline::end);
    }

    /// Signals the command and all other processes that need the slot.
    fn signal_all(&self, send: fn(Pid)) {
        let command = self.ended.is_none().then(|| self.supervisor.child());
        // The command comes first, because finding the other processes takes a while.
        command.into_iter().for_each(send);
        let others = self.keeper.lifeline.holders().into_iter();
        others.filter(|pid| Some(*pid) != command).for_each(send);
    }
}
