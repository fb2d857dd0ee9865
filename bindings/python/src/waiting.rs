//! A position in the queue of a hall.
//!
//! The future of `SharedHall::acquire_many_async` starts a thread that waits. When the wait may be over, the thread calls
//! the waker, which writes to an eventfd. The caller sleeps on the eventfd, so a signal, a time limit or an event
//! loop can end its sleep at any time. The thread never runs Python code and never takes the GIL.

use std::{
    future::Future,
    mem,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    pin::Pin,
    process,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Wake, Waker},
    time::{Duration, Instant},
};

use hallpass_processes::{AcquireMany, Error, OwnedSharedPasses, SharedHall};
use pyo3::prelude::*;
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, eventfd, poll},
    process::getpid,
    thread::gettid,
};

use crate::{
    errors::{self, IntoPython},
    open_hall::OpenHall,
    pass::Pass,
};

/// The longest sleep of the main thread. Python runs signal handlers in the main thread, and a signal may come just
/// before the thread goes to sleep.
const MAX_SLEEP_OF_MAIN_THREAD: Duration = Duration::from_millis(500);

/// An eventfd that is readable once the wait may be over.
struct WakeEvent(OwnedFd);

impl Wake for WakeEvent {
    fn wake(self: Arc<Self>) {
        // The write cannot fail: the counter is far from its limit.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

/// A position in the queue. Dropping it leaves the queue.
struct Wait {
    /// `Some` until the wait is dropped.
    future: Option<AcquireMany>,
    event: Arc<WakeEvent>,
    /// The process that waits. A forked child inherits the object but not the thread.
    process: u32,
}

impl Wait {
    fn new(py: Python<'_>, hall: &SharedHall, count: usize) -> PyResult<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let event = eventfd(0, flags).map_err(|error| {
            let text = format!("cannot wait for hall `{}`: {error}", hall.name());
            errors::system(py, error.raw_os_error(), text)
        })?;
        let (future, event) = (Some(hall.acquire_many_async(count)), Arc::new(WakeEvent(event)));
        Ok(Wait { future, event, process: process::id() })
    }

    /// Returns the pass or the error, if the wait is over.
    fn poll(&mut self) -> Option<Result<OwnedSharedPasses, Error>> {
        let mut count = [0; 8];
        // The read resets the counter. It fails if there is nothing to read, which does no harm.
        let _ = rustix::io::read(&self.event.0, &mut count);
        let waker = Waker::from(self.event.clone());
        let future = self.future.as_mut().expect("taken out only on drop");
        match Pin::new(future).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(pass) => Some(pass),
            Poll::Pending => None,
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let future = self.future.take();
        if self.process != process::id() {
            // The thread may have held the lock of the future when this process was forked. So this process must
            // not touch the future.
            mem::forget(future);
        }
    }
}

/// Waits until `count` slots are free or the time is over, without the GIL.
///
/// If a Python signal handler raises an exception, the caller leaves the queue and raises this exception.
pub(crate) fn block(
    py: Python<'_>,
    open: &Arc<OpenHall>,
    count: usize,
    timeout: Option<f64>,
) -> PyResult<Pass> {
    let deadline =
        timeout.map(duration).transpose()?.and_then(|time| Instant::now().checked_add(time));
    let mut forks = open.forks();
    let mut wait = Wait::new(py, &open.hall().into_python(py)?, count)?;
    loop {
        if let Some(pass) = wait.poll() {
            let pass = pass.into_python(py)?;
            return Ok(Pass::new(open.clone(), pass.slots().to_vec(), open.keep(pass)));
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            return Err(errors::timeout(py, &open.name, count, timeout.unwrap_or(0.0)));
        }
        let event = wait.event.clone();
        py.detach(|| sleep(&event, left));
        py.check_signals()?;
        // A signal handler may have forked this process. A child inherits no thread that waits, so it joins the queue
        // itself.
        if open.forks() != forks {
            forks = open.forks();
            wait = Wait::new(py, &open.hall().into_python(py)?, count)?;
        }
    }
}

/// Sleeps until the eventfd is readable, a signal comes, or the time is over.
fn sleep(event: &WakeEvent, time: Option<Duration>) {
    let is_main = gettid() == getpid();
    let max = is_main.then_some(MAX_SLEEP_OF_MAIN_THREAD);
    let time = [time, max].into_iter().flatten().min();
    let time = time.and_then(|time| time.try_into().ok());
    // The caller checks everything again, whatever ended the sleep.
    let _ = poll(&mut [PollFd::new(&event.0.as_fd(), PollFlags::IN)], time.as_ref());
}

/// Converts a time limit in seconds, as Python passes it.
pub(crate) fn duration(seconds: f64) -> PyResult<Duration> {
    if seconds.is_nan() || seconds < 0.0 {
        return Err(errors::value_error("timeout must be None or a number of seconds, at least 0"));
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// A position in the queue of a hall, for an event loop.
#[pyclass(frozen, module = "hallpass_slots._native")]
pub(crate) struct Waiting {
    hall: Arc<OpenHall>,
    wait: Mutex<Option<Wait>>,
}

impl Waiting {
    /// Joins the queue with a request for `count` slots.
    pub(crate) fn new(py: Python<'_>, hall: Arc<OpenHall>, count: usize) -> PyResult<Self> {
        let wait = Wait::new(py, &hall.hall().into_python(py)?, count)?;
        Ok(Waiting { hall, wait: Mutex::new(Some(wait)) })
    }

    fn wait(&self) -> MutexGuard<'_, Option<Wait>> {
        self.wait.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Waiting {
    /// Returns a descriptor. When it becomes readable, the event loop calls ``poll``.
    fn fileno(&self) -> Option<i32> {
        self.wait().as_ref().map(|wait| wait.event.0.as_raw_fd())
    }

    /// Returns the pass if the wait is over, and ``None`` otherwise.
    fn poll(&self, py: Python<'_>) -> PyResult<Option<Pass>> {
        let Some(pass) = self.wait().as_mut().and_then(Wait::poll) else { return Ok(None) };
        let pass = pass.into_python(py)?;
        Ok(Some(Pass::new(self.hall.clone(), pass.slots().to_vec(), self.hall.keep(pass))))
    }

    /// Leaves the queue and closes the descriptor. If this position has just got a slot, the next waiter gets it.
    fn cancel(&self) {
        drop(self.wait().take());
    }
}
