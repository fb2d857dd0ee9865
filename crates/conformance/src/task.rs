//! Futures that tests poll by hand.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
};

use crate::{HallUnderTest, eventually};

/// A waker that counts its wake-ups.
#[derive(Default, Debug)]
pub struct WakeCounter(AtomicUsize);

impl Wake for WakeCounter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

impl WakeCounter {
    /// Returns the number of wake-ups.
    pub fn count(&self) -> usize {
        self.0.load(SeqCst)
    }
}

/// A future that is polled only when a test asks for it.
#[derive(Debug)]
pub struct Task<F> {
    /// The future that the test polls.
    pub future: Pin<Box<F>>,
    /// The waker with which the future is polled.
    pub wakes: Arc<WakeCounter>,
}

impl<F: Future> Task<F> {
    /// Creates a task that has not been polled.
    pub fn new(future: F) -> Self {
        Task { future: Box::pin(future), wakes: Arc::default() }
    }

    /// Polls once.
    pub fn poll(&mut self) -> Poll<F::Output> {
        let waker = Waker::from(Arc::clone(&self.wakes));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    /// Polls once and waits until the task is in the queue of the hall.
    ///
    /// # Panics
    /// Panics if the future is ready.
    pub fn waits<H: HallUnderTest>(mut self, hall: &H) -> Self {
        let before = hall.waiting();
        assert!(self.poll().is_pending(), "the future should have to wait");
        eventually("the task waits", || hall.waiting() == before + 1);
        self
    }

    /// Returns whether the task was woken, so that it should be polled again.
    pub fn is_woken(&self) -> bool {
        self.wakes.count() > 0
    }

    /// Waits until the task is woken.
    pub fn woken(self) -> Self {
        eventually("the task is woken", || self.is_woken());
        self
    }

    /// Polls the future whenever it is woken, until it is ready.
    pub fn done(mut self) -> F::Output {
        loop {
            let before = self.wakes.count();
            if let Poll::Ready(output) = self.poll() {
                return output;
            }
            eventually("the task is woken", || self.wakes.count() > before);
        }
    }
}
