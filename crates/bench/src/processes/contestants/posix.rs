//! A POSIX semaphore in shared memory: `sem_t` of the C library. The slot of a killed holder is lost.
#![allow(unsafe_code)]

use std::{cell::UnsafeCell, io, path::Path, sync::Arc};

use super::ProcessSemaphore;
use crate::{
    common::{Padded, Semaphore},
    processes::memory::Shared,
};

struct Cell(UnsafeCell<libc::sem_t>);

// SAFETY: many threads and processes may call sem_wait and sem_post at the same time.
unsafe impl Sync for Cell {}

#[derive(Clone)]
pub struct Posix(Arc<Shared<Padded<Cell>>>);

pub struct Guard<'a>(&'a Posix);

impl Posix {
    fn pointer(&self) -> *mut libc::sem_t {
        self.0.0.0.get()
    }
}

impl ProcessSemaphore for Posix {
    type Handle = Posix;

    fn make(k: usize, _: &Path) -> Result<Self, String> {
        // SAFETY: all zeros are a valid sem_t, which is a union of integers.
        let cell = Padded(Cell(UnsafeCell::new(unsafe { std::mem::zeroed() })));
        let memory = Shared::new(cell).map_err(|error| error.to_string())?;
        let posix = Posix(Arc::new(memory));
        // SAFETY: no other process uses the semaphore yet, and it does not move.
        match unsafe { libc::sem_init(posix.pointer(), 1, k as libc::c_uint) } {
            0 => Ok(posix),
            _ => Err(format!("sem_init: {}", io::Error::last_os_error())),
        }
    }

    fn join(&self) -> Posix {
        self.clone()
    }
}

impl Semaphore for Posix {
    type Guard<'a> = Guard<'a>;

    #[inline]
    fn enter(&self, _: usize) -> Guard<'_> {
        // SAFETY: `make` initialised the semaphore, which lives as long as `self`.
        while unsafe { libc::sem_wait(self.pointer()) } != 0 {
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
        // never exceeds k.
        unsafe { libc::sem_post(self.0.pointer()) };
    }
}
