//! Gives signals their default actions, as a shell at a terminal does, however the tests were started.

use std::{io, os::unix::process::CommandExt, process::Command};

use rustix::process::Signal;

/// The signals that may already be ignored when the tests start, because of nohup(1), a shell with background jobs or a
/// CI system. A child process inherits this, and a shell cannot trap a signal that was ignored when the shell started.
const MAYBE_IGNORED: [Signal; 10] = [
    Signal::INT,
    Signal::QUIT,
    Signal::HUP,
    Signal::TERM,
    Signal::USR1,
    Signal::USR2,
    Signal::TSTP,
    Signal::TTIN,
    Signal::TTOU,
    Signal::CHILD,
];

/// Lets `command` start with the default action for all signals in [`MAYBE_IGNORED`].
pub fn with_default_signals(command: &mut Command) -> &mut Command {
    let in_child = || {
        for signal in MAYBE_IGNORED {
            // SAFETY: `SIG_DFL` installs no signal handler.
            if unsafe { libc::signal(signal.as_raw(), libc::SIG_DFL) } == libc::SIG_ERR {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: the closure calls only `signal`, which may be called between fork and exec, and does
    // not allocate.
    unsafe { command.pre_exec(in_child) }
}
