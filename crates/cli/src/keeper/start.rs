//! Starts the keeper of `hallpass run` and talks to it.

use std::{
    io,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd},
    pipe::{PipeFlags, pipe_with},
    process::{Pid, getpid},
};

use super::{
    Deadline, WORD,
    lifeline::Lifeline,
    messages::{Channel, Order, Report, Request},
};

/// Time limit for a release. After that, the keeper continues alone.
const RELEASING: Duration = Duration::from_secs(2);

/// The keeper, as `hallpass run` sees it.
pub struct Keeper {
    pub channel: Channel,
    pub deadline: Deadline,
    /// Finds the processes that need the slot.
    pub lifeline: Lifeline,
}

impl Keeper {
    /// Starts a keeper. Returns it together with the write end of the lifeline, which the command inherits.
    pub fn start(request: &Request) -> io::Result<(Self, OwnedFd)> {
        let (channel, far_end) = Channel::pair()?;
        let deadline = Deadline::new()?;
        let (read_end, write_end) = pipe_with(PipeFlags::CLOEXEC)?;
        let descriptors =
            [far_end.as_fd(), read_end.as_fd(), deadline.stop(), deadline.kill()].map(inheritable);
        let mut command = Command::new("/proc/self/exe");
        command.arg0("hallpass").arg(WORD);
        let mut open_until_started = Vec::new();
        for descriptor in descriptors {
            let descriptor = descriptor?;
            command.arg(descriptor.as_raw_fd().to_string());
            open_until_started.push(descriptor);
        }
        // The keeper must not prevent a directory from being unmounted, and must not keep a terminal open.
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn()?;
        channel.send(request)?;
        let lifeline = Lifeline::of(&write_end, getpid(), Pid::from_child(&process))?;
        Ok((Keeper { channel, deadline, lifeline }, write_end))
    }

    /// Asks the keeper to release the slot. Waits until the slot is released, for at most [`RELEASING`], and not beyond
    /// the deadline. Returns the reason if the slot was not released.
    pub fn release(self) -> io::Result<Option<String>> {
        self.channel.send(&Order::Release)?;
        let until = Instant::now() + RELEASING;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).map_err(io::Error::other)?;
            let mut waiting = [
                PollFd::new(&self.channel, PollFlags::IN),
                PollFd::from_borrowed_fd(self.deadline.kill(), PollFlags::IN),
            ];
            match poll(&mut waiting, Some(&left)) {
                Err(rustix::io::Errno::INTR) => continue,
                woken => woken?,
            };
            if waiting[0].revents().is_empty() {
                return Ok(Some("the cluster did not answer in time".into()));
            }
            match self.channel.receive()? {
                Some(Report::Released(problem)) => return Ok(problem),
                Some(_) => {}
                None => return Ok(Some("the keeper has died".into())),
            }
        }
    }
}

/// Copies a descriptor so that children inherit the copy.
fn inheritable(descriptor: impl AsFd) -> io::Result<OwnedFd> {
    let copy = fcntl_dupfd_cloexec(descriptor, 3)?;
    fcntl_setfd(&copy, FdFlags::empty())?;
    Ok(copy)
}
