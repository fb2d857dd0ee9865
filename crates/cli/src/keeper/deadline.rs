//! The deadline of the command: two kernel timers that `hallpass run` and its keeper share.
//!
//! The keeper sets the timers again whenever the pass is renewed. `hallpass run` sees them expire even if the keeper
//! has died. If they expire while `hallpass run` is suspended, `hallpass run` sees this as soon as it continues. The
//! timers keep running while the machine sleeps.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::retry_on_intr,
    time::{
        ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec,
        clock_gettime, timerfd_create, timerfd_settime,
    },
};

/// How much earlier than the end of the pass SIGKILL is due. This is the time that the processes have to die.
const MARGIN: Duration = Duration::from_millis(150);

pub struct Deadline {
    /// Fires when SIGTERM is due.
    stop: OwnedFd,
    /// Fires when SIGKILL is due.
    kill: OwnedFd,
}

impl Deadline {
    pub fn new() -> io::Result<Self> {
        let timer = || timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC);
        Ok(Deadline { stop: timer()?, kill: timer()? })
    }

    /// Uses the timers that `hallpass run` created.
    pub fn of(stop: OwnedFd, kill: OwnedFd) -> Self {
        Deadline { stop, kill }
    }

    /// Sets the timers so that the command is dead at the time `end` (by [`now`]): SIGKILL is due `MARGIN` before
    /// `end`, and SIGTERM is due `grace` before SIGKILL.
    pub fn set(&self, end: Duration, grace: Duration) -> io::Result<()> {
        let kill = kill_time(end);
        set(&self.kill, kill)?;
        set(&self.stop, kill.saturating_sub(grace))
    }

    /// Returns `true` if it is too late to start a command.
    pub fn is_near(&self) -> io::Result<bool> {
        let mut timer = [PollFd::new(&self.stop, PollFlags::IN)];
        Ok(retry_on_intr(|| poll(&mut timer, Some(&Timespec::default())))? > 0)
    }

    pub fn stop(&self) -> BorrowedFd<'_> {
        self.stop.as_fd()
    }

    pub fn kill(&self) -> BorrowedFd<'_> {
        self.kill.as_fd()
    }
}

/// Returns the time at which SIGKILL is due for processes that must be dead at `end`.
pub fn kill_time(end: Duration) -> Duration {
    end.saturating_sub(MARGIN)
}

/// Returns the time since the machine started.
pub fn now() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

fn set(timer: &OwnedFd, at: Duration) -> io::Result<()> {
    // Zero would disarm the timer.
    let at = at.max(Duration::from_nanos(1));
    let it_value = Timespec::try_from(at).map_err(io::Error::other)?;
    let once = Itimerspec { it_interval: Timespec::default(), it_value };
    timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &once)?;
    Ok(())
}
