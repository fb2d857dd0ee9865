//! What happens to a command when things go wrong: tried on each wrapper, and judged by observation.

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
    wrapper::{TTL, Wrapper},
};

/// How long the successor of a vanished holder may take on a busy machine; it needs about 2.2 TTLs.
const SUCCESSION: Duration = Duration::from_secs(60);
/// How long a stopped wrapper is watched for a successor that may come or not.
const STOPPED: Duration = Duration::from_secs(5 * TTL);
/// Prints its process id, and outlasts every trial.
const HOLD: [&str; 3] = ["sh", "-c", "echo $$; exec sleep 600"];
/// Prints `term` when it gets SIGTERM, and outlasts the trial.
const HEAR: [&str; 3] =
    ["sh", "-c", "trap 'echo term; exit' TERM; echo in; while true; do sleep 0.05; done"];

/// An experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trial {
    /// The command fails.
    Status,
    /// The command reads.
    Stdin,
    /// SIGTERM for the wrapper.
    Term,
    /// The lease is revoked.
    Revoked,
    /// The connection is cut.
    Cut,
    /// SIGSTOP for the wrapper.
    Stopped,
    /// SIGKILL for the wrapper.
    Killed,
}

/// All that is tried.
pub const TRIALS: [Trial; 7] = [
    Trial::Status,
    Trial::Stdin,
    Trial::Term,
    Trial::Revoked,
    Trial::Cut,
    Trial::Stopped,
    Trial::Killed,
];

/// Behaviour of a wrapper.
#[derive(Clone, Debug, Serialize)]
pub struct Behaviour {
    /// In which trial.
    pub trial: Trial,
    /// Of which wrapper.
    pub wrapper: Wrapper,
    /// `true` if it behaved as hoped.
    pub good: bool,
    /// Observations.
    pub seen: String,
}

impl Trial {
    /// The desired behaviour.
    pub fn hope(self) -> &'static str {
        match self {
            Trial::Status => "the exit status of the command is passed on",
            Trial::Stdin => "the command reads standard input",
            Trial::Term => "SIGTERM reaches the command",
            Trial::Revoked => "lease revoked: the command ends before the next begins",
            Trial::Cut => "connection cut: the command ends before the next begins",
            Trial::Stopped => "wrapper stopped: never two commands at once",
            Trial::Killed => "wrapper killed: the command ends before the next begins",
        }
    }

    /// Tries it.
    pub fn run(self, cluster: &EtcdCluster, wrapper: &Wrapper) -> Result<Behaviour, String> {
        let (good, seen) = match self {
            Trial::Status => status(cluster, wrapper)?,
            Trial::Stdin => stdin(cluster, wrapper)?,
            Trial::Term => term(cluster, wrapper)?,
            Trial::Revoked | Trial::Cut | Trial::Stopped | Trial::Killed => {
                let followed = self.succession(cluster, wrapper)?;
                let kept = self == Trial::Stopped && followed == Followed::Nobody;
                (followed == Followed::Alone || kept, followed.in_words().into())
            }
        };
        Ok(Behaviour { trial: self, wrapper: wrapper.clone(), good, seen })
    }

    /// One is in and one waits. Something happens to the first; what does the second one find?
    fn succession(self, cluster: &EtcdCluster, wrapper: &Wrapper) -> Result<Followed, String> {
        let name = format!("{self:?}").to_lowercase();
        let path = Proxy::before(cluster.member(0));
        let url =
            if self == Trial::Cut { format!("etcd://{}", path.address()) } else { cluster.url() };
        let first = Run::start(wrapper.command(&url, &name, &HOLD))?;
        let pid = first.says(PATIENCE).ok_or("a command did not get in")?;
        let holder = Holder::find(&pid)?;
        let look = format!(
            "read -r _ _ state _ 2>/dev/null </proc/{pid}/stat && [ $state != Z ] && echo both || echo alone"
        );
        let second = Run::start(wrapper.command(&cluster.url(), &name, &["sh", "-c", &look]))?;
        await_waiter(cluster, wrapper, &name)?;
        match self {
            Trial::Revoked => revoke(cluster, &wrapper.holders(&name))?,
            Trial::Cut => path.cut(),
            Trial::Stopped => first.signal(Signal::STOP)?,
            _ => first.signal(Signal::KILL)?,
        }
        let limit = if self == Trial::Stopped { STOPPED } else { SUCCESSION };
        let followed = match second.says(limit).as_deref() {
            Some("alone") => Followed::Alone,
            Some("both") => Followed::Both,
            None if is_running(&pid) => Followed::Nobody,
            _ => Followed::Lost,
        };
        drop(holder);
        Ok(followed)
    }
}

/// What the second command found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Followed {
    /// The first had ended.
    Alone,
    /// It had not.
    Both,
    /// Nothing, for it did not get in while the first went on.
    Nobody,
    /// Nothing, though the first had ended.
    Lost,
}

impl Followed {
    fn in_words(self) -> &'static str {
        match self {
            Followed::Alone => "the first had ended",
            Followed::Both => "both ran",
            Followed::Nobody => "the first kept the slot",
            Followed::Lost => "the first ended, but the second did not start",
        }
    }
}

/// Waits until a holder and a waiter have their keys.
fn await_waiter(cluster: &EtcdCluster, wrapper: &Wrapper, name: &str) -> Result<(), String> {
    let (keys, count) = wrapper.waiters(name);
    let begun = Instant::now();
    loop {
        let mut get = cluster.etcdctl(&["get", "--prefix", "--keys-only", &keys]);
        let found = get.output().map_err(failed)?.stdout;
        if found.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count() >= count {
            return Ok(());
        }
        if begun.elapsed() > PATIENCE {
            return Err("a command did not begin to wait".into());
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// The command of the holder. Some wrappers leave it behind; dropping this kills it.
struct Holder(OwnedFd);

impl Holder {
    fn find(pid: &str) -> Result<Holder, String> {
        let pid = pid.parse().ok().and_then(Pid::from_raw).ok_or("a command has no process id")?;
        pidfd_open(pid, PidfdFlags::empty()).map(Holder).map_err(failed)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // It may have ended.
        let _ = pidfd_send_signal(&self.0, Signal::KILL);
    }
}

fn is_running(pid: &str) -> bool {
    let stat = read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| stat.split_whitespace().nth(2) != Some("Z"))
}

fn status(cluster: &EtcdCluster, wrapper: &Wrapper) -> Result<(bool, String), String> {
    let mut command = wrapper.command(&cluster.url(), "status", &["sh", "-c", "exit 7"]);
    let output = command.stdin(Stdio::null()).output().map_err(failed)?;
    Ok((output.status.code() == Some(7), format!("7 became {}", output.status)))
}

fn stdin(cluster: &EtcdCluster, wrapper: &Wrapper) -> Result<(bool, String), String> {
    let mut command = wrapper.command(&cluster.url(), "stdin", &["cat"]);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().map_err(failed)?;
    // A command that does not read may have ended.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(b"a word"));
    let output = child.wait_with_output().map_err(failed)?;
    let heard = String::from_utf8_lossy(&output.stdout).contains("a word");
    Ok((heard, if heard { "it was read" } else { "it was empty" }.into()))
}

fn term(cluster: &EtcdCluster, wrapper: &Wrapper) -> Result<(bool, String), String> {
    let run = Run::start(wrapper.command(&cluster.url(), "term", &HEAR))?;
    run.says(PATIENCE).ok_or("a command did not get in")?;
    run.signal(Signal::TERM)?;
    let heard = run.says(PATIENCE).as_deref() == Some("term");
    Ok((heard, if heard { "it was told" } else { "it was not told" }.into()))
}

/// Revokes the lease of the oldest of these keys, which is the holder's.
fn revoke(cluster: &EtcdCluster, keys: &str) -> Result<(), String> {
    let mut get = cluster.etcdctl(&["get", "--prefix", "--write-out", "json", keys]);
    let answer: Value =
        serde_json::from_slice(&get.output().map_err(failed)?.stdout).map_err(failed)?;
    let found = answer["kvs"].as_array().into_iter().flatten();
    let oldest = found.min_by_key(|kv| kv["create_revision"].as_u64());
    let lease = oldest.and_then(|kv| kv["lease"].as_i64()).ok_or("there is no lease")?;
    let mut revoke = cluster.etcdctl(&["lease", "revoke", &format!("{lease:x}")]);
    match revoke.output().map_err(failed)?.status.success() {
        true => Ok(()),
        false => Err("the lease cannot be revoked".into()),
    }
}

/// A wrapper at work; killed when this is dropped.
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
        thread::spawn(move || {
            // Until the last writer or the reader is gone.
            let said = BufReader::new(stdout).lines().map_while(Result::ok);
            said.map(|line| sender.send(line)).take_while(Result::is_ok).for_each(drop);
        });
        Ok(Run { child, lines })
    }

    /// The next line, if it comes in time.
    fn says(&self, within: Duration) -> Option<String> {
        self.lines.recv_timeout(within).ok()
    }

    /// Not yet waited for, so the number is its own.
    fn signal(&self, signal: Signal) -> Result<(), String> {
        kill_process(Pid::from_child(&self.child), signal).map_err(failed)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // It may have ended.
        let _ = (self.child.kill(), self.child.wait());
    }
}
