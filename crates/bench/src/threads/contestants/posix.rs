//! POSIX semaphores: `sem_t` of the C library, within one process.
//!
//! Linux only: other systems have no unnamed semaphores, or different ones.
#![allow(unsafe_code)]

use std::{cell::UnsafeCell, io};

use crate::common::Semaphore;

/// A `sem_t` that stays where it is.
pub struct Posix(Box<UnsafeCell<libc::sem_t>>);

// SAFETY: a sem_t may be used by any thread of the process that made it.
unsafe impl Send for Posix {}
// SAFETY: sem_wait and sem_post are meant to be called by many threads at once.
unsafe impl Sync for Posix {}

/// A guard; dropping it frees the slot.
pub struct Guard<'a>(&'a Posix);

impl Posix {
    /// Makes a semaphore with `k` slots.
    pub fn new(k: usize) -> Self {
        let value = libc::c_uint::try_from(k).expect("k fits a sem_t");
        // SAFETY: all zeros are a valid sem_t, which is a union of integers; sem_init initialises it
        // before use.
        let semaphore = Box::new(UnsafeCell::new(unsafe { std::mem::zeroed() }));
        // SAFETY: the pointer is to memory that this box owns; nothing else refers to it yet.
        let result = unsafe { libc::sem_init(semaphore.get(), 0, value) };
        assert_eq!(result, 0, "sem_init: {}", io::Error::last_os_error());
        Posix(semaphore)
    }
}

impl Drop for Posix {
    fn drop(&mut self) {
        // SAFETY: it was initialised by `new`, and guards borrow it, so there is no holder and no waiter.
        unsafe { libc::sem_destroy(self.0.get()) };
    }
}

impl Semaphore for Posix {
    type Guard<'a> = Guard<'a>;

    #[inline]
    fn enter(&self, _: usize) -> Guard<'_> {
        // SAFETY: it was initialised by `new` and lives as long as `self`.
        while unsafe { libc::sem_wait(self.0.get()) } != 0 {
            let error = io::Error::last_os_error();
            assert_eq!(error.kind(), io::ErrorKind::Interrupted, "sem_wait: {error}");
        }
        Guard(self)
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: as in `enter`. It cannot fail: the value never exceeds what `new` was given.
        unsafe { libc::sem_post(self.0.0.get()) };
    }
}
