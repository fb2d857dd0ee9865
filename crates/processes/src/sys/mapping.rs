//! Memory that processes share: a mapping of the beginning of a file.

use std::{
    io,
    os::fd::BorrowedFd,
    ptr::{self, NonNull},
    sync::atomic::{AtomicI64, AtomicU8, AtomicU32},
};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A mapping of the beginning of a file. Every process that maps the file sees the same words.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the memory belongs to the whole process, and is only accessed through atomics.
unsafe impl Send for Mapping {}
// SAFETY: the memory belongs to the whole process, and is only accessed through atomics.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `len` bytes of `file`. The file must have at least `len` bytes, and `len` must be a
    /// multiple of eight.
    pub(crate) fn new(file: BorrowedFd<'_>, len: usize) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address, so no memory in use is touched.
        let start = unsafe { mmap(ptr::null_mut(), len, access, MapFlags::SHARED, file, 0) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Mapping { start, len })
    }

    /// Returns the word at this offset.
    ///
    /// # Panics
    /// Panics if the offset is beyond the mapping, or not a multiple of eight.
    #[inline]
    pub(crate) fn word(&self, offset: usize) -> &AtomicI64 {
        assert!(offset.is_multiple_of(8) && offset < self.len);
        // SAFETY: the eight bytes at this offset are mapped and aligned: pages are aligned, `len` is a multiple of
        // eight, and the assertion holds. They stay mapped while `self` is borrowed. Any bytes are a valid
        // integer, and this process accesses them by atomics only.
        unsafe { self.start.add(offset).cast().as_ref() }
    }

    /// Returns the 32-bit word at this offset. Callers must use no other method for these bytes.
    ///
    /// # Panics
    /// Panics if the offset is beyond the mapping, or not a multiple of eight.
    #[inline]
    pub(crate) fn half_word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(8) && offset < self.len);
        // SAFETY: the four bytes at this offset are mapped and aligned, for the reasons in `word`.
        unsafe { self.start.add(offset).cast().as_ref() }
    }

    /// Returns the bytes of a range.
    ///
    /// # Panics
    /// Panics if the range is beyond the mapping.
    pub(crate) fn bytes(&self, offset: usize, len: usize) -> &[AtomicU8] {
        assert!(offset.checked_add(len).is_some_and(|end| end <= self.len));
        // SAFETY: `len` bytes from this offset on are mapped while `self` is borrowed. Each byte is an integer
        // that needs no alignment, and is accessed by atomics only.
        unsafe { std::slice::from_raw_parts(self.start.add(offset).cast().as_ptr(), len) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` mapped this address and length, and nothing borrows the mapping any more. With valid
        // arguments the call does not fail, so the result is ignored.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}
