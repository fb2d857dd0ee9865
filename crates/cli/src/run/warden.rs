//! The warden: a process between hallpass and the command. It finds all processes that the command started.
//!
//! `hallpass run` starts a warden if an option concerns these processes: `--descendants`, `--on-kill kill` or
//! `--time-limit`. `hallpass jobserver` always starts one. The warden is a *child subreaper*: when a process that the
//! command started dies, the children of the dead process become children of the warden. So no process escapes the
//! warden, even if it closes all descriptors or starts a new session. The warden supervises the command, as hallpass
//! itself does without a warden. hallpass supervises the warden: it forwards signals, and suspends itself when the
//! warden is suspended.
#![allow(unsafe_code)]

use std::{
    env, fs, io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    process::Command,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, read, write},
    pipe::{PipeFlags, pipe_with},
    process::{Pid, WaitOptions, getpid, set_child_subreaper, setsid, wait},
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout},
};

use super::{
    descendants::{self, ask_all_to_end},
    inherited::SlotAfterUs,
    supervisor::{CaughtSignals, Ended, Supervisor},
    warden_report::{MESSAGE, decode, encode},
};

/// Time between two checks of processes that are being ended.
const SOON: Duration = Duration::from_millis(20);

/// The duties of the warden, besides supervising the command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duties {
    /// `--on-kill kill`: end all processes if hallpass is killed.
    pub kill_with_us: bool,
    /// `hallpass jobserver`: end all processes if a signal kills the command.
    pub kill_jobs: bool,
    /// `--descendants`: keep the slot until all processes have ended.
    pub await_descendants: bool,
    /// `--time-limit`: the time after which the warden ends the command.
    pub time_limit: Option<TimeLimit>,
}

/// The longest time that the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLimit {
    pub limit: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
}

impl Duties {
    /// Returns `true` if any duty needs a warden.
    pub fn any(self) -> bool {
        self != Duties::default()
    }
}

/// The reason why hallpass does not know the exit status of the command.
pub enum Failure {
    /// The command cannot be started.
    NotStarted(io::Error),
    /// The command cannot be supervised.
    Unsupervised(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Unsupervised(error)
    }
}

impl From<Errno> for Failure {
    fn from(error: Errno) -> Self {
        io::Error::from(error).into()
    }
}

/// A command under a warden, as hallpass sees it.
pub struct WatchedCommand {
    /// Supervises the warden.
    warden: Supervisor,
    /// The pipe from the warden.
    report: OwnedFd,
    duties: Duties,
    /// Whether the command keeps the slot if the warden and hallpass end before it.
    keeps_slot: bool,
}

impl WatchedCommand {
    /// Starts the command under a warden. Processes that the command leaves running may continue after its end. With
    /// `--descendants`, the warden then also continues.
    ///
    /// This process must have only one thread.
    pub fn start(command: Command, slot: SlotAfterUs<'_>, duties: Duties) -> io::Result<Self> {
        let keeps_slot = matches!(slot, SlotAfterUs::Kept(_));
        let signals = CaughtSignals::catch()?;
        let (report, reporter) = pipe_with(PipeFlags::CLOEXEC)?;
        if duties.kill_with_us {
            // If the warden itself is killed, this process gets the orphans.
            set_child_subreaper(Some(getpid()))?;
        }
        // SAFETY: this process has only one thread, so its copy is in a consistent state.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(report);
                let status = match Warden::start(signals, command, slot, duties, reporter) {
                    Ok(warden) => warden.keep(),
                    Err(_) => 1,
                };
                // SAFETY: the call takes a number. It runs no destructors, so the copies of the parent's values are not
                // dropped.
                unsafe { libc::_exit(status) }
            }
            pid => {
                let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::NotFound)?;
                let mut warden = signals.supervise(pid);
                warden.probe_group();
                Ok(WatchedCommand { warden, report, duties, keeps_slot })
            }
        }
    }

    /// Waits until the command ends.
    pub fn wait(mut self) -> Result<Ended, Failure> {
        loop {
            let mut files = self.files().map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN));
            match poll(&mut files, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let ready = files.map(|file| !file.revents().is_empty());
            if let Some(ended) = self.attend(ready)? {
                return Ok(ended);
            }
        }
    }

    /// Returns two descriptors that are readable when [`attend`](WatchedCommand::attend) has something to do.
    pub fn files(&self) -> [BorrowedFd<'_>; 2] {
        [self.report.as_fd(), self.warden.signals()]
    }

    /// Handles what has happened: `ready` says which of [`files`](WatchedCommand::files) are readable. Returns how
    /// the command ended, if it did.
    pub fn attend(&mut self, ready: [bool; 2]) -> Result<Option<Ended>, Failure> {
        let [reported, signalled] = ready;
        if reported {
            return self.read_report().map(Some);
        }
        if signalled {
            // Ignore how the warden ends. Only its report says how the command ended.
            let _ = self.warden.attend()?;
        }
        Ok(None)
    }

    fn read_report(&mut self) -> Result<Ended, Failure> {
        let mut message = [0; MESSAGE];
        if read(&self.report, &mut message)? == MESSAGE {
            return decode(message).map_err(Failure::NotStarted);
        }
        // The warden has died.
        self.warden.end_probe();
        let fate = match (self.duties.kill_with_us, self.keeps_slot) {
            (true, _) => {
                descendants::kill_all();
                "so hallpass has killed the command"
            }
            (false, true) => "the command still runs and keeps its slot, but without a time limit",
            (false, false) => "the command still runs, without its slot and without a time limit",
        };
        let why = format!("the process that watches over it (the warden) was killed; {fate}");
        Err(io::Error::other(why).into())
    }
}

/// The state of the warden.
struct Warden {
    supervisor: Supervisor,
    duties: Duties,
    /// The pipe to hallpass. When its other end is closed, hallpass has died.
    reporter: OwnedFd,
    begun: Instant,
    /// The time at which SIGKILL follows SIGTERM, once the command has reached its time limit.
    kill_at: Option<Instant>,
    orphaned: bool,
}

impl Warden {
    fn start(
        signals: CaughtSignals,
        command: Command,
        slot: SlotAfterUs<'_>,
        duties: Duties,
        reporter: OwnedFd,
    ) -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        // The lifeline is a pipe: the slot stays taken while a process has it open. So the warden keeps the slot by its
        // copy of the lifeline, unless it closes the copy.
        if let SlotAfterUs::Freed(lifeline) = slot {
            // SAFETY: the warden is a copy of hallpass and does not use the hall. It ends with `_exit`, so the owner of
            // the descriptor is not dropped here, and does not close the descriptor a second time.
            unsafe { libc::close(lifeline.as_raw_fd()) };
        }
        let started = signals.start(command, slot.inherited(), duties.kill_with_us);
        let mut supervisor = started.inspect_err(|error| {
            let _ = write(&reporter, &encode(Err(error.raw_os_error().unwrap_or(libc::EIO))));
        })?;
        supervisor.adopt();
        supervisor.probe_group();
        let begun = Instant::now();
        Ok(Warden { supervisor, duties, reporter, begun, kill_at: None, orphaned: false })
    }

    /// Waits for the end of the command and reports it. Returns the exit status of the warden.
    fn keep(mut self) -> i32 {
        let ended = match self.watch() {
            Ok(ended) => ended,
            Err(_) => return 1,
        };
        let Warden { mut supervisor, duties, reporter, .. } = self;
        supervisor.end_probe();
        let is_killed = matches!(ended, Ended::Killed(_) | Ended::Interrupted);
        if ended == Ended::TimedOut || (is_killed && duties.kill_jobs) {
            descendants::kill_all();
        }
        if duties.await_descendants {
            let detached = detach();
            // This fails if hallpass has died. Then nobody needs the report.
            let _ = write(&reporter, &encode(Ok(ended)));
            drop(reporter);
            // Stop catching signals only now: until the report is written, a signal must not kill the warden.
            if detached.and_then(|()| supervisor.stop_catching()).is_ok() {
                await_children();
            }
        } else {
            let _ = write(&reporter, &encode(Ok(ended)));
        }
        0
    }

    /// Waits until the command has ended, by itself or because the warden has ended it.
    fn watch(&mut self) -> io::Result<Ended> {
        loop {
            let woken = self.sleep()?;
            if woken.orphaned && !self.orphaned {
                self.orphaned = true;
                if self.duties.kill_with_us {
                    self.supervisor.end_probe();
                    descendants::kill_all();
                    return Ok(Ended::Killed(libc::SIGKILL));
                }
            }
            if woken.signal
                && let Some(ended) = self.supervisor.attend()?
            {
                return Ok(match self.kill_at {
                    None => ended,
                    Some(kill_at) => {
                        self.await_others(kill_at);
                        Ended::TimedOut
                    }
                });
            }
            self.enforce_limit();
        }
    }

    /// Waits for an event, or until the time limit needs attention.
    fn sleep(&self) -> io::Result<Woken> {
        let reporter = match self.orphaned {
            true => self.supervisor.signals(),
            false => self.reporter.as_fd(),
        };
        let mut files = [
            PollFd::from_borrowed_fd(self.supervisor.signals(), PollFlags::IN),
            // This requests no event, because the kernel always reports that the other end is closed.
            PollFd::from_borrowed_fd(reporter, PollFlags::empty()),
        ];
        let left = self.deadline().map(|at| at.saturating_duration_since(Instant::now()));
        let left = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut files, left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [signal, orphaned] = files.map(|file| !file.revents().is_empty());
        Ok(Woken { signal, orphaned })
    }

    /// Returns the time at which the time limit needs attention next.
    fn deadline(&self) -> Option<Instant> {
        let TimeLimit { limit, .. } = self.duties.time_limit?;
        self.kill_at.or_else(|| self.begun.checked_add(limit))
    }

    /// Asks the command to end when its time is over, and kills it when its grace is over.
    fn enforce_limit(&mut self) {
        let now = Instant::now();
        let (Some(at), Some(TimeLimit { grace, .. })) = (self.deadline(), self.duties.time_limit)
        else {
            return;
        };
        if now < at {
            return;
        }
        self.supervisor.keep_running();
        match self.kill_at {
            None => {
                self.kill_at = Some(now.checked_add(grace).unwrap_or(now));
                ask_all_to_end();
            }
            Some(_) => {
                // The group probe is also a descendant. Once it is killed and reaped, another process may get its PID.
                self.supervisor.end_probe();
                descendants::kill_once();
                self.kill_at = Some(now + SOON);
            }
        }
    }

    /// Waits until the processes that the command started have ended, but not longer than until `limit`.
    fn await_others(&mut self, limit: Instant) {
        self.supervisor.end_probe();
        while Instant::now() < limit {
            match wait(WaitOptions::NOHANG) {
                Err(Errno::CHILD) => return,
                Ok(Some(_)) => {}
                _ => std::thread::sleep(SOON),
            }
        }
    }
}

/// The events that ended a sleep.
struct Woken {
    signal: bool,
    /// hallpass has died.
    orphaned: bool,
}

/// Closes the standard streams, and leaves the terminal and the working directory. They belong to the command and its
/// caller.
fn detach() -> io::Result<()> {
    setsid()?;
    let null = fs::File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    env::set_current_dir("/")
}

/// Waits until this process has no child.
fn await_children() {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
