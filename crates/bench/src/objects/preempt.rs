//! Takes the core from a thread for a while, at any instruction, as a scheduler does.
//!
//! A signal interrupts the thread, and the signal handler waits until the pause is over. Only one thread is paused
//! at a time. This works on Linux only; on other systems, threads cannot be paused.

#[cfg(target_os = "linux")]
pub use self::linux::{Pauser, own_id, time_without_core};
#[cfg(not(target_os = "linux"))]
pub use self::unsupported::{Pauser, own_id, time_without_core};

/// `true` if threads can be paused on this system.
pub const POSSIBLE: bool = cfg!(target_os = "linux");

#[cfg(target_os = "linux")]
mod linux {
    #![allow(unsafe_code)]

    use std::{
        fs, io,
        marker::PhantomData,
        process,
        ptr::{self, null_mut},
        sync::{
            Mutex, MutexGuard, PoisonError,
            atomic::{AtomicU32, Ordering::SeqCst},
        },
        thread,
        time::Duration,
    };

    /// A signal that is ignored by default, so it does no harm if no handler is set.
    const SIGNAL: libc::c_int = libc::SIGURG;

    /// The number of the current pause, which is odd. Between pauses, the number is even.
    static PAUSE: AtomicU32 = AtomicU32::new(0);
    /// Number of times that the handler has returned.
    static HANDLED: AtomicU32 = AtomicU32::new(0);
    /// Allows one pauser at a time, because there is one handler.
    static TURN: Mutex<()> = Mutex::new(());

    /// Returns the number by which the system identifies this thread.
    pub fn own_id() -> u32 {
        // SAFETY: the call takes no arguments and cannot fail.
        unsafe { libc::gettid() as u32 }
    }

    /// Returns the total time for which this thread was ready to run but had no core. Returns zero if the system does
    /// not measure this.
    pub fn time_without_core() -> Duration {
        let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let nanos = text.split_whitespace().nth(1).and_then(|word| word.parse().ok());
        Duration::from_nanos(nanos.unwrap_or(0))
    }

    /// Waits until the pause is over. This handler interrupts the paused thread at any instruction, so it uses
    /// only atomics and system calls, and restores `errno`.
    extern "C" fn wait(_: libc::c_int) {
        // SAFETY: `errno` belongs to this thread and always exists.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: the pointer is valid, and only this thread uses its `errno`.
        let before = unsafe { *errno };
        let pause = PAUSE.load(SeqCst);
        while pause % 2 == 1 && PAUSE.load(SeqCst) == pause {
            // SAFETY: `PAUSE` is static. The thread sleeps only if the pause still lasts, and the loop
            // handles a wake-up that comes too early.
            unsafe {
                let no_limit = ptr::null::<libc::timespec>();
                libc::syscall(
                    libc::SYS_futex,
                    PAUSE.as_ptr(),
                    libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                    pause,
                    no_limit,
                );
            }
        }
        HANDLED.fetch_add(1, SeqCst);
        // SAFETY: the pointer is valid, and only this thread uses its `errno`.
        unsafe { *errno = before };
    }

    /// Pauses threads of this process, one at a time.
    #[derive(Debug)]
    pub struct Pauser {
        _turn: MutexGuard<'static, ()>,
    }

    /// Keeps a thread paused until it is dropped.
    #[derive(Debug)]
    pub struct Paused<'a> {
        handled: u32,
        _pauser: PhantomData<&'a Pauser>,
    }

    impl Pauser {
        /// Waits until no other pauser exists, and installs the handler.
        pub fn new() -> io::Result<Self> {
            let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: all zeros are a valid `sigaction`; the fields that matter are set below.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            action.sa_sigaction = wait as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            // SAFETY: the handler does only what signal handlers may do, and it stays installed, so a late
            // signal finds it.
            match unsafe { libc::sigaction(SIGNAL, &action, null_mut()) } {
                0 => Ok(Pauser { _turn: turn }),
                _ => Err(io::Error::last_os_error()),
            }
        }

        /// Returns the total time for which a thread of this process has had a core, in nanoseconds.
        pub fn ran_for(&self, id: u32) -> Option<u64> {
            // Linux's number for the clock of another thread: the inverted thread number, followed by three bits that
            // mean "a thread" and "in nanoseconds".
            let clock = (!(id as libc::clockid_t) << 3) | 4 | 2;
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the kernel writes the time to a live local variable.
            let got = unsafe { libc::clock_gettime(clock, &mut time) };
            (got == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
        }

        /// Pauses the thread with this number. Returns `None` if this process has no such thread.
        pub fn pause(&mut self, id: u32) -> Option<Paused<'_>> {
            let handled = HANDLED.load(SeqCst);
            PAUSE.fetch_add(1, SeqCst);
            // SAFETY: all arguments are numbers, and this process handles the signal.
            let sent = unsafe { libc::syscall(libc::SYS_tgkill, process::id(), id, SIGNAL) };
            if sent != 0 {
                PAUSE.fetch_add(1, SeqCst);
                return None;
            }
            Some(Paused { handled, _pauser: PhantomData })
        }
    }

    impl Drop for Paused<'_> {
        /// Ends the pause, and waits until the handler has returned. Without this wait, a pending signal could pause
        /// the same thread again during the next pause, which is meant for a different thread.
        fn drop(&mut self) {
            PAUSE.fetch_add(1, SeqCst);
            // SAFETY: `PAUSE` is static.
            unsafe {
                let wake = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
                libc::syscall(libc::SYS_futex, PAUSE.as_ptr(), wake, i32::MAX);
            }
            while HANDLED.load(SeqCst) == self.handled {
                thread::sleep(Duration::from_micros(50));
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod unsupported {
    use std::{io, time::Duration};

    /// Returns 0: threads have no numbers here.
    pub fn own_id() -> u32 {
        0
    }

    /// Returns zero: this system does not measure this time.
    pub fn time_without_core() -> Duration {
        Duration::ZERO
    }

    /// A pauser, which does not exist on this system.
    #[derive(Debug)]
    pub enum Pauser {}

    impl Pauser {
        /// Returns an error: this system cannot pause threads.
        pub fn new() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// Cannot be called, because no pauser exists.
        pub fn ran_for(&self, _: u32) -> Option<u64> {
            match *self {}
        }

        /// Cannot be called, because no pauser exists.
        pub fn pause(&mut self, _: u32) -> Option<()> {
            match *self {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{
        sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst},
        thread,
        time::Duration,
    };

    use super::*;

    #[test]
    fn a_paused_thread_makes_no_step_and_continues_afterwards() {
        let (id, steps, over) = (AtomicU32::new(0), AtomicU64::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                id.store(own_id(), SeqCst);
                while !over.load(SeqCst) {
                    steps.fetch_add(1, SeqCst);
                }
            });
            let wait_for_a_step_after = |from: u64| while steps.load(SeqCst) <= from {};
            wait_for_a_step_after(0);
            let mut pauser = Pauser::new().expect("signals can be handled");
            let ran_for = pauser.ran_for(id.load(SeqCst)).expect("the thread exists");
            wait_for_a_step_after(steps.load(SeqCst));
            assert!(pauser.ran_for(id.load(SeqCst)) > Some(ran_for));
            for _ in 0..5 {
                let paused = pauser.pause(id.load(SeqCst)).expect("the thread exists");
                // The signal may be pending for a moment.
                let mut seen = 0;
                while seen != steps.load(SeqCst) {
                    seen = steps.load(SeqCst);
                    thread::sleep(Duration::from_millis(10));
                }
                thread::sleep(Duration::from_millis(5));
                assert_eq!(steps.load(SeqCst), seen);
                drop(paused);
                wait_for_a_step_after(seen);
            }
            over.store(true, SeqCst);
        });
        assert!(Pauser::new().expect("signals can be handled").pause(u32::MAX / 4).is_none());
    }
}
