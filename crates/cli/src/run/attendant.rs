//! The attendant: a thread that works while hallpass waits for a slot. It shows the queue on the terminal, and
//! ends the wait when Ctrl-Z suspends hallpass or `hallpass cancel` cancels the wait.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use hallpass_processes::{Cancel, SharedHall};
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    io::Errno,
    process::Signal,
};

use super::display::{AT_FIRST, EVERY, StatusLine, in_foreground, sentence};
use crate::{
    cancel::CANCEL,
    signals::{SignalFd, SignalSet, is_ignored},
    snapshot::{Users, View},
};

/// The signals that suspend hallpass. They end the wait, but not hallpass.
const STOPS: [Signal; 3] = [Signal::TSTP, Signal::TTIN, Signal::TTOU];

/// The status line uses at most this fraction of a core: one part in `SHARE`.
const SHARE: u32 = 50;

/// Why the attendant ended the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// hallpass must suspend itself with this signal.
    Suspend(Signal),
    /// `hallpass cancel` has asked this process to stop waiting.
    Cancelled,
}

/// A thread that attends to signals and to the terminal during a wait.
pub struct Attendant {
    /// Lets another thread end the wait.
    pub cancel: Arc<Cancel>,
    /// The signals that this process blocks during the wait.
    blocked: SignalSet,
    done: Arc<OwnedFd>,
    interruption: Arc<Mutex<Option<Interruption>>>,
    thread: Option<JoinHandle<()>>,
}

impl Attendant {
    /// Starts the thread. With `watched`, it shows the queue of `hall` on the terminal.
    pub fn start(hall: &SharedHall, watched: bool) -> io::Result<Self> {
        let signals = STOPS.into_iter().chain([CANCEL]).filter(|signal| !is_ignored(*signal));
        let blocked = SignalSet::of(signals);
        let signals = SignalFd::new(&blocked)?;
        let done = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        blocked.block()?;
        let cancel = Arc::new(Cancel::default());
        let interruption = Arc::new(Mutex::new(None));
        let mut duty = Duty {
            signals,
            done: done.clone(),
            cancel: cancel.clone(),
            interruption: interruption.clone(),
            display: watched.then(|| Display::new(hall.clone())),
        };
        // If the thread cannot be started, hallpass waits without it, and signals have their default effect.
        let thread = thread::Builder::new().name("attendant".into()).spawn(move || duty.attend());
        if thread.is_err() {
            blocked.unblock()?;
        }
        Ok(Attendant { cancel, blocked, done, interruption, thread: thread.ok() })
    }

    /// Ends the thread. Returns the reason if the attendant has ended the wait.
    pub fn finish(mut self) -> Option<Interruption> {
        self.end();
        self.interruption.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn end(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = rustix::io::write(&*self.done, &1u64.to_ne_bytes());
            let _ = thread.join();
            let _ = self.blocked.unblock();
        }
    }
}

impl Drop for Attendant {
    fn drop(&mut self) {
        self.end();
    }
}

/// The part of the attendant that its thread owns.
struct Duty {
    signals: SignalFd,
    done: Arc<OwnedFd>,
    cancel: Arc<Cancel>,
    interruption: Arc<Mutex<Option<Interruption>>>,
    display: Option<Display>,
}

impl Duty {
    fn attend(&mut self) {
        let mut pause = self.display.is_some().then_some(AT_FIRST);
        loop {
            let mut files = [
                PollFd::from_borrowed_fd(self.done.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(self.signals.as_fd(), PollFlags::IN),
            ];
            let limit = pause.and_then(|pause| Timespec::try_from(pause).ok());
            match poll(&mut files, limit.as_ref()) {
                Ok(0) => pause = self.display.as_mut().map(Display::update),
                Ok(_) if !files[0].revents().is_empty() => return,
                Ok(_) => {
                    if let Some(interruption) = self.read_signal() {
                        let mut reason =
                            self.interruption.lock().unwrap_or_else(PoisonError::into_inner);
                        *reason = Some(interruption);
                        drop(reason);
                        self.cancel.cancel();
                        return;
                    }
                }
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    fn read_signal(&self) -> Option<Interruption> {
        let received = self.signals.read().ok()??;
        Some(match received.signal {
            CANCEL => Interruption::Cancelled,
            signal => Interruption::Suspend(signal),
        })
    }
}

/// Shows the queue of a hall on the terminal.
struct Display {
    hall: SharedHall,
    line: StatusLine,
    users: Users,
}

impl Display {
    fn new(hall: SharedHall) -> Self {
        Display { hall, line: StatusLine::new(), users: Users::default() }
    }

    /// Shows the queue. Returns the time until the next update, which is longer for a long queue.
    fn update(&mut self) -> Duration {
        let begun = Instant::now();
        if in_foreground() && self.line.has_terminal() {
            let hall = View::new(self.hall.status(), &mut self.users);
            self.line.write(&sentence(&hall, |one| one.own));
        }
        EVERY.max(begun.elapsed() * SHARE)
    }
}
