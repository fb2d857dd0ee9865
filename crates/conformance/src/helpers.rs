//! Functions that the behaviours share.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{HallUnderTest, Refusal};

/// The number of milliseconds for which a behaviour waits for an event before it fails.
static DEADLINE: AtomicU64 = AtomicU64::new(60_000);

/// Returns how long a behaviour waits for an event before it fails. This is a minute, unless
/// [`set_deadline`] was called. Even on a very busy computer, an event takes this long only if the hall
/// is broken.
pub fn deadline() -> Duration {
    Duration::from_millis(DEADLINE.load(Relaxed))
}

/// Changes the [`deadline`] of this process. Tests use this for halls that are known to be broken.
pub fn set_deadline(time: Duration) {
    DEADLINE.store(time.as_millis() as u64, Relaxed);
}

/// A time limit that no test reaches.
pub(crate) const LONG: Duration = Duration::from_secs(600);

/// A time limit that soon runs out.
pub(crate) const SHORT: Duration = Duration::from_millis(30);

/// Opens a hall with `k` slots. This must succeed.
pub(crate) fn open<H: HallUnderTest>(k: usize) -> H {
    H::open(k).unwrap_or_else(|error| panic!("a hall with {k} slots: {error}"))
}

/// Takes `n` slots. These slots must be free.
pub(crate) fn fill<H: HallUnderTest>(hall: &H, n: usize) -> Vec<H::Pass> {
    (0..n).map(|_| hall.try_acquire().expect("a slot is free")).collect()
}

/// Returns the slots of these passes, in ascending order.
pub(crate) fn sorted<'a, H: HallUnderTest>(
    passes: impl IntoIterator<Item = &'a H::Pass>,
) -> Vec<usize> {
    let mut slots: Vec<_> = passes.into_iter().map(H::slot).collect();
    slots.sort_unstable();
    slots
}

/// Waits until `condition` holds.
///
/// # Panics
/// Panics if the condition does not hold within [`deadline`].
pub fn eventually(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + deadline();
    let mut pause = Duration::from_micros(50);
    while !condition() {
        assert!(Instant::now() < end, "still not true after {:?}: {what}", deadline());
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

/// A thread that waits in the queue of a hall. The test waits for the thread's result with a deadline.
/// So if the waiter never gets a slot, the test fails instead of hanging.
pub struct Queued<T> {
    result: mpsc::Receiver<T>,
    thread: JoinHandle<()>,
    /// The file in which Linux shows the state of the thread.
    stat: io::Result<PathBuf>,
}

impl<T: Send + 'static> Queued<T> {
    fn start<H: HallUnderTest>(hall: &H, f: impl FnOnce(&H) -> T + Send + 'static) -> Self {
        let (name, thread_name) = mpsc::channel();
        let (done, result) = mpsc::channel();
        let hall = hall.clone();
        let thread = thread::spawn(move || {
            name.send(fs::read_link("/proc/thread-self")).expect("the test receives the name");
            // This fails if the test has ended, for example because an assertion failed.
            let _ = done.send(f(&hall));
        });
        let name = thread_name.recv_timeout(deadline()).expect("the thread starts");
        let stat = name.map(|name| Path::new("/proc").join(name).join("stat"));
        Queued { result, thread, stat }
    }

    /// Returns whether the thread sleeps. On systems other than Linux, this waits for some time and returns `true`.
    fn sleeps(&self) -> bool {
        let Ok(stat) = &self.stat else {
            thread::sleep(Duration::from_millis(50));
            return true;
        };
        let stat = fs::read_to_string(stat).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('S'))
    }

    /// Waits until the thread returns, and returns its result.
    ///
    /// # Panics
    /// Panics if the thread has panicked, or does not return before the [`deadline`].
    pub fn join(self) -> T {
        match self.result.recv_timeout(deadline()) {
            Ok(result) => {
                self.thread.join().expect("the thread has returned");
                result
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                panic!("the waiter got no slot within {:?}", deadline())
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => panic!("the waiter has panicked"),
        }
    }

    /// Returns whether the thread has returned.
    pub fn is_done(&self) -> bool {
        self.thread.is_finished()
    }
}

/// Starts a thread that runs `f`. Returns when the thread waits in the queue of the hall, behind all
/// earlier waiters.
pub fn enqueue<H: HallUnderTest, T: Send + 'static>(
    hall: &H,
    f: impl FnOnce(&H) -> T + Send + 'static,
) -> Queued<T> {
    enqueue_while(hall, || true, f).expect("there is no time limit")
}

/// Works like [`enqueue`], but returns `None` if `in_time` no longer holds before the thread is in the
/// queue. In that case, the computer was too slow for the time limit of the test.
pub(crate) fn enqueue_while<H: HallUnderTest, T: Send + 'static>(
    hall: &H,
    in_time: impl Fn() -> bool,
    f: impl FnOnce(&H) -> T + Send + 'static,
) -> Option<Queued<T>> {
    start_in_queue(hall, |_| in_time(), f)
}

/// Works like [`enqueue`], for a caller with a time limit. Returns `None` if the caller has given up before it was seen
/// in the queue.
pub(crate) fn enqueue_for_a_while<H: HallUnderTest, T: Send + 'static>(
    hall: &H,
    f: impl FnOnce(&H) -> T + Send + 'static,
) -> Option<Queued<T>> {
    start_in_queue(hall, |queued| !queued.is_done(), f)
}

fn start_in_queue<H: HallUnderTest, T: Send + 'static>(
    hall: &H,
    in_time: impl Fn(&Queued<T>) -> bool,
    f: impl FnOnce(&H) -> T + Send + 'static,
) -> Option<Queued<T>> {
    let before = hall.waiting();
    let queued = Queued::start(hall, f);
    eventually("one more caller waits", || hall.waiting() == before + 1 || !in_time(&queued));
    // A hall may count a waiter some steps before the waiter is in the queue. A sleeping waiter is
    // certainly in the queue.
    eventually("the waiter sleeps", || queued.sleeps() || !in_time(&queued));
    in_time(&queued).then_some(queued)
}

/// Checks that the hall is full: `try_acquire` fails.
pub(crate) fn assert_full<H: HallUnderTest>(hall: &H) {
    match hall.try_acquire() {
        Err(Refusal::NoPermits) => {}
        other => panic!("the hall should be full, but `try_acquire` returned {other:?}"),
    }
}

/// Checks that no slot and no wake-up was lost. Within [`deadline`], all slots become free and no caller
/// waits. Then all slots can be acquired, the smallest first.
///
/// # Panics
/// Panics if the check fails.
pub fn assert_nothing_lost<H: HallUnderTest>(hall: &H) {
    let k = hall.slots();
    eventually("all slots are free and no caller waits", || {
        (hall.available(), hall.waiting()) == (k, 0)
    });
    let passes = fill(hall, k);
    assert!(
        passes.iter().map(H::slot).eq(0..k),
        "the slots are not 0 to {}, the smallest first",
        k - 1
    );
    assert_full(hall);
    passes.into_iter().for_each(H::release);
    eventually("all slots are free again", || (hall.available(), hall.waiting()) == (k, 0));
}

/// Runs `attempt` with longer and longer time limits, until a limit is long enough for the test to
/// create the situation that it needs. An attempt that fails drops its passes, so that its remaining
/// waiters get slots.
pub(crate) fn retry_longer(attempt: impl Fn(Duration) -> Option<()>) {
    let limits = [300, 1500, 6000, 25_000].map(Duration::from_millis);
    assert!(
        limits.into_iter().any(|limit| attempt(limit).is_some()),
        "this computer is too slow for the test"
    );
}
