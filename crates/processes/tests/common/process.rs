//! Starting, suspending and ending processes.

use std::{
    io::{self, Write},
    panic::{self, AssertUnwindSafe},
};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid, getppid, kill_process,
    set_parent_process_death_signal, waitid, waitpid,
};

/// The exit status of a process that panics.
pub const PANICKED: i32 = 101;

/// Forks a child that runs `f` and exits with the status that `f` returns. The child is killed if this process
/// ends first. Only a process without other threads may call this, because the child would inherit the locks that
/// they hold.
pub fn fork(f: impl FnOnce() -> i32) -> Pid {
    let parent = getpid();
    fork_free(|| {
        set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
        // The parent may have ended already.
        if getppid() == Some(parent) { f() } else { PANICKED }
    })
}

/// Forks a child as [`fork`] does, but the child may outlive this process.
pub fn fork_free(f: impl FnOnce() -> i32) -> Pid {
    // Without this, both processes would print the buffered output.
    let _ = io::stdout().flush();
    // SAFETY: there are no other threads, so the child may do whatever this process may.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", io::Error::last_os_error()),
        0 => {
            let code = panic::catch_unwind(AssertUnwindSafe(f)).unwrap_or(PANICKED);
            exit(code)
        }
        pid => Pid::from_raw(pid).expect("it is not 0"),
    }
}

/// Ends this process now, without the clean-up code of the process from which it was forked.
pub fn exit(code: i32) -> ! {
    let _ = io::stdout().flush();
    // SAFETY: `_exit` is always allowed.
    unsafe { libc::_exit(code) }
}

/// Suspends a child with SIGSTOP, and returns when it is suspended.
#[allow(dead_code, reason = "not every test suspends a process")]
pub fn stop(pid: Pid) {
    kill_process(pid, Signal::STOP).unwrap();
    let status = waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED).unwrap();
    assert!(status.is_some_and(|status| status.stopped()), "{pid:?} ended");
}

/// Waits until a child has ended.
pub fn wait(pid: Pid) -> WaitStatus {
    loop {
        match waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => return status,
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("waiting for {pid:?}: {error}"),
        }
    }
}
