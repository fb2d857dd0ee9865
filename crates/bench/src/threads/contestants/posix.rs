//! POSIX semaphores: `sem_t` of the C library, within one process.
//!
//! This contestant runs on Linux only. Other systems have no unnamed semaphores, or different ones.
#![allow(unsafe_code)]

use std::{cell::UnsafeCell, io};

use crate::common::Semaphore;

/// A `sem_t` that does not move in memory.
pub struct Posix(Box<UnsafeCell<libc::sem_t>>);

// SAFETY: any thread of the process that made a sem_t may use it.
unsafe impl Send for Posix {}
// SAFETY: many threads may call sem_wait and sem_post at the same time.
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
        // SAFETY: `new` initialised the semaphore. Holders and waiters borrow it, so there are none now.
        unsafe { libc::sem_destroy(self.0.get()) };
    }
}

impl Semaphore for Posix {
    type Guard<'a> = Guard<'a>;

    #[inline]
    fn enter(&self, _: usize) -> Guard<'_> {
        // SAFETY: `new` initialised the semaphore, which lives as long as `self`.
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
        // SAFETY: the semaphore is initialised, and lives as long as the guard. The call cannot fail, because the value
        // never exceeds the initial value.
        unsafe { libc::sem_post(self.0.0.get()) };
    }
}
