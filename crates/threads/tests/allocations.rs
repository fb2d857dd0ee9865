//! Which calls allocate memory: the documentation says that callers do not allocate, and lists the exceptions.
#![allow(unsafe_code, reason = "an allocator that counts")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    future::Future,
    pin::pin,
    sync::{Arc, mpsc},
    task::{Context, Wake, Waker},
    thread,
    time::Duration,
};

use hallpass_threads::{Acquirer, Hall, Pool, TryAcquireError};

thread_local! {
    /// The number of allocations of this thread.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: `System` does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns how many times `f` allocates on this thread, and what it returns.
fn allocations<R>(f: impl FnOnce() -> R) -> (usize, R) {
    let before = COUNT.get();
    let result = f();
    (COUNT.get() - before, result)
}

struct Ignores;

impl Wake for Ignores {
    fn wake(self: Arc<Self>) {}
}

fn waker() -> Waker {
    Waker::from(Arc::new(Ignores))
}

/// Makes three halls with `k` slots and room for `max`: a fair hall, a hall with a limit on overtaking, and a barging
/// hall.
fn halls(k: usize, max: usize) -> [Arc<Hall>; 3] {
    [0, 8, u32::MAX]
        .map(|bypass| Arc::new(Hall::builder(k).max_slots(max).bypass(bypass).build().unwrap()))
}

#[test]
fn a_call_that_finds_slots_free_does_not_allocate() {
    for hall in halls(32, 32) {
        let (count, ()) = allocations(|| {
            let one = hall.acquire().unwrap();
            let (owned, many) = (hall.acquire_owned().unwrap(), hall.acquire_many(20).unwrap());
            assert!(hall.try_acquire_many(20).is_err());
            drop((one, owned, many));
            let mut context = Context::from_waker(Waker::noop());
            assert!(pin!(hall.acquire_async()).poll(&mut context).is_ready());
            assert!(pin!(hall.acquire_many_owned_async(7)).poll(&mut context).is_ready());
            assert!(Acquirer::new(Arc::clone(&hall)).poll_acquire(&mut context).is_ready());
            hall.resize(3).unwrap();
            hall.close();
        });
        assert_eq!(count, 0);
    }
    let pool = Pool::new([1, 2]);
    assert_eq!(allocations(|| drop(pool.get().unwrap())).0, 0);
}

#[test]
fn a_thread_that_waits_does_not_allocate() {
    for hall in halls(1, 32).into_iter().chain(halls(1, 100)) {
        let held = hall.acquire().unwrap();
        let (sender, receiver) = mpsc::channel();
        let waiter = thread::spawn({
            let hall = Arc::clone(&hall);
            move || {
                let late = allocations(|| hall.try_acquire_for(Duration::from_millis(1)).map(drop));
                sender.send(late).unwrap();
                allocations(|| drop(hall.acquire().unwrap())).0
            }
        });
        assert_eq!(receiver.recv().unwrap(), (0, Err(TryAcquireError::TimedOut)));
        while hall.waiting() == 0 {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(20)); // most likely the thread is parked then
        let (count, ()) = allocations(|| drop(held));
        assert_eq!((count, waiter.join().unwrap()), (0, 0));
    }
}

#[test]
fn a_task_that_waits_does_not_allocate() {
    for hall in halls(1, 32).into_iter().chain(halls(1, 100)) {
        let (one, other) = (waker(), waker());
        let held = hall.acquire().unwrap();
        let (count, ()) = allocations(|| {
            let (mut first, mut second) = (pin!(hall.acquire_async()), pin!(hall.acquire_async()));
            assert!(first.as_mut().poll(&mut Context::from_waker(&one)).is_pending());
            assert!(second.as_mut().poll(&mut Context::from_waker(&one)).is_pending());
            assert!(first.as_mut().poll(&mut Context::from_waker(&other)).is_pending());
            drop(held);
            assert!(first.as_mut().poll(&mut Context::from_waker(&other)).is_ready());
        });
        assert_eq!((count, hall.available()), (0, 1));
    }
}

/// Three exceptions: a call that admits several tasks allocates a list of their wakers. In a hall that can have more
/// than 32 slots, the first pass with a slot above 15 allocates the slot numbers, and a request for several slots
/// allocates a list. (The documentation also lists an `Acquirer` that waits; this test has none.)
#[test]
fn the_exceptions_are_those_that_the_documentation_lists() {
    let hall = Arc::new(Hall::new(3));
    let held = hall.acquire_many(3).unwrap();
    let waker = waker();
    let mut tasks: Vec<_> = (0..3).map(|_| Box::pin(hall.acquire_async())).collect();
    for task in &mut tasks {
        assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_eq!(allocations(|| drop(held)).0, 1);
    drop(tasks);

    let hall = Hall::new(100);
    let first: Vec<_> = (0..16).map(|_| allocations(|| hall.acquire().unwrap())).collect();
    assert!(first.iter().all(|(count, _)| *count == 0));
    let (count, pass) = allocations(|| hall.acquire().unwrap());
    assert!(count > 0 && pass.slot() == 16);
    let (count, next) = allocations(|| hall.acquire().unwrap());
    assert_eq!((count, next.slot()), (0, 17));
    assert!(allocations(|| hall.acquire_many(2).unwrap()).0 > 0);
}
