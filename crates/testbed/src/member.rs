//! One member of a cluster: a process that can be killed, paused and started again.

use std::{
    fs::{self, File, OpenOptions},
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{http, nursery};

/// One member of a cluster.
pub struct Member {
    index: usize,
    client_port: u16,
    folder: PathBuf,
    /// The command-line arguments of etcd.
    words: Vec<String>,
    /// The process of the member, or `None` while it is dead.
    child: Mutex<Option<Child>>,
    /// The id of the member's process. The proxies between members use it.
    pid: Arc<AtomicU32>,
}

/// How to start a member: its addresses and those of its peers, its directory, and flags.
pub(crate) struct Plan<'a> {
    pub index: usize,
    pub client_port: u16,
    pub peer_port: u16,
    /// The address of the proxy that the other members use instead of `peer_port`.
    pub peer_path: SocketAddr,
    pub all_members: &'a str,
    pub folder: &'a Path,
    /// Additional flags for etcd.
    pub flags: &'a [&'a str],
    pub pid: Arc<AtomicU32>,
}

impl Member {
    pub(crate) fn new(plan: Plan) -> Member {
        let Plan { index, client_port, peer_port, peer_path, all_members, folder, flags, pid } =
            plan;
        // Every cluster has its own identity, even if an earlier one had the same ports.
        let token = folder.file_name().unwrap_or_default().to_string_lossy();
        let folder = folder.join(format!("m{index}"));
        let words = format!(
            "--name m{index} --data-dir {} --log-level warn --logger zap \
             --listen-client-urls http://127.0.0.1:{client_port} \
             --advertise-client-urls http://127.0.0.1:{client_port} \
             --listen-peer-urls http://127.0.0.1:{peer_port} \
             --initial-advertise-peer-urls http://{peer_path} \
             --initial-cluster {all_members} --initial-cluster-state new --initial-cluster-token {token}",
            folder.display()
        );
        let words = words.split_whitespace().chain(flags.iter().copied());
        let words = words.map(String::from).collect();
        Member { index, client_port, folder, words, child: Mutex::new(None), pid }
    }

    /// Returns the index of this member in the cluster.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the address of the member for clients.
    pub fn client_address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.client_port).into()
    }

    /// Returns the path of the member's log.
    pub fn log(&self) -> PathBuf {
        self.folder.with_extension("log")
    }

    /// Kills the member with SIGKILL, and waits until it is dead.
    pub fn kill(&self) {
        if let Some(mut child) = self.child.lock().expect("not poisoned").take() {
            child.kill().expect("the process is a child of this process");
            child.wait().expect("the process is a child of this process");
        }
    }

    /// Starts the member again if it is dead, with its data and addresses. Does not wait until it
    /// answers.
    pub fn restart(&self) {
        let mut child = self.child.lock().expect("not poisoned");
        if child.as_mut().is_some_and(is_alive) {
            return;
        }
        let log = OpenOptions::new().create(true).append(true).open(self.log());
        let log = log.expect("the log can be opened");
        let mut command = nursery::mortal("etcd");
        command.args(&self.words).stdin(Stdio::null()).stdout(clone(&log)).stderr(log);
        let started = nursery::spawn(command).expect("etcd starts");
        self.pid.store(started.id(), SeqCst);
        *child = Some(started);
    }

    /// Kills the member, copies its data to a directory beside the data, and starts the member again.
    /// The copy replaces an earlier copy.
    ///
    /// # Panics
    /// Panics if the data cannot be copied.
    pub fn back_up(&self) {
        self.kill();
        copy(&self.folder, &self.backup());
        self.restart();
    }

    /// Replaces the member's data with the copy of [`back_up`](Member::back_up), and starts the member
    /// again. Everything that was written since the copy is lost.
    ///
    /// # Panics
    /// Panics if there is no copy.
    pub fn restore(&self) {
        self.kill();
        copy(&self.backup(), &self.folder);
        self.restart();
    }

    /// Deletes the member's data, and starts the member again without data.
    ///
    /// # Panics
    /// Panics if the data cannot be deleted.
    pub(crate) fn wipe(&self) {
        self.kill();
        fs::remove_dir_all(&self.folder).expect("the member had data");
        self.restart();
    }

    fn backup(&self) -> PathBuf {
        self.folder.with_extension("backup")
    }

    /// Stops the member's process. The member then behaves as if its disk were stuck: it does not
    /// answer, and its connections stay open.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Continues a paused member.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Sends a signal to the process. The process is not reaped while the lock is held, so its id is not
    /// reused.
    fn signal(&self, signal: Signal) {
        let mut child = self.child.lock().expect("not poisoned");
        if let Some(child) = child.as_mut()
            && is_alive(child)
        {
            kill_process(Pid::from_child(child), signal)
                .expect("the process is a child of this process");
        }
    }

    /// Returns whether the member answers and has a leader.
    pub fn is_healthy(&self) -> bool {
        let answer = http::get(self.client_address(), "/health");
        answer.is_ok_and(|answer| answer["health"] == "true")
    }

    /// Waits until the member is healthy. Returns `false` if this takes longer than `within`.
    pub fn becomes_healthy(&self, within: Duration) -> bool {
        let start = Instant::now();
        while !self.is_healthy() {
            if start.elapsed() > within || self.has_ended() {
                return false;
            }
            thread::sleep(Duration::from_millis(20));
        }
        true
    }

    fn has_ended(&self) -> bool {
        let mut child = self.child.lock().expect("not poisoned");
        !child.as_mut().is_some_and(is_alive)
    }

    /// Returns the number of requests that the member has begun to serve.
    pub(crate) fn requests(&self) -> u64 {
        let metrics =
            http::get_text(self.client_address(), "/metrics").expect("the member answers");
        let started = metrics.lines().filter(|line| line.starts_with("grpc_server_started_total"));
        let counts = started.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
        counts.sum::<f64>() as u64
    }

    /// Returns the revision of the member's data, or `None` if the member does not answer.
    pub fn revision(&self) -> Option<u64> {
        self.status()?["header"]["revision"].as_str()?.parse().ok()
    }

    /// Returns the member's report about itself and the leader.
    pub(crate) fn status(&self) -> Option<Value> {
        http::post(self.client_address(), "/v3/maintenance/status", "{}").ok()
    }
}

impl Drop for Member {
    /// Kills the member. If the test has failed, first prints whether the member still runs, and the end of its log.
    fn drop(&mut self) {
        if thread::panicking() {
            let state = if self.has_ended() { "has ended" } else { "runs" };
            let log = fs::read_to_string(self.log()).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let end = &lines[lines.len().saturating_sub(20)..];
            eprintln!(
                "etcd member {} {state}. The end of its log:\n{}",
                self.index,
                end.join("\n")
            );
        }
        self.kill();
    }
}

fn is_alive(child: &mut Child) -> bool {
    child.try_wait().is_ok_and(|end| end.is_none())
}

fn clone(file: &File) -> File {
    file.try_clone().expect("a descriptor")
}

/// Replaces the directory `to` with a copy of `from`.
fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to); // the directory may not exist
    let copied = Command::new("cp").arg("-a").args([from, to]).status();
    assert!(copied.expect("cp runs").success(), "{} cannot be copied", from.display());
}
