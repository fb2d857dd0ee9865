//! Signal masks, signal actions, and a descriptor from which signals are read. rustix has no functions for them, so
//! this module wraps functions of the C library safely.
#![allow(unsafe_code)]

use std::{
    io, mem,
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
    ptr,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicUsize, Ordering},
    },
};

use rustix::process::Signal;

/// A set of signals.
#[derive(Clone, Copy)]
pub struct SignalSet(libc::sigset_t);

impl SignalSet {
    fn empty() -> Self {
        // SAFETY: all bytes zero is a value of this plain C structure, and `sigemptyset` fills it.
        let mut set = unsafe { mem::zeroed() };
        // SAFETY: `set` is a set to write to.
        unsafe { libc::sigemptyset(&mut set) };
        SignalSet(set)
    }

    pub fn of(signals: impl IntoIterator<Item = Signal>) -> Self {
        let mut set = SignalSet::empty();
        for signal in signals {
            // SAFETY: the set was initialised by `sigemptyset`.
            unsafe { libc::sigaddset(&mut set.0, signal.as_raw()) };
        }
        set
    }

    /// Returns the set of all signals.
    pub fn all() -> Self {
        let mut set = SignalSet::empty();
        // SAFETY: `set` is a set to write to.
        unsafe { libc::sigfillset(&mut set.0) };
        set
    }

    /// Returns the signals that this thread blocks.
    pub fn blocked() -> io::Result<Self> {
        let mut set = SignalSet::empty();
        // SAFETY: the call changes no mask, and `set` has room for the answer.
        check_error(unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), &mut set.0) })?;
        Ok(set)
    }

    /// Blocks these signals in this thread.
    pub fn block(&self) -> io::Result<()> {
        self.apply(libc::SIG_BLOCK)
    }

    /// Unblocks these signals in this thread.
    pub fn unblock(&self) -> io::Result<()> {
        self.apply(libc::SIG_UNBLOCK)
    }

    /// Blocks exactly these signals in this thread, and unblocks all others. May be called between fork and exec.
    pub fn block_only(&self) -> io::Result<()> {
        self.apply(libc::SIG_SETMASK)
    }

    /// Returns the set as a C type.
    pub fn as_raw(&self) -> &libc::sigset_t {
        &self.0
    }

    fn apply(&self, how: libc::c_int) -> io::Result<()> {
        // SAFETY: the set is initialised, and the pointer for the old mask may be null.
        check_error(unsafe { libc::pthread_sigmask(how, &self.0, ptr::null_mut()) })
    }
}

/// Converts the result of `pthread_sigmask`, which returns the error instead of setting `errno`.
fn check_error(code: libc::c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}

/// Returns `true` if this process ignores `signal`.
pub fn is_ignored(signal: Signal) -> bool {
    // SAFETY: all bytes zero is a value of this plain C structure.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: the call changes no action, and `action` has room for the answer.
    let asked = unsafe { libc::sigaction(signal.as_raw(), ptr::null(), &mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Ignores `signal` in this process. May be called between fork and exec.
pub fn ignore(signal: Signal) -> io::Result<()> {
    set_disposition(signal, libc::SIG_IGN)
}

/// Gives `signal` its default action in this process. May be called between fork and exec.
pub fn set_default(signal: Signal) -> io::Result<()> {
    set_disposition(signal, libc::SIG_DFL)
}

fn set_disposition(signal: Signal, disposition: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: the disposition is SIG_IGN or SIG_DFL, so no code of this program runs in a handler.
    match unsafe { libc::signal(signal.as_raw(), disposition) } {
        libc::SIG_ERR => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Sends `signal` to this thread.
pub fn raise(signal: Signal) -> io::Result<()> {
    // SAFETY: an invalid signal number is only an error.
    match unsafe { libc::raise(signal.as_raw()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The exit status of this process if a file that it has mapped is truncated.
static STATUS_ON_BUS_ERROR: AtomicU8 = AtomicU8::new(1);

/// Handles SIGBUS, which this process gets if another program truncates the file of a hall. The process then ends
/// with `status` and a message. Later calls change the status.
pub fn exit_on_truncated_file(status: u8) {
    STATUS_ON_BUS_ERROR.store(status, Ordering::SeqCst);
    let handler: extern "C" fn(libc::c_int) = on_bus_error;
    // SAFETY: the handler makes only calls that are allowed in a handler, and does not return to the failed access.
    unsafe { libc::signal(libc::SIGBUS, handler as libc::sighandler_t) };
}

extern "C" fn on_bus_error(_: libc::c_int) {
    const MESSAGE: &str = "hallpass: another program has truncated the file of a hall: remove the hall with \
                           `hallpass rm --force`\n";
    // SAFETY: the message has this length, and both calls are allowed in a signal handler.
    unsafe {
        libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(STATUS_ON_BUS_ERROR.load(Ordering::SeqCst).into())
    }
}

/// Catches SIGINT, SIGTERM and SIGHUP, so that they do not end this process. Returns a variable that contains the
/// number of the last one that arrived, or 0 if none has arrived yet.
pub fn catch_termination() -> io::Result<Arc<AtomicUsize>> {
    let arrived = Arc::new(AtomicUsize::new(0));
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let number = signal.as_raw();
        signal_hook::flag::register_usize(number, Arc::clone(&arrived), number as usize)?;
    }
    Ok(arrived)
}

/// A descriptor from which blocked signals are read.
pub struct SignalFd(OwnedFd);

/// A signal read from a [`SignalFd`].
pub struct Received {
    pub signal: Signal,
    /// `true` if the kernel sent the signal, as it does after Ctrl-C on the terminal.
    pub from_kernel: bool,
    /// The PID of the process that sent the signal.
    pub pid: i32,
}

impl SignalFd {
    pub fn new(signals: &SignalSet) -> io::Result<Self> {
        // SAFETY: the set is initialised, and -1 makes the call create a descriptor.
        let descriptor = unsafe { libc::signalfd(-1, &signals.0, libc::SFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call has just opened the descriptor, and nothing else owns it.
        Ok(SignalFd(unsafe { OwnedFd::from_raw_fd(descriptor) }))
    }

    /// Waits for a signal. Returns `None` if the wait was interrupted, or if rustix has no name for the signal.
    pub fn read(&self) -> io::Result<Option<Received>> {
        // SAFETY: all bytes zero is a value of this plain C structure.
        let mut info: libc::signalfd_siginfo = unsafe { mem::zeroed() };
        let size = mem::size_of_val(&info);
        let start = (&raw mut info).cast();
        // SAFETY: `info` has room for `size` bytes, and any bytes are a value of this plain C structure.
        let count = unsafe { libc::read(self.0.as_raw_fd(), start, size) };
        if count < 0 {
            return match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => Ok(None),
                error => Err(error),
            };
        }
        // The kernel writes whole structures only.
        Ok(Signal::from_named_raw(info.ssi_signo as i32).map(|signal| Received {
            signal,
            from_kernel: info.ssi_code == libc::SI_KERNEL,
            pid: info.ssi_pid as i32,
        }))
    }
}

impl AsFd for SignalFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
