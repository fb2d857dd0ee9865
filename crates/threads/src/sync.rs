//! The atomics and threads that are used: the standard library's, or loom's when it checks us.

#[cfg(loom)]
pub(crate) use self::thread::Thread;
#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    hint::spin_loop,
    sync::atomic::{AtomicI64, AtomicPtr},
};
#[cfg(not(loom))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicI64, AtomicPtr},
    thread::{self, Thread},
};

/// The standard library's cell with loom's way of asking, so that loom sees who accesses it.
#[cfg(not(loom))]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    #[inline]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// Parking under loom. Its own loses the token of a thread that yields before it parks, and lets an
/// unpark end a `join` (tokio-rs/loom#249).
#[cfg(loom)]
pub(crate) mod thread {
    use loom::sync::{Arc, Condvar, Mutex};
    pub(crate) use loom::thread::yield_now;

    /// Whether there is a token, and the news of it.
    #[derive(Clone)]
    pub(crate) struct Thread(Arc<(Mutex<bool>, Condvar)>);

    loom::thread_local! {
        static CURRENT: Thread = Thread(Arc::new((Mutex::new(false), Condvar::new())));
    }

    pub(crate) fn current() -> Thread {
        CURRENT.with(Thread::clone)
    }

    pub(crate) fn park() {
        let Thread(this) = current();
        let mut token = this.0.lock().unwrap();
        while !*token {
            token = this.1.wait(token).unwrap();
        }
        *token = false;
    }

    impl Thread {
        pub(crate) fn unpark(&self) {
            *self.0.0.lock().unwrap() = true;
            self.0.1.notify_one();
        }
    }
}

use hallpass_algorithms::{Op, Word};
use std::sync::atomic::Ordering::SeqCst;

/// One access, sequentially consistent, as in the checker: [`Op::apply`], for loom's words too.
#[inline(always)]
pub(crate) fn access(word: &AtomicI64, op: Op) -> Word {
    match op {
        Op::Read => word.load(SeqCst),
        Op::Write(new) => word.swap(new, SeqCst),
        Op::FetchAdd(by) => word.fetch_add(by, SeqCst),
        Op::TestAndSet => word.swap(1, SeqCst),
        Op::Set(bits) => word.fetch_or(bits, SeqCst),
        Op::Clear(bits) => word.fetch_and(!bits, SeqCst),
        Op::CompareAndSwap { old, new } => {
            word.compare_exchange(old, new, SeqCst, SeqCst).unwrap_or_else(|found| found)
        }
        Op::AtomicUpdate(f, argument) => word
            .fetch_update(SeqCst, SeqCst, |old| Some(f(old, argument)))
            .unwrap_or_else(|found| found),
    }
}
