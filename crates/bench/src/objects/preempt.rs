//! Taking the core from a thread for a while, wherever it is, as a scheduler does.
//!
//! A signal interrupts the thread, and its handler waits until the pause is over. One thread is paused
//! at a time. On Linux only; elsewhere threads cannot be paused.

#[cfg(target_os = "linux")]
pub use self::linux::{Pauser, own_id};
#[cfg(not(target_os = "linux"))]
pub use self::nowhere::{Pauser, own_id};

/// `true` if threads can be paused on this system.
pub const POSSIBLE: bool = cfg!(target_os = "linux");

#[cfg(target_os = "linux")]
mod linux {
    #![allow(unsafe_code)]

    use std::{
        io,
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

    /// Where nobody handles it, it does nothing.
    const SIGNAL: libc::c_int = libc::SIGURG;

    /// Odd during a pause; each pause has another number.
    static PAUSE: AtomicU32 = AtomicU32::new(0);
    /// Number of times that the handler has returned.
    static HANDLED: AtomicU32 = AtomicU32::new(0);
    /// There is one handler, and so one pauser at a time.
    static TURN: Mutex<()> = Mutex::new(());

    /// The system's number of this thread.
    pub fn own_id() -> u32 {
        // SAFETY: it takes nothing and cannot fail.
        unsafe { libc::gettid() as u32 }
    }

    /// Runs in the thread that is paused, in the middle of whatever it was doing: it may use atomics and
    /// system calls, and leaves `errno` as it was.
    extern "C" fn wait(_: libc::c_int) {
        // SAFETY: it is this thread's own, and always there.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: as above.
        let before = unsafe { *errno };
        let pause = PAUSE.load(SeqCst);
        while pause % 2 == 1 && PAUSE.load(SeqCst) == pause {
            // SAFETY: the word is static. It sleeps only if the pause still lasts, and nobody minds if it
            // wakes too early.
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
        // SAFETY: as above.
        unsafe { *errno = before };
    }

    /// Pauses threads of this process, one after the other.
    #[derive(Debug)]
    pub struct Pauser {
        _turn: MutexGuard<'static, ()>,
    }

    /// While there is one, a thread is paused.
    #[derive(Debug)]
    pub struct Paused<'a> {
        handled: u32,
        _pauser: PhantomData<&'a Pauser>,
    }

    impl Pauser {
        /// One that can begin.
        pub fn new() -> io::Result<Self> {
            let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: all zeros is such a value; what counts is set below.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            action.sa_sigaction = wait as extern "C" fn(libc::c_int) as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            // SAFETY: the handler keeps to what handlers may do, and stays permanently: a signal that comes
            // late finds it.
            match unsafe { libc::sigaction(SIGNAL, &action, null_mut()) } {
                0 => Ok(Pauser { _turn: turn }),
                _ => Err(io::Error::last_os_error()),
            }
        }

        /// For how many nanoseconds a thread of this process has had a core so far.
        pub fn ran_for(&self, id: u32) -> Option<u64> {
            // How Linux calls the clock of another thread: the number inverted, and what the last three
            // bits say, "a thread" and "to the nanosecond".
            let clock = (!(id as libc::clockid_t) << 3) | 4 | 2;
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the time is written to what is there.
            let got = unsafe { libc::clock_gettime(clock, &mut time) };
            (got == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
        }

        /// Pauses a thread of this process, if there is one of that number.
        pub fn pause(&mut self, id: u32) -> Option<Paused<'_>> {
            let handled = HANDLED.load(SeqCst);
            PAUSE.fetch_add(1, SeqCst);
            // SAFETY: it takes numbers, and this process handles the signal.
            let sent = unsafe { libc::syscall(libc::SYS_tgkill, process::id(), id, SIGNAL) };
            if sent != 0 {
                PAUSE.fetch_add(1, SeqCst);
                return None;
            }
            Some(Paused { handled, _pauser: PhantomData })
        }
    }

    impl Drop for Paused<'_> {
        /// Lets the thread go, and waits until it does: a signal that is still on its way would catch it
        /// in the next pause, besides the one that is meant.
        fn drop(&mut self) {
            PAUSE.fetch_add(1, SeqCst);
            // SAFETY: the word is static.
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
mod nowhere {
    use std::io;

    /// No thread has a number.
    pub fn own_id() -> u32 {
        0
    }

    /// There is none.
    #[derive(Debug)]
    pub enum Pauser {}

    impl Pauser {
        /// Says that there is none.
        pub fn new() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// Never asked.
        pub fn ran_for(&self, _: u32) -> Option<u64> {
            match *self {}
        }

        /// Never asked.
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
    fn who_is_paused_makes_no_step_and_goes_on_afterwards() {
        let (id, steps, over) = (AtomicU32::new(0), AtomicU64::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                id.store(own_id(), SeqCst);
                while !over.load(SeqCst) {
                    steps.fetch_add(1, SeqCst);
                }
            });
            let goes_on = |from: u64| while steps.load(SeqCst) <= from {};
            goes_on(0);
            let mut pauser = Pauser::new().expect("signals can be handled");
            let ran_for = pauser.ran_for(id.load(SeqCst)).expect("it is there");
            goes_on(steps.load(SeqCst));
            assert!(pauser.ran_for(id.load(SeqCst)) > Some(ran_for));
            for _ in 0..5 {
                let paused = pauser.pause(id.load(SeqCst)).expect("it is there");
                // The signal may be on its way for a moment.
                let mut seen = 0;
                while seen != steps.load(SeqCst) {
                    seen = steps.load(SeqCst);
                    thread::sleep(Duration::from_millis(10));
                }
                thread::sleep(Duration::from_millis(5));
                assert_eq!(steps.load(SeqCst), seen);
                drop(paused);
                goes_on(seen);
            }
            over.store(true, SeqCst);
        });
        assert!(Pauser::new().expect("signals can be handled").pause(u32::MAX / 4).is_none());
    }
}
