//! A robust mutex of the C library in shared memory. If the holder dies, the next process gets the mutex, with an error
//! code that reports the death.
#![allow(unsafe_code)]

use std::{cell::UnsafeCell, io, path::Path, sync::Arc};

use super::{ProcessSemaphore, only_one};
use crate::{
    common::{Padded, Semaphore},
    processes::memory::Shared,
};

struct Cell(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: many threads and processes may try to lock an initialised mutex at the same time.
unsafe impl Sync for Cell {}

#[derive(Clone)]
pub struct Robust(Arc<Shared<Padded<Cell>>>);

pub struct Guard<'a>(&'a Robust);

impl Robust {
    fn pointer(&self) -> *mut libc::pthread_mutex_t {
        self.0.0.0.get()
    }
}

impl ProcessSemaphore for Robust {
    type Handle = Robust;

    fn make(k: usize, _: &Path) -> Result<Self, String> {
        only_one(k)?;
        let cell = Padded(Cell(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER)));
        let memory = Shared::new(cell).map_err(|error| error.to_string())?;
        let robust = Robust(Arc::new(memory));
        // SAFETY: the attributes consist of integers, so all zeros are a valid value until they are initialised.
        let mut attributes: libc::pthread_mutexattr_t = unsafe { std::mem::zeroed() };
        // SAFETY: the attributes are initialised before they are used. No other process uses the mutex yet,
        // and it does not move.
        let results = unsafe {
            [
                libc::pthread_mutexattr_init(&mut attributes),
                libc::pthread_mutexattr_setpshared(&mut attributes, libc::PTHREAD_PROCESS_SHARED),
                libc::pthread_mutexattr_setrobust(&mut attributes, libc::PTHREAD_MUTEX_ROBUST),
                libc::pthread_mutex_init(robust.pointer(), &attributes),
            ]
        };
        match results.into_iter().find(|result| *result != 0) {
            None => Ok(robust),
            Some(code) => Err(format!("a mutex: {}", io::Error::from_raw_os_error(code))),
        }
    }

    fn join(&self) -> Robust {
        self.clone()
    }
}

impl Semaphore for Robust {
    type Guard<'a> = Guard<'a>;

    #[inline]
    fn enter(&self, _: usize) -> Guard<'_> {
        // SAFETY: `make` initialised the mutex, which lives as long as `self`.
        let result = unsafe { libc::pthread_mutex_lock(self.pointer()) };
        assert_eq!(result, 0, "pthread_mutex_lock: {}", io::Error::from_raw_os_error(result));
        Guard(self)
    }
}

impl Drop for Guard<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the mutex is initialised, and this thread has locked it.
        unsafe { libc::pthread_mutex_unlock(self.0.pointer()) };
    }
}
