//! Helpers of the tests.

use std::{
    fs,
    future::Future,
    path::Path,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use hallpass_threads::Hall;

/// Makes halls with `k` slots, one of each kind that can have that many.
pub fn halls(k: usize) -> Vec<Arc<Hall>> {
    // A hall that can have more than 32 slots keeps most slot numbers outside its `word`.
    let wide = Hall::builder(k).max_slots(k.max(100)).build().unwrap();
    let narrow = (k <= 32).then(|| Arc::new(Hall::new(k)));
    narrow.into_iter().chain([Arc::new(wide)]).collect()
}

/// Waits until `f` returns true, for at most a minute.
pub fn wait_until(what: &str, f: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !f() {
        assert!(Instant::now() < end, "waited a minute for: {what}");
        thread::yield_now();
    }
}

/// Starts a thread, and waits until it sleeps in the queue. It is not enough that the hall counts the thread as a
/// waiter, because that happens a few steps before the thread joins the queue. If the computer is so busy that the thread
/// ends before this function looks at it, the function returns too.
pub fn queue<T: Send + 'static>(
    hall: &Arc<Hall>,
    f: impl FnOnce(&Arc<Hall>) -> T + Send + 'static,
) -> JoinHandle<T> {
    let before = hall.waiting();
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn({
        let hall = Arc::clone(hall);
        move || {
            sender.send(fs::read_link("/proc/thread-self")).unwrap();
            f(&hall)
        }
    });
    let proc_path = receiver.recv().unwrap();
    wait_until("one more waiter", || hall.waiting() == before + 1 || thread.is_finished());
    match proc_path {
        // On Linux: after the hall has counted a thread, the thread does not sleep before it parks.
        Ok(path) => wait_until("the thread sleeps", || {
            // The file is gone after the thread has ended.
            fs::read_to_string(Path::new("/proc").join(&path).join("stat"))
                .is_ok_and(|stat| stat.rsplit(") ").next().unwrap().starts_with('S'))
                || thread.is_finished()
        }),
        Err(_) => thread::sleep(Duration::from_millis(50)),
    }
    thread
}

/// Checks that every slot is free and can be taken, and that nobody waits.
pub fn assert_all_slots_free(hall: &Hall) {
    assert_eq!((hall.available(), hall.waiting()), (hall.slots(), 0), "{hall:?}");
    let all: Vec<_> = (0..hall.slots()).map(|_| hall.try_acquire().unwrap()).collect();
    for (i, pass) in all.iter().enumerate() {
        assert_eq!(pass.slot(), i);
    }
    assert!(hall.try_acquire().is_err());
    drop(all);
    assert_eq!((hall.available(), hall.waiting()), (hall.slots(), 0), "{hall:?}");
}

/// A waker that counts its wake-ups.
#[derive(Default)]
pub struct Alarm(AtomicUsize);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

impl Alarm {
    pub fn wake_ups(&self) -> usize {
        self.0.load(SeqCst)
    }
}

/// A future and its waker.
pub struct Task<F> {
    pub future: Pin<Box<F>>,
    pub alarm: Arc<Alarm>,
}

impl<F: Future> Task<F> {
    pub fn new(future: F) -> Self {
        Task { future: Box::pin(future), alarm: Arc::default() }
    }

    /// Polls once.
    pub fn poll(&mut self) -> Poll<F::Output> {
        let waker = Waker::from(Arc::clone(&self.alarm));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    /// Polls once, and checks that the future waits.
    pub fn waits(mut self) -> Self {
        assert!(self.poll().is_pending());
        self
    }

    /// Polls once, and checks that the future returns.
    pub fn done(mut self) -> F::Output {
        match self.poll() {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("the future should have returned"),
        }
    }

    pub fn wake_ups(&self) -> usize {
        self.alarm.wake_ups()
    }
}
