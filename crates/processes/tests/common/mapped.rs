//! Memory that processes share, outside of what is tested.

use std::{fs::OpenOptions, marker::PhantomData, ops::Deref, path::Path, ptr};

use rustix::mm::{MapFlags, ProtFlags, mmap};

/// What can lie in memory that others change.
///
/// # Safety
/// All of it is atomics, and all zeros are a valid value.
pub unsafe trait Shareable {}

/// A file, mapped for as long as the process lives.
pub struct Mapped<T>(ptr::NonNull<T>, PhantomData<T>);

// SAFETY: all that can be reached is atomics.
unsafe impl<T: Shareable> Send for Mapped<T> {}
// SAFETY: as above.
unsafe impl<T: Shareable> Sync for Mapped<T> {}

impl<T> Clone for Mapped<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Mapped<T> {}

impl<T: Shareable> Mapped<T> {
    /// Maps the file; what is not there yet is zeros.
    pub fn open(path: &Path) -> Self {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path).unwrap();
        file.set_len(size_of::<T>() as u64).unwrap();
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel picks the address, so nothing is overwritten.
        let address = unsafe {
            mmap(ptr::null_mut(), size_of::<T>(), protection, MapFlags::SHARED, &file, 0)
        };
        Mapped(ptr::NonNull::new(address.unwrap().cast()).unwrap(), PhantomData)
    }
}

impl<T: Shareable> Deref for Mapped<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: a page's address is aligned for any `T`, the file is as long as one, is never
        // unmapped or cut, and by the trait any zeros or what was stored there is a value.
        unsafe { self.0.as_ref() }
    }
}
