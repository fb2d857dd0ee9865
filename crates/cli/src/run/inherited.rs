//! How whoever started hallpass wants signals to be treated, and how the command comes to be
//! treated the same.
//!
//! Rust lets programs ignore a closed pipe and starts their children with nothing blocked, and
//! hallpass itself cannot do with an ignored SIGCHLD. None of this is any business of the command.
#![allow(unsafe_code)]

use std::{
    io, mem,
    os::unix::process::CommandExt,
    process::{self, Command},
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};

use nix::{
    libc,
    sys::{
        prctl,
        signal::{SigHandler, SigSet, Signal, raise, signal},
    },
    unistd,
};

/// Whether SIGPIPE was ignored before Rust's runtime let it be ignored.
static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);

extern "C" fn remember_pipe() {
    PIPE_IGNORED.store(is_ignored(Signal::SIGPIPE), Ordering::Relaxed);
}

/// What stands in this section is called before `main`, and so before Rust's runtime.
// SAFETY: the section holds pointers to functions of this signature, and this one needs nothing
// that has to be set up first.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = remember_pipe;

/// Whether this process ignores `signal`.
pub fn is_ignored(signal: Signal) -> bool {
    // SAFETY: all bytes zero is a value of this plain C structure.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: nothing is set, and `action` has room for what is asked.
    let asked = unsafe { libc::sigaction(signal as libc::c_int, ptr::null(), &mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// What the command shall find.
#[derive(Clone, Copy)]
pub struct Inherited {
    blocked: SigSet,
    pipe_ignored: bool,
    child_ignored: bool,
}

impl Inherited {
    pub fn now() -> io::Result<Self> {
        Ok(Inherited {
            blocked: SigSet::thread_get_mask()?,
            pipe_ignored: PIPE_IGNORED.load(Ordering::Relaxed),
            child_ignored: is_ignored(Signal::SIGCHLD),
        })
    }

    /// Lets a child's end be known to us: while SIGCHLD is ignored the system keeps it to itself.
    pub fn notice_children(self) -> io::Result<()> {
        if self.child_ignored {
            // SAFETY: the default action is no function of ours.
            unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) }?;
        }
        Ok(())
    }

    /// Lets `command` find it so.
    pub fn pass_on(self, command: &mut Command) {
        let in_child = move || {
            for (ignored, which) in
                [(self.pipe_ignored, Signal::SIGPIPE), (self.child_ignored, Signal::SIGCHLD)]
            {
                if ignored {
                    // SAFETY: ignoring is no function of ours.
                    unsafe { signal(which, SigHandler::SigIgn) }?;
                }
            }
            Ok(self.blocked.thread_set_mask()?)
        };
        // SAFETY: it calls only `sigaction` and `pthread_sigmask`, which may be called between
        // fork and exec, and does not allocate.
        unsafe { command.pre_exec(in_child) };
    }
}

/// Lets the command be killed when this thread ends.
pub fn die_with_us(command: &mut Command) {
    let us = process::id();
    let in_child = move || {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        // We may have been killed before that, and then nobody would tell it.
        if unistd::getppid().as_raw() as u32 != us {
            raise(Signal::SIGKILL)?;
        }
        Ok(())
    };
    // SAFETY: it calls only `prctl`, `getppid` and `raise`, which may be called between fork and
    // exec, and does not allocate.
    unsafe { command.pre_exec(in_child) };
}
