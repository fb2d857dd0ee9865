//! Wakers are foreign code. Each test is named after a bug that it has found.

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

/// A waker that owns a future of the same hall, as the waker of a task that owns its futures does.
struct Keeps(#[allow(dead_code)] Mutex<Option<Pin<Box<AcquireOwned>>>>);

impl Wake for Keeps {
    fn wake(self: Arc<Self>) {}
}

impl Keeps {
    /// Makes a waker with a future that waits.
    fn waiting(hall: &Arc<Hall>) -> Waker {
        let inner = Task::new(hall.acquire_owned_async()).waits();
        Waker::from(Arc::new(Keeps(Mutex::new(Some(inner.future)))))
    }
}

/// Dropping a waker may drop a future, which takes the queue's lock: the caller must not hold it.
#[test]
fn waker_was_dropped_with_the_lock_on_replacement() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let mut outer = Task::new(hall.acquire_owned_async());
        let waker = Keeps::waiting(&hall);
        assert!(outer.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        assert_eq!(hall.waiting(), 2);
        assert!(outer.poll().is_pending()); // drops the last copy of the old waker
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

/// Drops its content when it is woken.
struct LetsGo(Mutex<Option<Pin<Box<AcquireOwned>>>>);

impl Wake for LetsGo {
    fn wake(self: Arc<Self>) {
        drop(self.0.lock().unwrap().take());
    }
}

/// Waking may drop a future in the queue: the caller must not be the server.
#[test]
fn waker_was_woken_by_the_server() {
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

/// A panic while serving would skip grants, and free nodes to which others point.
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

/// Counts its clones. Once armed, it panics when it is cloned the second time.
mod fussy {
    use std::{
        sync::atomic::{AtomicI64, Ordering::SeqCst},
        task::{RawWaker, RawWakerVTable, Waker},
    };

    pub static LEFT: AtomicI64 = AtomicI64::new(0);
    pub static RUNG: AtomicI64 = AtomicI64::new(0);

    fn clone(_: *const ()) -> RawWaker {
        assert!(LEFT.fetch_sub(1, SeqCst) > 0, "this waker must not be cloned again");
        RawWaker::new(std::ptr::null(), &TABLE)
    }

    fn wake(_: *const ()) {
        RUNG.fetch_add(1, SeqCst);
    }

    static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, |_| {});

    pub fn waker() -> Waker {
        // SAFETY: there is no data, and every function may be called on any thread.
        #[allow(unsafe_code)]
        unsafe {
            Waker::new(std::ptr::null(), &TABLE)
        }
    }
}

/// A waker whose clone panics leaves the future as it was: the next poll registers its own.
#[test]
fn waker_half_replaced_was_never_woken() {
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
