//! Trials that show how a wrapper, `hallpass run` or `etcdctl lock`, treats its command when something goes wrong. Each
//! trial runs on both wrappers.

use std::{
    fs::read_to_string,
    io::{BufRead, BufReader, Write},
    os::fd::OwnedFd,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use hallpass_testbed::{EtcdCluster, Proxy};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use serde::Serialize;
use serde_json::Value;

use super::{
    PATIENCE, failed,
    wrapper::{LONG_TTL, TTL, Wrapper},
};

/// The time limit for the successor of a vanished holder on a busy machine. The successor needs about 2.2 TTLs.
const SUCCESSION: Duration = Duration::from_secs(60);
/// The time that a trial waits for a successor if the holder may keep its slot. It is longer than 2.2 TTLs.
const STOPPED: Duration = Duration::from_secs(3 * TTL);
/// The number of attempts at a trial. An attempt fails if a busy machine costs the holder its slot before the trial
/// begins.
const ATTEMPTS: usize = 5;
/// A command that prints its process id and runs longer than every trial.
const HOLD: [&str; 3] = ["sh", "-c", "echo $$; exec sleep 600"];
/// A command that prints its process id, prints `term` when it gets SIGTERM, and runs longer than the trial.
const PRINT_TERM: [&str; 3] =
    ["sh", "-c", "trap 'echo term; exit' TERM; echo $$; while true; do sleep 0.05; done"];
/// The time limit for a signal to reach the command, even on a busy machine.
const SIGNAL: Duration = Duration::from_secs(15);
/// The kernel's flag for a process that executes no more instructions of its program (`PF_EXITING`). The state of the
/// process becomes Z only some time later.
const EXITING: u32 = 4;

/// A trial. It is named after the event that happens to a wrapper or to its command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trial {
    /// The command fails.
    Status,
    /// The command reads standard input.
    Stdin,
    /// The wrapper gets SIGTERM.
    Term,
    /// The holder's lease is revoked.
    Revoked,
    /// The holder's connection is cut.
    Cut,
    /// The wrapper gets SIGSTOP.
    Stopped,
    /// The wrapper gets SIGKILL.
    Killed,
}

/// All trials.
pub const TRIALS: [Trial; 7] = [
    Trial::Status,
    Trial::Stdin,
    Trial::Term,
    Trial::Revoked,
    Trial::Cut,
    Trial::Stopped,
    Trial::Killed,
];

/// The behaviour of a wrapper in a trial.
#[derive(Clone, Debug, Serialize)]
pub struct Behaviour {
    /// The fault that this trial causes.
    pub trial: Trial,
    /// The wrapper that was tried.
    pub wrapper: Wrapper,
    /// `true` if the wrapper behaved as it should.
    pub good: bool,
    /// The observation of the trial.
    pub seen: String,
}

impl Trial {
    /// Returns the desired behaviour.
    pub fn expectation(self) -> &'static str {
        match self {
            Trial::Status => "the exit status of the command is passed on",
            Trial::Stdin => "the command reads standard input",
            Trial::Term => "SIGTERM reaches the command",
            Trial::Revoked => "lease revoked: never two commands at once",
            Trial::Cut => "connection cut: the command ends before the next begins",
            Trial::Stopped => "wrapper stopped: never two commands at once",
            Trial::Killed => "wrapper killed: the command ends before the next begins",
        }
    }

    /// Runs the trial on a wrapper.
    ///
    /// # Errors
    /// Returns the reason if the trial cannot be carried out.
    pub fn run(self, cluster: &EtcdCluster, wrapper: &Wrapper) -> Result<Behaviour, String> {
        let (good, seen) = match self {
            Trial::Status => status(cluster, wrapper)?,
            Trial::Stdin => stdin(cluster, wrapper)?,
            Trial::Term => term(cluster, wrapper)?,
            Trial::Revoked | Trial::Cut | Trial::Stopped | Trial::Killed => {
                let found = self.succession(cluster, wrapper)?;
                let kept = self.may_keep_slot() && found == Found::Nothing;
                (found == Found::Alone || kept, found.in_words().into())
            }
        };
        Ok(Behaviour { trial: self, wrapper: wrapper.clone(), good, seen })
    }

    /// Returns whether the first command may keep its slot in this trial.
    fn may_keep_slot(self) -> bool {
        matches!(self, Trial::Stopped | Trial::Revoked)
    }

    /// Starts a command that gets the slot, and a second command that waits. Then causes the fault of this trial for
    /// the first command, and returns what the second command finds when it starts.
    fn succession(self, cluster: &EtcdCluster, wrapper: &Wrapper) -> Result<Found, String> {
        for attempt in 0..ATTEMPTS {
            let name = format!("{self:?}{attempt}").to_lowercase();
            if let Some(found) = self.succession_in(&name, cluster, wrapper)? {
                return Ok(found);
            }
        }
        Err("the machine is too busy: the holder lost its slot before the trial began".into())
    }

    /// Makes one attempt in a hall of this name. Returns `None` if the holder lost its slot before the trial
    /// began.
    fn succession_in(
        self,
        name: &str,
        cluster: &EtcdCluster,
        wrapper: &Wrapper,
    ) -> Result<Option<Found>, String> {
        let path = Proxy::before(cluster.member(0));
        let url =
            if self == Trial::Cut { format!("etcd://{}", path.address()) } else { cluster.url() };
        let first = Run::start(wrapper.command(&url, TTL, name, &HOLD))?;
        let pid = first.line(PATIENCE).ok_or("a command did not get its slot")?;
        let _holder = Holder::find(&pid)?;
        let look = format!(
            "read -r _ _ _ _ _ _ _ _ flags _ 2>/dev/null </proc/{pid}/stat && \
             [ $((flags & {EXITING})) = 0 ] && echo both || echo alone"
        );
        let look = ["sh", "-c", &look];
        let second = Run::start(wrapper.command(&cluster.url(), TTL, name, &look))?;
        if !await_waiter(cluster, wrapper, name, &pid)? {
            return Ok(None);
        }
        match self {
            Trial::Revoked if !revoke(cluster, &wrapper.holders(name))? => return Ok(None),
            Trial::Revoked => {}
            Trial::Cut => path.cut(),
            Trial::Stopped => first.signal(Signal::STOP)?,
            _ => first.signal(Signal::KILL)?,
        }
        let limit = if self.may_keep_slot() { STOPPED } else { SUCCESSION };
        Ok(Some(match second.line(limit).as_deref() {
            Some("alone") => Found::Alone,
            Some("both") => Found::Both,
            None if is_running(&pid) => Found::Nothing,
            _ => Found::Lost,
        }))
    }
}

/// The state that the second command found when it started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    /// The first command had ended.
    Alone,
    /// The first command was still running.
    Both,
    /// The second command did not start, and the first kept running.
    Nothing,
    /// The second command did not start, although the first had ended.
    Lost,
}

impl Found {
    fn in_words(self) -> &'static str {
        match self {
            Found::Alone => "the first had ended",
            Found::Both => "both ran",
            Found::Nothing => "the first kept the slot",
            Found::Lost => "the first ended, but the second did not start",
        }
    }
}

/// Waits until another command waits for the slot of the holder with this process id. Returns `false` if the holder
/// ends first.
fn await_waiter(
    cluster: &EtcdCluster,
    wrapper: &Wrapper,
    name: &str,
    holder: &str,
) -> Result<bool, String> {
    let (keys, count) = wrapper.waiters(name);
    let begun = Instant::now();
    while is_running(holder) {
        let mut get = cluster.etcdctl(&["get", "--prefix", "--keys-only", &keys]);
        let found = get.output().map_err(failed)?.stdout;
        if found.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() >= count {
            return Ok(true);
        }
        if begun.elapsed() > PATIENCE {
            return Err("the second command did not join the queue".into());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(false)
}

/// The command of a holder. Some wrappers end without ending their command, so dropping this value kills the command.
struct Holder(OwnedFd);

impl Holder {
    fn find(pid: &str) -> Result<Holder, String> {
        let pid = pid.parse().ok().and_then(Pid::from_raw).ok_or("a command has no process id")?;
        pidfd_open(pid, PidfdFlags::empty()).map(Holder).map_err(failed)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // The command may have ended.
        let _ = pidfd_send_signal(&self.0, Signal::KILL);
    }
}

/// Returns whether a process still executes instructions of its program.
fn is_running(pid: &str) -> bool {
    let stat = read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let flags = stat.split_whitespace().nth(8).and_then(|flags| flags.parse::<u32>().ok());
    flags.is_some_and(|flags| flags & EXITING == 0)
}

fn status(cluster: &EtcdCluster, wrapper: &Wrapper) -> Result<(bool, String), String> {
    let mut command = wrapper.command(&cluster.url(), LONG_TTL, "status", &["sh", "-c", "exit 7"]);
    let output = command.stdin(Stdio::null()).output().map_err(failed)?;
    Ok((output.status.code() == Some(7), format!("7 became {}", output.status)))
}

fn stdin(cluster: &EtcdCluster, wrapper: &Wrapper) -> Result<(bool, String), String> {
    let mut command = wrapper.command(&cluster.url(), LONG_TTL, "stdin", &["cat"]);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().map_err(failed)?;
    // The write fails if the command has ended without reading.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(b"a word"));
    let output = child.wait_with_output().map_err(failed)?;
    let was_read = String::from_utf8_lossy(&output.stdout).contains("a word");
    Ok((was_read, if was_read { "it was read" } else { "it was empty" }.into()))
}

fn term(cluster: &EtcdCluster, wrapper: &Wrapper) -> Result<(bool, String), String> {
    let run = Run::start(wrapper.command(&cluster.url(), LONG_TTL, "term", &PRINT_TERM))?;
    let pid = run.line(PATIENCE).ok_or("a command did not get its slot")?;
    let _command = Holder::find(&pid)?;
    run.signal(Signal::TERM)?;
    let arrived = run.line(SIGNAL).as_deref() == Some("term");
    Ok((arrived, if arrived { "it arrived" } else { "it did not arrive" }.into()))
}

/// Revokes the lease of the oldest key with this prefix, which is the key of the holder. Returns `false` if there is
/// no such key, or the lease is gone.
fn revoke(cluster: &EtcdCluster, prefix: &str) -> Result<bool, String> {
    let mut get = cluster.etcdctl(&["get", "--prefix", "--write-out", "json", prefix]);
    let answer: Value =
        serde_json::from_slice(&get.output().map_err(failed)?.stdout).map_err(failed)?;
    let found = answer["kvs"].as_array().into_iter().flatten();
    let oldest = found.min_by_key(|kv| kv["create_revision"].as_u64());
    let Some(lease) = oldest.and_then(|kv| kv["lease"].as_i64()) else { return Ok(false) };
    let mut revoke = cluster.etcdctl(&["lease", "revoke", &format!("{lease:x}")]);
    Ok(revoke.output().map_err(failed)?.status.success())
}

/// A running wrapper. Dropping this value kills the wrapper.
struct Run {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Run {
    fn start(mut command: Command) -> Result<Run, String> {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().map_err(failed)?;
        let stdout = child.stdout.take().ok_or("there is no pipe")?;
        let (sender, lines) = mpsc::channel();
        // The thread ends when the last writer or the receiver is gone.
        thread::spawn(move || {
            let printed = BufReader::new(stdout).lines().map_while(Result::ok);
            printed.map(|line| sender.send(line)).take_while(Result::is_ok).for_each(drop);
        });
        Ok(Run { child, lines })
    }

    /// Returns the next line that the command prints, if it comes in time.
    fn line(&self, within: Duration) -> Option<String> {
        self.lines.recv_timeout(within).ok()
    }

    /// Sends a signal to the wrapper. The wrapper has not been reaped yet, so its process id is not reused.
    fn signal(&self, signal: Signal) -> Result<(), String> {
        kill_process(Pid::from_child(&self.child), signal).map_err(failed)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // The wrapper may have ended.
        let _ = (self.child.kill(), self.child.wait());
    }
}
