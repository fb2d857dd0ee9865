//! `--take N`: several slots for one command.
//!
//! A command that takes several slots makes one request for each of them. All its requests join the queue before
//! another such command makes its first request. The hall assigns slots in the order of the queue. So of two
//! commands, the earlier one has all its slots before the later one gets its first slot. It cannot happen that each
//! holds some of its slots and waits for slots that the other holds. Commands that take one slot join the queue as
//! usual.
//!
//! A lock on the directory of the hall decides whose turn it is to make requests. A turn lasts for milliseconds,
//! and the kernel releases the lock if its owner dies.

use std::{
    io,
    os::fd::OwnedFd,
    thread::{self, ScopedJoinHandle},
    time::{Duration, Instant},
};

use hallpass_processes::{Cancel, Error, SharedHall, SharedPass};
use rustix::{
    fs::{FlockOperation, Mode, OFlags, flock, open},
    io::Errno,
};

/// Time between two checks whether a request has joined the queue and whether the lock is free.
const SOON: Duration = Duration::from_millis(1);
/// Time between two checks whether the hall still has enough slots.
const LOOK: Duration = Duration::from_millis(200);

/// The reason why a command did not get its slots.
pub enum NotTaken {
    /// The hall has fewer slots.
    TooMany {
        slots: usize,
    },
    Hall(Error),
    System(io::Error),
}

impl From<Error> for NotTaken {
    fn from(error: Error) -> Self {
        NotTaken::Hall(error)
    }
}

/// Takes `count` slots if they are free and nobody waits. Fails with [`Error::NoPermits`] otherwise.
pub fn try_take(hall: &SharedHall, count: usize) -> Result<Vec<SharedPass<'_>>, NotTaken> {
    check(hall, count)?;
    let mut passes = Vec::with_capacity(count);
    while passes.len() < count {
        passes.push(hall.try_acquire()?);
    }
    Ok(passes)
}

/// Waits for `cancels.len()` slots and takes them. Fails with [`Error::NoPermits`] at `deadline`, or when another
/// thread cancels all of `cancels`.
pub fn take<'a>(
    hall: &'a SharedHall,
    cancels: &[Cancel],
    deadline: Option<Instant>,
) -> Result<Vec<SharedPass<'a>>, NotTaken> {
    check(hall, cancels.len())?;
    if let [cancel] = cancels {
        return Ok(vec![hall.acquire_unless(cancel, deadline)?]);
    }
    let Some(turn) = Turn::wait(hall, cancels, deadline)? else {
        return Err(Error::NoPermits.into());
    };
    thread::scope(|scope| {
        let mut requests: Vec<Request<'_, 'a>> = Vec::new();
        let cancel_all = || cancels.iter().for_each(Cancel::cancel);
        let mut without_thread = None;
        for cancel in cancels {
            // If one request fails, the command cannot run. So cancel the other requests.
            let request = move || {
                hall.acquire_unless(cancel, deadline)
                    .inspect_err(|_| cancels.iter().for_each(Cancel::cancel))
            };
            match thread::Builder::new().spawn_scoped(scope, request) {
                Ok(request) => requests.push(request),
                Err(error) => {
                    without_thread = Some(error);
                    cancel_all();
                    break;
                }
            }
            // The loop also ends if a request got its slot without waiting, or has failed.
            while own_waiters(hall) + finished(&requests) < requests.len() {
                thread::sleep(SOON);
            }
        }
        drop(turn);
        // The hall may shrink during the wait. Then some requests would never get a slot.
        while finished(&requests) < requests.len() {
            if !hall.is_closed() && hall.slots() < cancels.len() {
                cancel_all();
                break;
            }
            let first = requests.iter().position(|request| !request.is_finished());
            park_until_finished(&requests, first);
        }
        let passes = all_passes(requests);
        if let Some(error) = without_thread {
            return Err(NotTaken::System(error));
        }
        check(hall, cancels.len())?;
        Ok(passes?)
    })
}

/// Waits for the end of all requests. Returns the first error that is not a cancelled wait, if there is one.
fn all_passes<'a>(requests: Vec<Request<'_, 'a>>) -> Result<Vec<SharedPass<'a>>, Error> {
    let mut all = Ok(Vec::new());
    for request in requests {
        // A panic in a request is a bug in hallpass. Continue to panic in this thread.
        let result = request.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (&mut all, result) {
            (Ok(passes), Ok(pass)) => passes.push(pass),
            (Ok(_) | Err(Error::NoPermits), Err(error)) => all = Err(error),
            (Err(_), _) => {}
        }
    }
    all
}

type Request<'scope, 'a> = ScopedJoinHandle<'scope, Result<SharedPass<'a>, Error>>;

/// Fails if the hall does not have `count` slots.
fn check(hall: &SharedHall, count: usize) -> Result<(), NotTaken> {
    match hall.slots() {
        0 => Err(Error::Closed.into()),
        slots if slots < count => Err(NotTaken::TooMany { slots }),
        _ => Ok(()),
    }
}

/// Returns the number of requests of this process in the queue.
fn own_waiters(hall: &SharedHall) -> usize {
    hall.status().waiters.iter().filter(|one| one.own).count()
}

fn finished(requests: &[Request<'_, '_>]) -> usize {
    requests.iter().filter(|request| request.is_finished()).count()
}

/// Waits for a request, for a limited time.
fn park_until_finished(requests: &[Request<'_, '_>], which: Option<usize>) {
    let begun = Instant::now();
    let is_finished = || which.is_none_or(|which| requests[which].is_finished());
    while !is_finished() && begun.elapsed() < LOOK {
        thread::sleep(SOON);
    }
}

/// The turn of a command to make its requests.
struct Turn(#[expect(dead_code, reason = "closing it releases the lock")] OwnedFd);

impl Turn {
    /// Waits for the turn. Returns `None` at `deadline`, or if the wait is cancelled.
    fn wait(
        hall: &SharedHall,
        cancels: &[Cancel],
        deadline: Option<Instant>,
    ) -> Result<Option<Self>, NotTaken> {
        let system = |error: Errno| NotTaken::System(error.into());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = open(hall.path(), flags, Mode::empty()).map_err(system)?;
        loop {
            match flock(&dir, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(Turn(dir))),
                Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                Err(error) => return Err(system(error)),
            }
            let is_late = deadline.is_some_and(|deadline| deadline <= Instant::now());
            if is_late || cancels.iter().any(Cancel::is_cancelled) {
                return Ok(None);
            }
            thread::sleep(SOON);
        }
    }
}
