//! A mutex that cannot block a forked child permanently.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use crate::sys;

/// A mutex that may be locked at the moment of a fork. The child does not have the thread that locked it, so in the
/// child the mutex would stay locked forever. `lock` notices this.
pub(crate) struct ForkMutex<T> {
    mutex: Mutex<T>,
    /// The process that last locked the mutex, as numbered by [`sys::generation`].
    locked_in: AtomicU64,
}

/// The number of times that a child tries to lock a mutex that its parent has locked last. Another thread of the
/// child may have just locked it, so one try is not enough.
const TRIES: usize = 1000;

impl<T> ForkMutex<T> {
    pub(crate) fn new(value: T) -> Self {
        ForkMutex { mutex: Mutex::new(value), locked_in: AtomicU64::new(sys::generation()) }
    }

    /// Locks the mutex. Returns `None` in a forked child if the mutex was locked at the moment of the fork.
    pub(crate) fn lock(&self) -> Option<MutexGuard<'_, T>> {
        let here = sys::generation();
        let guard = match self.try_lock() {
            Some(guard) => guard,
            // ORDERING: relaxed. The number only shows whether a thread of this process has locked the mutex.
            None if self.locked_in.load(Relaxed) == here => {
                self.mutex.lock().unwrap_or_else(PoisonError::into_inner)
            }
            None => (0..TRIES).find_map(|_| {
                thread::yield_now();
                self.try_lock()
            })?,
        };
        // ORDERING: relaxed. The number only shows whether a thread of this process has locked the mutex.
        self.locked_in.store(here, Relaxed);
        Some(guard)
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.mutex.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    /// The thread sleeps for much longer than a child tries to lock the mutex.
    #[test]
    fn a_mutex_locked_by_a_living_thread_is_waited_for() {
        let mutex = ForkMutex::new(0);
        let (locked, is_locked) = mpsc::channel();
        thread::scope(|scope| {
            let mutex = &mutex;
            scope.spawn(move || {
                let mut value = mutex.lock().unwrap();
                locked.send(()).unwrap();
                thread::sleep(Duration::from_secs(1));
                *value = 1;
            });
            is_locked.recv().unwrap();
            assert_eq!(mutex.lock().map(|value| *value), Some(1));
        });
    }

    #[test]
    fn a_mutex_locked_by_a_thread_of_the_parent_is_given_up_soon() {
        let mutex = ForkMutex::new(0);
        let guard = mutex.lock();
        mutex.locked_in.store(sys::generation() + 1, Relaxed);
        assert!(mutex.lock().is_none());
        drop(guard);
        assert!(mutex.lock().is_some());
        assert_eq!(mutex.locked_in.load(Relaxed), sys::generation());
    }
}
