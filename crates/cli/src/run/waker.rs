//! Wakes a suspended hallpass when its command runs again.
//!
//! hallpass suspends itself when its command is suspended, so that a shell sees a suspended job. A shell continues
//! both. But anybody may continue or kill the command alone, and a suspended hallpass would not notice this. So before
//! hallpass suspends itself, it starts a small process, the waker. The waker watches the command, and continues
//! hallpass when the command is no longer suspended.

use std::{
    env, fs, io,
    os::unix::process::CommandExt,
    process::{Child, Command, ExitCode, Stdio},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, getpid, getppid, kill_process};

/// The first argument of a waker. The other arguments are process ids. Users do not start wakers, so no help text
/// mentions this word.
const WORD: &str = "waker";
/// Time between two checks of the command.
const EVERY: Duration = Duration::from_millis(100);

/// The processes that a waker looks after: hallpass and its command.
pub type Pair = [Pid; 2];

/// Returns the processes in the command line, if this process is a waker.
pub fn called() -> Option<Pair> {
    let mut words = env::args_os().skip(1);
    words.next().filter(|word| word == WORD)?;
    let pids: Option<Vec<_>> =
        words.map(|word| Pid::from_raw(word.to_str()?.parse().ok()?)).collect();
    pids?.try_into().ok()
}

/// Watches the command, and continues hallpass when the command is no longer suspended. Returns when hallpass, the
/// parent of this process, has ended. Usually, hallpass kills this process before that.
pub fn run([hallpass, command]: Pair) -> ExitCode {
    // While hallpass is suspended, it does not reap the command, so no other process gets the id of the command.
    while getppid() == Some(hallpass) {
        if !is_suspended(command) {
            // Send the signal again and again, because the first one may come before hallpass is suspended.
            let _ = kill_process(hallpass, Signal::CONT);
        }
        thread::sleep(EVERY);
    }
    ExitCode::SUCCESS
}

/// Returns `true` if the process is suspended, or if this user may not see it. In both cases, there is no reason to
/// wake hallpass.
fn is_suspended(pid: Pid) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    // The name of the program, before the last parenthesis, may contain anything.
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['T', 't']))
}

/// A running waker. Dropping this value ends the waker.
pub struct Waker(Child);

impl Waker {
    /// Starts a waker for this process and its command.
    pub fn start(command: Pid) -> io::Result<Self> {
        let mut waker = Command::new("/proc/self/exe");
        waker.arg0("hallpass").arg(WORD).args([getpid(), command].map(|pid| pid.to_string()));
        waker.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // The waker must not get signals to the job, such as those of the terminal.
        waker.process_group(0).spawn().map(Waker)
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }
}

impl Drop for Waker {
    fn drop(&mut self) {
        // The waker is not reaped yet, so this does not fail.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
