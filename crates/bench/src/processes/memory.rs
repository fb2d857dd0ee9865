//! Memory that this process shares with its children.
#![allow(unsafe_code)]

use std::{io, ops::Deref, ptr::NonNull};

/// A value in memory that this process shares with all children that it forks while the value exists.
#[derive(Debug)]
pub struct Shared<T>(NonNull<T>);

// SAFETY: the type is a reference to a `T`, and references to a `Sync` type may be sent to other threads.
unsafe impl<T: Sync> Send for Shared<T> {}
// SAFETY: the type is a reference to a `T`, and threads may share references to a `Sync` type.
unsafe impl<T: Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Moves `value` to shared memory. No process drops the value, so its type must not need a drop.
    pub fn new(value: T) -> io::Result<Self> {
        const { assert!(!std::mem::needs_drop::<T>() && align_of::<T>() <= 4096) };
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: the kernel chooses the address, so no memory in use is touched.
        let address = unsafe {
            libc::mmap(std::ptr::null_mut(), size_of::<T>().max(1), protection, flags, -1, 0)
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let pointer = NonNull::new(address.cast::<T>()).expect("a mapping does not start at 0");
        // SAFETY: the mapping is large enough, its address is aligned to a page, and nothing else refers to
        // the mapping.
        unsafe { pointer.write(value) };
        Ok(Shared(pointer))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `new` has written a value, which stays mapped until `self` is dropped.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: `new` mapped this many bytes at this address, and nothing borrows them any more. The
        // mappings of other processes are not affected.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<T>().max(1)) };
    }
}
