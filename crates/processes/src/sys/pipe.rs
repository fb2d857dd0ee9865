//! Writes to a pipe without `SIGPIPE`, even if the pipe has no reader.

use std::{io, os::fd::BorrowedFd, ptr};

/// Writes one byte to a pipe. If the pipe has no reader, returns an error. The program gets no `SIGPIPE`, however it
/// handles this signal. But if the calling thread blocks `SIGPIPE`, the signal stays pending.
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
        // SAFETY: the set and the time are initialised; the information about the signal may be null.
        unsafe { libc::sigtimedwait(&pipe_signal, ptr::null_mut(), &now) };
    }
    // SAFETY: `before` was filled in above; the pointer for the old set may be null.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut()) };
    written.map(drop).map_err(Into::into)
}

/// Returns the set that contains only this signal, or the empty set for 0.
fn only(signal: libc::c_int) -> libc::sigset_t {
    // SAFETY: a `sigset_t` of zeros is valid; it is made empty below.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is live; an invalid signal number is only an error.
    unsafe {
        libc::sigemptyset(&mut set);
        if signal != 0 {
            libc::sigaddset(&mut set, signal);
        }
    }
    set
}
