//! Wakers are foreign code. The name of each test describes a bug that the test has found.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
    thread,
    time::Duration,
};

use hallpass_threads::{AcquireOwned, Hall};

use crate::support::{self, Task, assert_all_slots_free, queue, wait_until};

/// Makes halls with `k` slots: fair ones, and ones with a limit on overtaking.
fn halls(k: usize) -> Vec<Arc<Hall>> {
    let bypass = |max| Arc::new(Hall::builder(k).bypass(8).max_slots(max).build().unwrap());
    support::halls(k).into_iter().chain([32, 100].map(bypass)).collect()
}

/// A waker that owns a future of the same hall. This happens if a task owns its futures.
struct OwnsFuture(#[allow(dead_code)] Mutex<Option<Pin<Box<AcquireOwned>>>>);

impl Wake for OwnsFuture {
    fn wake(self: Arc<Self>) {}
}

impl OwnsFuture {
    /// Makes a waker with a future that waits.
    fn waiting(hall: &Arc<Hall>) -> Waker {
        let inner = Task::new(hall.acquire_owned_async()).waits();
        Waker::from(Arc::new(OwnsFuture(Mutex::new(Some(inner.future)))))
    }
}

/// Dropping a waker may drop a future, and a dropped future takes the lock of the queue. So a caller must not drop a
/// waker while it holds this lock.
#[test]
fn waker_was_dropped_with_the_lock_on_replacement() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let mut outer = Task::new(hall.acquire_owned_async());
        let waker = OwnsFuture::waiting(&hall);
        assert!(outer.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        assert_eq!(hall.waiting(), 2);
        assert!(outer.poll().is_pending()); // drops the last copy of the old waker
        assert_eq!(hall.waiting(), 1);
        drop(held);
        drop(outer.done());
        assert_all_slots_free(&hall);
    }
}

#[test]
fn waker_was_dropped_with_the_lock_on_giving_up() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let mut outer = Task::new(hall.acquire_owned_async());
        let waker = OwnsFuture::waiting(&hall);
        assert!(outer.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        drop(outer);
        assert_eq!(hall.waiting(), 0);
        drop(held);
        assert_all_slots_free(&hall);
    }
}

/// A waker that drops its future when it is woken.
struct DropsFuture(Mutex<Option<Pin<Box<AcquireOwned>>>>);

impl Wake for DropsFuture {
    fn wake(self: Arc<Self>) {
        drop(self.0.lock().unwrap().take());
    }
}

/// A waker may drop a future that is in the queue. So the caller that holds the lock of the queue, the *server*, must
/// not call wakers.
#[test]
fn waker_was_woken_by_the_server() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let kept = Arc::new(DropsFuture(Mutex::new(None)));
        let mut first = Task::new(hall.acquire_async());
        let waker = Waker::from(Arc::clone(&kept));
        assert!(first.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let second = Task::new(hall.acquire_owned_async()).waits();
        *kept.0.lock().unwrap() = Some(second.future);
        let third = Task::new(hall.acquire_async()).waits();
        hall.close();
        assert_eq!((hall.waiting(), third.wake_ups()), (0, 1));
        drop((first, third, held));
    }
}

/// A waker that panics when it is woken.
struct PanicsOnWake(AtomicUsize);

impl Wake for PanicsOnWake {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
        panic!("this waker panics");
    }
}

/// A panic while serving would skip grants, and free nodes to which other nodes point.
#[test]
fn waker_that_panics_lost_the_grants_after_it() {
    for hall in halls(3) {
        let held = hall.acquire_many(3).unwrap();
        let panics = Arc::new(PanicsOnWake(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&panics));
        let mut first = Task::new(hall.acquire_async());
        assert!(first.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let second = Task::new(hall.acquire_async()).waits();
        let third = Task::new(hall.acquire_async()).waits();
        drop(held);
        assert_eq!((panics.0.load(SeqCst), second.wake_ups(), third.wake_ups()), (1, 1, 1));
        drop((first.done(), second.done(), third.done()));
        assert_all_slots_free(&hall);
    }
}

/// A waker that panics when it is cloned more than `LEFT` times.
mod fussy {
    use std::{
        sync::atomic::{AtomicI64, Ordering::SeqCst},
        task::{RawWaker, RawWakerVTable, Waker},
    };

    pub static LEFT: AtomicI64 = AtomicI64::new(0);
    pub static WAKE_UPS: AtomicI64 = AtomicI64::new(0);

    fn clone(_: *const ()) -> RawWaker {
        assert!(LEFT.fetch_sub(1, SeqCst) > 0, "this waker must not be cloned again");
        RawWaker::new(std::ptr::null(), &TABLE)
    }

    fn wake(_: *const ()) {
        WAKE_UPS.fetch_add(1, SeqCst);
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

/// If cloning a waker panics, the future stays as it was, and the next poll registers the waker of that poll.
#[test]
fn waker_half_replaced_was_never_woken() {
    for hall in halls(1) {
        let held = hall.acquire().unwrap();
        let waker = fussy::waker();
        let mut task = Task::new(hall.acquire_async()).waits();
        fussy::LEFT.store(0, SeqCst);
        let poll = std::panic::AssertUnwindSafe(|| {
            task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
        });
        assert!(std::panic::catch_unwind(poll).is_err());
        fussy::LEFT.store(1, SeqCst);
        fussy::WAKE_UPS.store(0, SeqCst);
        let pending = task.future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending();
        assert!(pending);
        drop(held);
        assert_eq!((fussy::WAKE_UPS.load(SeqCst), task.wake_ups()), (1, 0));
        drop(task.done());
        assert_all_slots_free(&hall);
    }
}

/// A waker that records that it was woken, and then parks. (A waker that sends into a full channel parks, for
/// example.) The park consumes a wake-up of the thread that runs this waker.
#[derive(Default)]
struct Parks(AtomicUsize);

impl Wake for Parks {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
        thread::park_timeout(Duration::from_secs(1));
    }
}

/// In a barging hall, a thread that is woken to try again, but does not get its slots, wakes the next waiter and queues
/// again. If the next waiter is a task, the thread runs the waker of this task. If the waker parks, it consumes the
/// wake-up of the thread itself. So the thread must look at its grant again before it sleeps.
#[test]
fn waker_that_parks_swallowed_the_wake_up_of_a_waiter() {
    for _ in 0..20 {
        let hall = Arc::new(Hall::builder(3).barging().build().unwrap());
        let held = hall.acquire_many(3).unwrap();
        let thread = queue(&hall, |hall| drop(hall.acquire_many(2).unwrap()));
        let parks = Arc::new(Parks::default());
        let waker = Waker::from(Arc::clone(&parks));
        let mut task = Box::pin(hall.acquire_async());
        assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        hall.resize(5).unwrap(); // wakes the thread to try again
        let newcomer = hall.try_acquire();
        // If the newcomer is faster than the woken thread, it takes a slot that the thread needs.
        let newcomer_was_faster = newcomer.is_ok();
        wait_until("the task is woken", || parks.0.load(SeqCst) > 0);
        let pass = match task.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(pass) => pass.unwrap(),
            Poll::Pending => panic!("a slot is free"),
        };
        drop((pass, newcomer, held)); // wakes the thread again, while it runs the waker
        wait_until("the thread got its slots", || thread.is_finished());
        drop(task);
        assert_all_slots_free(&hall);
        if newcomer_was_faster {
            return;
        }
    }
}
