//! Memory that this process shares with those it makes.
#![allow(unsafe_code)]

use std::{io, ops::Deref, ptr::NonNull};

/// A value in memory that is shared with all processes that are made while it is there.
#[derive(Debug)]
pub struct Shared<T>(NonNull<T>);

// SAFETY: it is a reference to a `T` that any thread may have.
unsafe impl<T: Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Puts it there. It is not dropped by anybody, so it had better have nothing to drop.
    pub fn new(value: T) -> io::Result<Self> {
        const { assert!(!std::mem::needs_drop::<T>() && align_of::<T>() <= 4096) };
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: the kernel picks the address, so nothing is overwritten.
        let address = unsafe {
            libc::mmap(std::ptr::null_mut(), size_of::<T>().max(1), protection, flags, -1, 0)
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let place = NonNull::new(address.cast::<T>()).expect("it was mapped");
        // SAFETY: it is large enough, a page's address is aligned, and nothing else refers to it.
        unsafe { place.write(value) };
        Ok(Shared(place))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `new` put a value there, and it is mapped until this is dropped.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: `new` mapped so much there, and nobody borrows it any more. In other processes it
        // stays.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<T>().max(1)) };
    }
}
