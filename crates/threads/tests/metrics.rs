//! Tests of the feature `metrics`. To run them:
//! `cargo test -p hallpass-threads --features metrics --test metrics`.
#![cfg(feature = "metrics")]

use std::{
    future::Future,
    sync::Arc,
    task::{Context, Waker},
    thread,
    time::Duration,
};

use hallpass_threads::{Hall, Metrics};

const SHORT: Duration = Duration::from_millis(10);

fn halls(k: usize) -> [Arc<Hall>; 2] {
    [32, 100].map(|max| Arc::new(Hall::builder(k).max_slots(max).build().unwrap()))
}

/// Polls a future once, so that it joins the queue, and returns it.
macro_rules! queue {
    ($future:expr) => {{
        let mut future = Box::pin($future);
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        future
    }};
}

#[test]
fn callers_that_do_not_wait_are_not_counted() {
    for hall in halls(2) {
        let held = (hall.acquire().unwrap(), hall.acquire_many(1).unwrap());
        assert!(hall.try_acquire().is_err());
        drop(held);
        drop(pollster::block_on(hall.acquire_async()));
        hall.resize(1).unwrap();
        hall.close();
        assert_eq!(hall.metrics(), Metrics::default());
    }
}

#[test]
fn every_outcome_is_counted_once() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        assert!(hall.try_acquire_for(SHORT).is_err());
        let cancelled = queue!(hall.acquire_async());
        drop(cancelled);
        let mut granted = queue!(hall.acquire_async());
        let turned_away = queue!(hall.acquire_owned_async());
        let metrics = hall.metrics();
        assert_eq!((metrics.queued, metrics.timed_out, metrics.cancelled), (4, 1, 1));
        drop(held);
        let pass = granted.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(pass.is_ready());
        let thread = thread::spawn({
            let hall = Arc::clone(&hall);
            move || hall.acquire().is_err()
        });
        while hall.metrics().queued < 5 {
            thread::yield_now();
        }
        hall.close();
        assert!(pollster::block_on(turned_away).is_err());
        assert!(thread.join().unwrap());
        let metrics = hall.metrics();
        assert_eq!((metrics.queued, metrics.granted), (5, 1));
        assert_eq!((metrics.timed_out, metrics.cancelled, metrics.turned_away), (1, 1, 2));
        assert!(metrics.longest >= SHORT && metrics.waited >= metrics.longest);
    }
}

#[test]
fn waiting_times_are_measured() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| hall.acquire().unwrap());
            while hall.waiting() == 0 {
                thread::yield_now();
            }
            thread::sleep(SHORT);
            drop(held);
        });
        let metrics = hall.metrics();
        assert_eq!((metrics.queued, metrics.granted), (1, 1));
        assert!(metrics.waited >= SHORT && metrics.longest == metrics.waited);
    }
}
