//! The hook of `--on-loss`: a command that runs when the pass is lost, while hallpass ends the command that had the
//! pass.

use std::{
    ffi::OsString,
    io,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};

use super::{environment::LOSS, explained, operands::in_shell, signal_settings::SignalSettings};
use crate::output::say;

/// The hook of `--on-loss` for one run of a command.
pub struct LossHook {
    command: Command,
    state: State,
    /// Messages for the user. They are printed when all processes have ended: standard error may be a full pipe that
    /// nobody reads, and hallpass must end the processes without waiting for a reader.
    messages: Vec<String>,
}

enum State {
    Ready,
    Running {
        child: Child,
        /// The time at which the hook is killed.
        kill_at: Instant,
    },
    /// The hook has ended, was killed, or could not start.
    Done,
}

impl LossHook {
    /// Prepares the shell command `line` with these variables, and with the signal settings of the caller of hallpass.
    pub fn new(line: OsString, variables: Vec<(String, String)>) -> io::Result<Self> {
        let words = in_shell(line);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).envs(variables);
        // The processes of the hook are in a separate group, so that hallpass can end all of them.
        command.stdin(Stdio::null()).process_group(0);
        SignalSettings::now()?.pass_on_and_die_with_us(&mut command);
        Ok(LossHook { command, state: State::Ready, messages: Vec::new() })
    }

    /// Starts the hook, which has the time `grace` to end. `why` is the reason for the loss. Later calls do nothing.
    pub fn start(&mut self, why: &str, grace: Duration) {
        if let State::Ready = self.state {
            self.state = match self.command.env(LOSS, why).spawn() {
                Ok(child) => State::Running { child, kill_at: Instant::now() + grace },
                Err(error) => {
                    let error = explained(&error);
                    self.messages.push(format!("cannot run the command of --on-loss: {error}"));
                    State::Done
                }
            };
        }
    }

    /// Returns `true` if the hook has not been started, has ended, or was killed.
    pub fn is_done(&mut self) -> bool {
        let State::Running { child, .. } = &mut self.state else { return true };
        match child.try_wait() {
            Ok(None) => return false,
            Ok(Some(status)) if status.success() => {}
            Ok(Some(status)) => {
                self.messages.push(format!("the command of --on-loss failed: {status}"));
            }
            Err(error) => {
                self.messages.push(format!("cannot wait for the command of --on-loss: {error}"));
            }
        }
        self.state = State::Done;
        true
    }

    /// Kills the hook, if it still runs although its time is over.
    pub fn kill_if_late(&mut self) {
        if self.is_done() {
            return;
        }
        if let State::Running { child, kill_at } = &mut self.state
            && Instant::now() >= *kill_at
        {
            // This process has not reaped the child, so the child's PID is still the number of its group.
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
            self.messages
                .push("the command of --on-loss did not end within --grace and was killed".into());
            // A process that hangs in the kernel, for example on a network file system, ends much later. hallpass does
            // not wait for it.
            let _ = child.try_wait();
            self.state = State::Done;
        }
    }
}

impl Drop for LossHook {
    fn drop(&mut self) {
        for message in &self.messages {
            say(format_args!("{message}"));
        }
    }
}
