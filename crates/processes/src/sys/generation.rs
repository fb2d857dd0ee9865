//! A number that differs between a process and its forked children, to notice a fork.

use std::{
    ptr,
    sync::{
        OnceLock,
        atomic::{
            AtomicU64,
            Ordering::{Relaxed, SeqCst},
        },
    },
};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};

/// Returns a number that differs between a process and its forked children.
#[inline]
pub(crate) fn generation() -> u64 {
    static PAGE: OnceLock<Option<Wiped>> = OnceLock::new();
    match PAGE.get_or_init(Wiped::new) {
        Some(page) => page.number(),
        None => u64::from(std::process::id()), // slower, and wrong if a PID is reused
    }
}

/// A number that the kernel sets to zero in a forked child.
struct Wiped(&'static AtomicU64);

impl Wiped {
    fn new() -> Option<Self> {
        let len = rustix::param::page_size();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address, so no memory in use is touched.
        let page =
            unsafe { mmap_anonymous(ptr::null_mut(), len, access, MapFlags::PRIVATE) }.ok()?;
        // SAFETY: this is the mapping made above, and nothing refers to its content yet.
        unsafe { madvise(page, len, Advice::LinuxWipeOnFork) }.ok()?;
        // SAFETY: a page is aligned and large enough, its zeros are a valid integer, and it is never unmapped.
        Some(Wiped(unsafe { &*page.cast::<AtomicU64>() }))
    }

    #[inline]
    fn number(&self) -> u64 {
        // ORDERING: relaxed. Only the number is read, and it never changes within a process.
        match self.0.load(Relaxed) {
            0 => self.begin(),
            number => number,
        }
    }

    #[cold]
    fn begin(&self) -> u64 {
        // A forked child continues from a copy of this counter, so it gets a larger number than its parent had.
        static LAST: AtomicU64 = AtomicU64::new(0);
        let mine = LAST.fetch_add(1, SeqCst) + 1;
        match self.0.compare_exchange(0, mine, SeqCst, SeqCst) {
            Ok(_) => mine,
            Err(other) => other,
        }
    }
}
