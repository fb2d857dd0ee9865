//! Making processes, and ending them.

use std::{
    io::{self, Write},
    panic::{self, AssertUnwindSafe},
};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid, getppid, kill_process,
    set_parent_process_death_signal, waitid, waitpid,
};

/// What a process ends with if it panics.
pub const PANICKED: i32 = 101;

/// Makes a process that runs `f` and ends with what it returns, and that is killed if this one ends
/// before. Only for processes without other threads: of these, the new one would have nothing but the
/// locks they held.
pub fn fork(f: impl FnOnce() -> i32) -> Pid {
    let parent = getpid();
    fork_free(|| {
        set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
        // It may have ended already.
        if getppid() == Some(parent) { f() } else { PANICKED }
    })
}

/// The same, and it lives on if this one ends.
pub fn fork_free(f: impl FnOnce() -> i32) -> Pid {
    // What is not yet printed would be printed twice.
    let _ = io::stdout().flush();
    // SAFETY: there are no other threads, so the new process may do whatever this one may.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", io::Error::last_os_error()),
        0 => {
            let code = panic::catch_unwind(AssertUnwindSafe(f)).unwrap_or(PANICKED);
            exit(code)
        }
        pid => Pid::from_raw(pid).expect("it is not 0"),
    }
}

/// Ends this process now: what the one it was forked from would clean up stays.
pub fn exit(code: i32) -> ! {
    let _ = io::stdout().flush();
    // SAFETY: it is always allowed.
    unsafe { libc::_exit(code) }
}

/// Stops a child, and returns when it is stopped.
#[allow(dead_code, reason = "not every test stops a process")]
pub fn stop(pid: Pid) {
    kill_process(pid, Signal::STOP).unwrap();
    let status = waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED).unwrap();
    assert!(status.is_some_and(|status| status.stopped()), "{pid:?} ended");
}

/// Waits until it has ended.
pub fn wait(pid: Pid) -> WaitStatus {
    loop {
        match waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => return status,
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("waiting for {pid:?}: {error}"),
        }
    }
}
