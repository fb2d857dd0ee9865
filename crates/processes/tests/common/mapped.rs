//! Memory that the processes of a test share. It does not depend on the crate under test.

use std::{fs::OpenOptions, marker::PhantomData, ops::Deref, path::Path, ptr};

use rustix::mm::{MapFlags, ProtFlags, mmap};

/// Types that may be in memory that other processes change.
///
/// # Safety
/// All fields are atomics, and all zeros are a valid value.
pub unsafe trait Shareable {}

/// A file that is mapped until the process ends.
pub struct Mapped<T>(ptr::NonNull<T>, PhantomData<T>);

// SAFETY: only atomics can be reached through this type.
unsafe impl<T: Shareable> Send for Mapped<T> {}
// SAFETY: only atomics can be reached through this type.
unsafe impl<T: Shareable> Sync for Mapped<T> {}

impl<T> Clone for Mapped<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Mapped<T> {}

impl<T: Shareable> Mapped<T> {
    /// Maps the file, and extends it with zeros if it is too short.
    pub fn open(path: &Path) -> Self {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path).unwrap();
        file.set_len(size_of::<T>() as u64).unwrap();
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address, so no memory in use is touched.
        let address = unsafe {
            mmap(ptr::null_mut(), size_of::<T>(), protection, MapFlags::SHARED, &file, 0)
        };
        Mapped(ptr::NonNull::new(address.unwrap().cast()).unwrap(), PhantomData)
    }
}

impl<T: Shareable> Deref for Mapped<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the address of a page is aligned for any `T`. The file is as long as a `T`, and is never
        // unmapped or truncated. By the contract of the trait, zeros and all stored values are valid.
        unsafe { self.0.as_ref() }
    }
}
