//! Wakers are other people's code. Each test is named after a bug that it has found.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Wake, Waker},
};

use hallpass_threads::{AcquireOwned, Hall};

use crate::support::{Task, assert_whole, halls};

/// A waker that has a future of the same hall inside, as those of a task that holds its own futures.
struct Keeps(#[allow(dead_code)] Mutex<Option<Pin<Box<AcquireOwned>>>>);

impl Wake for Keeps {
    fn wake(self: Arc<Self>) {}
}

impl Keeps {
    /// A future that waits, inside a waker.
    fn waiting(hall: &Arc<Hall>) -> Waker {
        let inner = Task::new(hall.acquire_owned_async()).waits();
        Waker::from(Arc::new(Keeps(Mutex::new(Some(inner.future)))))
    }
}

/// Dropping a waker may drop a future that then takes the queue's lock: it must not be held.
#[test]
fn waker_was_dropped_with_the_lock_on_replacement() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let mut outer = Task::new(hall.acquire_owned_async());
        let waker = Keeps::waiting(&hall);
        assert!(outer.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        assert_eq!(hall.waiting(), 2);
        assert!(outer.poll().is_pending()); // the last of the old waker goes here
        assert_eq!(hall.waiting(), 1);
        drop(held);
        drop(outer.done());
        assert_whole(&hall);
    }
}

#[test]
fn waker_was_dropped_with_the_lock_on_giving_up() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let mut outer = Task::new(hall.acquire_owned_async());
        let waker = Keeps::waiting(&hall);
        assert!(outer.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        drop(outer);
        assert_eq!(hall.waiting(), 0);
        drop(held);
        assert_whole(&hall);
    }
}

/// Being woken drops what the waker keeps.
struct LetsGo(Mutex<Option<Pin<Box<AcquireOwned>>>>);

impl Wake for LetsGo {
    fn wake(self: Arc<Self>) {
        drop(self.0.lock().unwrap().take());
    }
}

/// Waking may drop a future that is in the queue: nobody must be serving then.
#[test]
fn waker_was_rung_while_serving() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let kept = Arc::new(LetsGo(Mutex::new(None)));
        let mut first = Task::new(hall.acquire_async());
        let waker = Waker::from(Arc::clone(&kept));
        assert!(first.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let second = Task::new(hall.acquire_owned_async()).waits();
        *kept.0.lock().unwrap() = Some(second.future);
        let third = Task::new(hall.acquire_async()).waits();
        hall.close();
        assert_eq!((hall.waiting(), third.rung()), (0, 1));
        drop((first, third, held));
    }
}

/// Panics when woken.
struct Explodes(AtomicUsize);

impl Wake for Explodes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
        panic!("this waker panics");
    }
}

/// A panic on the way through the queue would leave grants undone, and free nodes others point to.
#[test]
fn waker_that_panics_lost_the_grants_after_it() {
    for hall in halls(3) {
        let held = hall.acquire_many(3).unwrap();
        let explodes = Arc::new(Explodes(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&explodes));
        let mut first = Task::new(hall.acquire_async());
        assert!(first.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let second = Task::new(hall.acquire_async()).waits();
        let third = Task::new(hall.acquire_async()).waits();
        drop(held);
        assert_eq!((explodes.0.load(SeqCst), second.rung(), third.rung()), (1, 1, 1));
        drop((first.done(), second.done(), third.done()));
        assert_whole(&hall);
    }
}

/// Counts its clones, and panics at the second from when it is armed.
mod fussy {
    use std::{
        sync::atomic::{AtomicI64, Ordering::SeqCst},
        task::{RawWaker, RawWakerVTable, Waker},
    };

    pub static LEFT: AtomicI64 = AtomicI64::new(0);
    pub static RUNG: AtomicI64 = AtomicI64::new(0);

    fn clone(_: *const ()) -> RawWaker {
        assert!(LEFT.fetch_sub(1, SeqCst) > 0, "this waker is not cloned any more");
        RawWaker::new(std::ptr::null(), &TABLE)
    }

    fn wake(_: *const ()) {
        RUNG.fetch_add(1, SeqCst);
    }

    static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, |_| {});

    pub fn waker() -> Waker {
        // SAFETY: there is no data, and every function may be called anywhere.
        #[allow(unsafe_code)]
        unsafe {
            Waker::new(std::ptr::null(), &TABLE)
        }
    }
}

/// A waker that cannot be cloned leaves the future as it was: the next poll brings its own again.
#[test]
fn waker_half_replaced_was_never_rung() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let waker = fussy::waker();
        let mut task = Task::new(hall.acquire_async()).waits();
        fussy::LEFT.store(1, SeqCst);
        let poll = std::panic::AssertUnwindSafe(|| {
            task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
        });
        assert!(std::panic::catch_unwind(poll).is_err());
        fussy::LEFT.store(2, SeqCst);
        fussy::RUNG.store(0, SeqCst);
        let pending = task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending();
        assert!(pending);
        drop(held);
        assert_eq!((fussy::RUNG.load(SeqCst), task.rung()), (1, 0));
        drop(task.done());
        assert_whole(&hall);
    }
}
