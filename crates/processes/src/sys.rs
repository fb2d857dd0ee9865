//! Everything that is unsafe or needs Linux: mappings, noticing a fork, and writing without a signal.

use std::{
    io,
    os::fd::BorrowedFd,
    ptr::{self, NonNull},
    sync::{
        OnceLock,
        atomic::{
            AtomicI64, AtomicU8, AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

/// A file's beginning, mapped so that every process that maps it sees the same words.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: it is memory of the whole process, and only ever accessed through atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `len` bytes of `file`, which must have that many.
    pub(crate) fn new(file: BorrowedFd<'_>, len: usize) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address, so no memory in use is touched.
        let start = unsafe { mmap(ptr::null_mut(), len, access, MapFlags::SHARED, file, 0) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Mapping { start, len })
    }

    /// The word at this offset.
    ///
    /// # Panics
    /// If there is none, or if it does not lie as a word must.
    #[inline]
    pub(crate) fn word(&self, offset: usize) -> &AtomicI64 {
        assert!(offset.is_multiple_of(8) && offset < self.len);
        // SAFETY: eight aligned bytes from there are mapped, for pages are, `len` is a multiple of
        // eight, and the assertion holds. They stay mapped as long as `self` is borrowed. Whatever
        // they hold is an integer, and nobody in this process accesses them but by atomics.
        unsafe { self.start.add(offset).cast().as_ref() }
    }

    /// The bytes of a part.
    ///
    /// # Panics
    /// If the part is not mapped.
    pub(crate) fn bytes(&self, offset: usize, len: usize) -> &[AtomicU8] {
        assert!(offset.checked_add(len).is_some_and(|end| end <= self.len));
        // SAFETY: so many bytes from there are mapped as long as `self` is borrowed; each is an
        // integer that is accessed by atomics only, and needs no alignment.
        unsafe { std::slice::from_raw_parts(self.start.add(offset).cast().as_ptr(), len) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this address and length, and nobody borrows it any more. That
        // it cannot fail is all there is to say of an error.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Tells a process from the one that it was forked from: another number in each.
#[inline]
pub(crate) fn generation() -> u64 {
    static PAGE: OnceLock<Option<Wiped>> = OnceLock::new();
    match PAGE.get_or_init(Wiped::new) {
        Some(page) => page.number(),
        None => u64::from(std::process::id()), // slower, and fooled where a PID comes again
    }
}

/// A number that is zero in a forked child.
struct Wiped(&'static AtomicU64);

impl Wiped {
    fn new() -> Option<Self> {
        let len = rustix::param::page_size();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address, so no memory in use is touched.
        let page =
            unsafe { mmap_anonymous(ptr::null_mut(), len, access, MapFlags::PRIVATE) }.ok()?;
        // SAFETY: it is the mapping just made, and nothing refers to what is in it yet.
        unsafe { madvise(page, len, Advice::LinuxWipeOnFork) }.ok()?;
        // SAFETY: a page is aligned and large enough, zeroes are an integer, and it is never unmapped.
        Some(Wiped(unsafe { &*page.cast::<AtomicU64>() }))
    }

    #[inline]
    fn number(&self) -> u64 {
        // ORDERING: relaxed, for the number is all that is read, and a process has one for ever.
        match self.0.load(Relaxed) {
            0 => self.begin(),
            number => number,
        }
    }

    #[cold]
    fn begin(&self) -> u64 {
        // Copied into every child, where it goes on counting.
        static LAST: AtomicU64 = AtomicU64::new(0);
        let mine = LAST.fetch_add(1, SeqCst) + 1;
        match self.0.compare_exchange(0, mine, SeqCst, SeqCst) {
            Ok(_) => mine,
            Err(other) => other,
        }
    }
}

/// Writes one byte to a pipe; if nobody reads it, that is an error and not a signal, whatever the
/// program does with `SIGPIPE`.
pub(crate) fn write_byte(pipe: BorrowedFd<'_>) -> io::Result<()> {
    let pipe_signal = only(libc::SIGPIPE);
    let mut before = only(0);
    // SAFETY: both sets are initialised and live during the call.
    let blocked = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &pipe_signal, &mut before) } == 0;
    let written = rustix::io::write(pipe, &[1]);
    if !blocked {
        return written.map(drop).map_err(Into::into);
    }
    // SAFETY: `before` was filled in above.
    let was_blocked = unsafe { libc::sigismember(&before, libc::SIGPIPE) } == 1;
    if written == Err(rustix::io::Errno::PIPE) && !was_blocked {
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the set and the time are initialised, and no information is asked for.
        unsafe { libc::sigtimedwait(&pipe_signal, ptr::null_mut(), &now) };
    }
    // SAFETY: `before` was filled in above, and where the old set would go may be null.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut()) };
    written.map(drop).map_err(Into::into)
}

/// The set of this signal alone; of none for 0.
fn only(signal: libc::c_int) -> libc::sigset_t {
    // SAFETY: a `sigset_t` of zeroes is valid, and is then made empty.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is live; a number that is no signal only gives an error.
    unsafe {
        libc::sigemptyset(&mut set);
        if signal != 0 {
            libc::sigaddset(&mut set, signal);
        }
    }
    set
}
