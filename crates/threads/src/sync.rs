//! Atomics and threads of the standard library, or of loom when loom checks this crate.

#[cfg(loom)]
pub(crate) use self::thread::Thread;
#[cfg(loom)]
pub(crate) use loom::{cell::UnsafeCell, hint::spin_loop, sync::atomic::AtomicPtr};
#[cfg(not(loom))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicI64, AtomicPtr},
    thread::{self, Thread},
};

/// The standard library's cell with the interface of loom's cell. Under loom, this is loom's cell, so loom sees every
/// access.
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

/// Parking under loom. Loom's own parking has two bugs (tokio-rs/loom#249): a thread that yields before it parks
/// loses its park token, and an unpark can end a `join`.
#[cfg(loom)]
pub(crate) mod thread {
    use loom::sync::{Arc, Condvar, Mutex};
    pub(crate) use loom::thread::yield_now;

    /// A flag that is set while the thread has its park token, and a condition variable that announces the token.
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

/// Stores a word with Release ordering.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) fn set(word: &AtomicI64, value: i64) {
    word.store(value, std::sync::atomic::Ordering::Release);
}

/// Stores a word with Release ordering.
#[cfg(loom)]
pub(crate) fn set(word: &AtomicI64, value: i64) {
    word.0.store(value, std::sync::atomic::Ordering::Release);
}

/// Loom's atomic integer, with the interface that [`Op::apply`](hallpass_algorithms::Op::apply) needs.
#[cfg(loom)]
pub(crate) struct AtomicI64(loom::sync::atomic::AtomicI64);

#[cfg(loom)]
mod word {
    use super::AtomicI64;
    use hallpass_algorithms::{AtomicWord, Word};
    use std::sync::atomic::Ordering::SeqCst;

    impl AtomicI64 {
        pub(crate) fn new(word: Word) -> Self {
            AtomicI64(loom::sync::atomic::AtomicI64::new(word))
        }
    }

    impl AtomicWord for AtomicI64 {
        fn load(&self) -> Word {
            self.0.load(SeqCst)
        }

        fn swap(&self, new: Word) -> Word {
            self.0.swap(new, SeqCst)
        }

        fn fetch_add(&self, by: Word) -> Word {
            self.0.fetch_add(by, SeqCst)
        }

        fn fetch_or(&self, bits: Word) -> Word {
            self.0.fetch_or(bits, SeqCst)
        }

        fn fetch_and(&self, bits: Word) -> Word {
            self.0.fetch_and(bits, SeqCst)
        }

        fn compare_exchange(&self, old: Word, new: Word) -> Result<Word, Word> {
            self.0.compare_exchange(old, new, SeqCst, SeqCst)
        }
    }
}
