//! Until when the command may run: two timers of the kernel, which `hallpass run` and its keeper share.
//!
//! The keeper sets them anew whenever it hears that the pass is still ours; whoever guards the command
//! sees them fire, at the right time, whether or not the keeper still lives, and however long it slept
//! itself. They go on while the machine sleeps.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

/// The time that killing may take.
const MARGIN: Duration = Duration::from_millis(150);

pub struct Deadline {
    /// Fires when the command has to be asked to end.
    stop: OwnedFd,
    /// Fires when it has to be killed.
    kill: OwnedFd,
}

impl Deadline {
    pub fn new() -> io::Result<Self> {
        let timer = || timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC);
        Ok(Deadline { stop: timer()?, kill: timer()? })
    }

    /// The same, from the other process.
    pub fn of(stop: OwnedFd, kill: OwnedFd) -> Self {
        Deadline { stop, kill }
    }

    /// Lets the command be dead at `end`, as [`now`] counts, and be asked `grace` before that.
    pub fn set(&self, end: Duration, grace: Duration) -> io::Result<()> {
        let kill = kill_time(end);
        set(&self.kill, kill)?;
        set(&self.stop, kill.saturating_sub(grace))
    }

    pub fn stop(&self) -> BorrowedFd<'_> {
        self.stop.as_fd()
    }

    pub fn kill(&self) -> BorrowedFd<'_> {
        self.kill.as_fd()
    }
}

/// When whoever has to be dead at `end` has to be killed.
pub fn kill_time(end: Duration) -> Duration {
    end.saturating_sub(MARGIN)
}

/// The time since the machine was started.
pub fn now() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

fn set(timer: &OwnedFd, at: Duration) -> io::Result<()> {
    // Zero would be never.
    let at = at.max(Duration::from_nanos(1));
    let it_value = Timespec::try_from(at).map_err(io::Error::other)?;
    let once = Itimerspec { it_interval: Timespec::default(), it_value };
    timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &once)?;
    Ok(())
}
