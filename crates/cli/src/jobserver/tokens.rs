//! The tokens of a jobserver. Each token is a slot. The *server* is hallpass, and its *clients* are the programs of the
//! build, such as make. A client takes a token before it starts another job in parallel, and puts it back afterwards.

use std::{
    fs, io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    pin::Pin,
    process::Command,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    time::{Duration, Instant},
};

use hallpass_processes::{Acquire, Error, OwnedSharedPass, SharedHall};
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll},
    fs::{Mode, OFlags, open},
    io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_setfd, ioctl_fionread, read, write},
    pipe::{PipeFlags, fcntl_setpipe_size, pipe_with},
};

use super::Style;
use crate::{
    output::say,
    run::{Duties, Ended, Failure, SlotAfterUs, WatchedCommand},
};

/// The byte that stands for a token.
const TOKEN: u8 = b'+';
/// A token that stays unused for this time while others wait for a slot is given up: a waiter gets the slot. This may
/// happen later, up to twice this time, if other events come first.
const UNUSED: Duration = Duration::from_millis(200);
/// Time between two checks of a named pipe. Clients put tokens back into the pipe from which they took them. No event
/// reports this, so hallpass counts the tokens in the pipe again and again.
const LOOK: Duration = Duration::from_millis(50);
/// How long the server waits before it requests a slot again, if the hall has no room for another waiter or a system
/// call failed.
const RETRY: Duration = Duration::from_secs(1);

/// The ends of the pipes that hallpass keeps.
pub struct Tokens {
    /// hallpass offers tokens here.
    offer: OwnedFd,
    /// hallpass takes offered tokens back here. This descriptor does not block, and shares no settings with the
    /// clients.
    take_back: OwnedFd,
    /// Clients put tokens back here. `None` if they put them back into the pipe from which they took them.
    returned: Option<OwnedFd>,
}

/// The parts of the pipes that the clients get.
pub struct Shared {
    /// The value of make's option `--jobserver-auth`.
    pub authority: String,
    /// Descriptors that the build inherits.
    _inherited: Vec<OwnedFd>,
}

impl Tokens {
    /// Creates the pipes.
    pub fn new(style: Style) -> io::Result<(Self, Shared)> {
        match style {
            Style::Pipe => Tokens::in_pipes(),
            Style::Fifo => Tokens::in_named_pipe(),
        }
    }

    /// Creates pipes for inherited descriptors. Clients put tokens back into a second pipe, so that hallpass
    /// notices this immediately.
    fn in_pipes() -> io::Result<(Self, Shared)> {
        let (source, offer) = pipe_with(PipeFlags::CLOEXEC)?;
        let (returned, sink) = pipe_with(PipeFlags::CLOEXEC)?;
        shrink(&offer)?;
        let take_back = reopened(&source)?;
        let inherited = [inheritable(source)?, inheritable(sink)?];
        let [read, write] = inherited.each_ref().map(|end| end.as_raw_fd());
        let shared =
            Shared { authority: format!("{read},{write}"), _inherited: Vec::from(inherited) };
        Ok((Tokens { offer, take_back, returned: Some(returned) }, shared))
    }

    /// Creates a pipe that clients open by name. The name is in `/proc`, so it vanishes when hallpass ends, even
    /// if hallpass is killed.
    fn in_named_pipe() -> io::Result<(Self, Shared)> {
        let (source, offer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        shrink(&offer)?;
        // If /proc is that of an outer PID namespace, the PID of this process there differs from that of `getpid`.
        let process = fs::read_link("/proc/self")?;
        let authority = format!("fifo:/proc/{}/fd/{}", process.display(), offer.as_raw_fd());
        let tokens = Tokens { offer, take_back: source, returned: None };
        Ok((tokens, Shared { authority, _inherited: Vec::new() }))
    }

    /// Returns the number of tokens that no client has taken.
    fn offered(&self) -> io::Result<usize> {
        Ok(ioctl_fionread(&self.take_back)? as usize)
    }

    /// Takes back one token, if there is one that no client has taken.
    fn take_one_back(&self) -> io::Result<bool> {
        match read(&self.take_back, &mut [0; 1]) {
            Ok(count) => Ok(count == 1),
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Limits the pipe to one buffer. Then the kernel reports the pipe as writable only while it is empty, that is, when a
/// client has taken the token.
fn shrink(pipe: &OwnedFd) -> io::Result<()> {
    // The kernel rounds up to a page, which is one buffer.
    fcntl_setpipe_size(pipe, 1)?;
    Ok(())
}

/// Opens the reading end of a pipe once more, without blocking.
fn reopened(pipe: &OwnedFd) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?)
}

/// Lets children inherit the descriptor, with a number that is not that of a standard stream.
fn inheritable(end: OwnedFd) -> io::Result<OwnedFd> {
    let copy = fcntl_dupfd_cloexec(end, 3)?;
    fcntl_setfd(&copy, FdFlags::empty())?;
    Ok(copy)
}

/// Wakes the server when its request gets a slot.
struct RequestWaker(OwnedFd);

impl Wake for RequestWaker {
    fn wake(self: Arc<Self>) {
        let _ = write(&self.0, &1u64.to_ne_bytes());
    }
}

/// Serves the tokens of one build.
pub struct Server {
    hall: SharedHall,
    tokens: Tokens,
    build: WatchedCommand,
    /// A slot for each token that is offered or taken.
    held: Vec<OwnedSharedPass>,
    /// The request for the slot of the next token.
    request: Option<Pin<Box<Acquire>>>,
    /// The hall gives this build no more slots, for example after `hallpass rm --force`.
    exhausted: bool,
    /// The last request failed. The server makes the next one at this time.
    retry_at: Option<Instant>,
    request_waker: Arc<RequestWaker>,
    /// When the latest token was offered.
    offered_at: Instant,
}

/// The events that ended a sleep.
struct Woken {
    /// Which of the files of the build are readable.
    build: [bool; 2],
    /// Clients have put tokens back.
    returned: bool,
    /// The request for a slot may have succeeded.
    granted: bool,
    /// The pipe contains no token, so the server may offer the next one.
    taken: bool,
}

impl Server {
    /// Starts the build.
    pub fn start(
        hall: SharedHall,
        tokens: Tokens,
        shared: Shared,
        command: Command,
        slot: SlotAfterUs<'_>,
        duties: Duties,
    ) -> Result<Self, Failure> {
        let build = WatchedCommand::start(command, slot, duties)?;
        drop(shared);
        let request_waker =
            Arc::new(RequestWaker(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?));
        Ok(Server {
            hall,
            tokens,
            build,
            held: Vec::new(),
            request: None,
            exhausted: false,
            retry_at: None,
            request_waker,
            offered_at: Instant::now(),
        })
    }

    /// Serves tokens until the build ends. When this function returns, the slots of all tokens are free.
    pub fn serve(mut self) -> Result<Ended, Failure> {
        loop {
            let woken = self.sleep()?;
            if let Some(ended) = self.build.attend(woken.build)? {
                return Ok(ended);
            }
            if woken.returned {
                self.accept_returned()?;
            }
            if woken.granted {
                let _ = read(&self.request_waker.0, &mut [0; 8]);
                self.poll_request()?;
            }
            if woken.taken && self.wants_token() {
                self.request = Some(Box::pin(self.hall.acquire_async()));
                self.poll_request()?;
            }
            self.give_up_unused()?;
        }
    }

    /// Returns `true` if the server should request a slot when no token is offered.
    fn wants_token(&self) -> bool {
        let may_request = self.retry_at.is_none_or(|time| Instant::now() >= time);
        self.request.is_none() && !self.exhausted && may_request
    }

    /// Waits for an event.
    fn sleep(&self) -> Result<Woken, Failure> {
        let [report, signals] = self.build.files();
        let nothing = (signals, PollFlags::empty());
        let returned = self.tokens.returned.as_ref();
        let wants_token = self.wants_token();
        let watched: [(BorrowedFd<'_>, PollFlags); 5] = [
            (report, PollFlags::IN),
            (signals, PollFlags::IN),
            returned.map_or(nothing, |end| (end.as_fd(), PollFlags::IN)),
            (self.request_waker.0.as_fd(), PollFlags::IN),
            if wants_token { (self.tokens.offer.as_fd(), PollFlags::OUT) } else { nothing },
        ];
        let mut files = watched.map(|(file, flags)| PollFd::from_borrowed_fd(file, flags));
        let until_retry = self.retry_at.map(|time| time.saturating_duration_since(Instant::now()));
        let pause = match (wants_token, returned) {
            (false, Some(_)) => until_retry.filter(|_| self.request.is_none() && !self.exhausted),
            (true, Some(_)) => Some(UNUSED),
            (_, None) => Some(LOOK),
        };
        let pause = pause.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut files, pause.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [report, signals, returned, granted, taken] =
            files.map(|file| !file.revents().is_empty());
        Ok(Woken { build: [report, signals], returned, granted, taken })
    }

    /// Frees a slot for each token that clients have put back.
    fn accept_returned(&mut self) -> Result<(), Failure> {
        let Some(returned) = &self.tokens.returned else { return Ok(()) };
        let mut bytes = [0; 256];
        let count = match read(returned, &mut bytes) {
            Err(Errno::INTR) => 0,
            count => count?,
        };
        // A client may put back more tokens than it took. Ignore the surplus.
        self.held.truncate(self.held.len().saturating_sub(count));
        Ok(())
    }

    /// Offers a token if the request has got its slot.
    fn poll_request(&mut self) -> Result<(), Failure> {
        let Some(request) = &mut self.request else { return Ok(()) };
        let waker = Waker::from(self.request_waker.clone());
        let Poll::Ready(granted) = request.as_mut().poll(&mut Context::from_waker(&waker)) else {
            return Ok(());
        };
        self.request = None;
        match granted {
            Ok(pass) => {
                self.held.push(pass);
                self.retry_at = None;
                self.offered_at = Instant::now();
                write(&self.tokens.offer, &[TOKEN])?;
                Ok(())
            }
            // These failures may be temporary. Report only the first one of a series.
            Err(error @ (Error::Full { .. } | Error::System { .. })) => {
                if self.retry_at.replace(Instant::now() + RETRY).is_none() {
                    say(format_args!("{}: no further slot for now: {error}", self.hall.name()));
                }
                Ok(())
            }
            // The build continues with the tokens that it has.
            Err(error) => {
                say(format_args!("{}: the build gets no more slots: {error}", self.hall.name()));
                self.exhausted = true;
                Ok(())
            }
        }
    }

    /// Takes back all but one of the tokens that no client has taken. If the last of them is unused for [`UNUSED`]
    /// while others wait for a slot, also takes it back.
    fn give_up_unused(&mut self) -> Result<(), Failure> {
        let mut surplus = self.tokens.offered()?.saturating_sub(1);
        let is_unused = self.request.is_none() && self.offered_at.elapsed() >= UNUSED;
        if is_unused && self.hall.waiting() > 0 {
            surplus += 1;
            self.offered_at = Instant::now();
        }
        for _ in 0..surplus {
            if self.tokens.take_one_back()? {
                self.held.pop();
            }
        }
        Ok(())
    }
}
