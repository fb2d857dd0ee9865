//! What the tests share.

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

/// Halls of `k` slots, one of each kind that can have so many.
pub fn halls(k: usize) -> Vec<Arc<Hall>> {
    // Whatever has room for more than 32 slots keeps their numbers beside the word.
    let wide = Hall::builder(k).max_slots(k.max(100)).build().unwrap();
    let narrow = (k <= 32).then(|| Arc::new(Hall::new(k)));
    narrow.into_iter().chain([Arc::new(wide)]).collect()
}

/// Waits until `f` holds, and not for ever.
pub fn wait_until(what: &str, f: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !f() {
        assert!(Instant::now() < end, "waited a minute for: {what}");
        thread::yield_now();
    }
}

/// Starts a thread, and waits until it sleeps in the queue. That it is counted as waiting is not
/// enough: it is, some steps before it has its place.
pub fn queue<T: Send + 'static>(
    hall: &Arc<Hall>,
    f: impl FnOnce(&Arc<Hall>) -> T + Send + 'static,
) -> JoinHandle<T> {
    let before = hall.waiting();
    let (tell, told) = mpsc::channel();
    let thread = thread::spawn({
        let hall = Arc::clone(hall);
        move || {
            tell.send(fs::read_link("/proc/thread-self")).unwrap();
            f(&hall)
        }
    });
    let name = told.recv().unwrap();
    wait_until("one more in the queue", || hall.waiting() == before + 1);
    match name {
        // Linux. Who is counted does nothing that takes the core from it for long until it parks.
        Ok(name) => wait_until("it sleeps", || {
            let stat = fs::read_to_string(Path::new("/proc").join(&name).join("stat")).unwrap();
            stat.rsplit(") ").next().unwrap().starts_with('S')
        }),
        Err(_) => thread::sleep(Duration::from_millis(50)),
    }
    thread
}

/// Everything is free, nobody waits, and each slot can be had.
pub fn assert_whole(hall: &Hall) {
    assert_eq!((hall.available(), hall.waiting()), (hall.slots(), 0), "{hall:?}");
    let all: Vec<_> = (0..hall.slots()).map(|_| hall.try_acquire().unwrap()).collect();
    for (i, pass) in all.iter().enumerate() {
        assert_eq!(pass.slot(), i);
    }
    assert!(hall.try_acquire().is_err());
    drop(all);
    assert_eq!((hall.available(), hall.waiting()), (hall.slots(), 0), "{hall:?}");
}

/// Counts how often it is woken.
#[derive(Default)]
pub struct Alarm(AtomicUsize);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

impl Alarm {
    pub fn rung(&self) -> usize {
        self.0.load(SeqCst)
    }
}

/// A future, and who polls it.
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

    /// Polls; it must have to wait.
    pub fn waits(mut self) -> Self {
        assert!(self.poll().is_pending());
        self
    }

    /// Polls; it must be done.
    pub fn done(mut self) -> F::Output {
        match self.poll() {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("it should be done"),
        }
    }

    pub fn rung(&self) -> usize {
        self.alarm.rung()
    }
}
