//! Starts an etcd for a test.

use std::{
    future::Future,
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use hallpass_testbed::{TIMEOUT, etcd, free_ports};
use tempfile::TempDir;

/// A cluster of one member. Dropping this value ends the member.
pub(super) struct Server {
    pub(super) port: u16,
    /// Further flags for etcdctl.
    pub(super) flags: Vec<String>,
    process: Child,
    _directory: TempDir,
}

impl Server {
    /// Starts the member. If etcd is not installed, returns `None` and prints a note, or panics if
    /// `HALLPASS_NEED_ETCD` is set.
    pub(super) fn start() -> Option<Server> {
        Server::start_with("http", &[], Vec::new())
    }

    /// Starts the member with this scheme, the flags `more` for etcd and the flags `flags` for etcdctl.
    pub(super) fn start_with(scheme: &str, more: &[String], flags: Vec<String>) -> Option<Server> {
        etcd()?;
        let deadline = Instant::now() + TIMEOUT;
        let mut server = Server::spawn(scheme, more, &flags);
        while !server.try_etcdctl(&["endpoint", "health"]).status.success() {
            assert!(Instant::now() < deadline, "etcd does not start");
            // Another program may have taken a port since it was found free.
            if server.process.try_wait().unwrap().is_some() {
                server = Server::spawn(scheme, more, &flags);
            }
            thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }

    /// Starts the member at free ports, and does not wait for it.
    fn spawn(scheme: &str, more: &[String], flags: &[String]) -> Server {
        let ports = free_ports(2);
        let (port, peer) = (ports[0], ports[1]);
        let directory = tempfile::tempdir().unwrap();
        let client = format!("{scheme}://127.0.0.1:{port}");
        let peer = format!("http://127.0.0.1:{peer}");
        let process = Command::new("etcd")
            .args(["--name", "m", "--initial-cluster", &format!("m={peer}"), "--unsafe-no-fsync"])
            .args(["--data-dir".as_ref(), directory.path().as_os_str()])
            .args(["--listen-client-urls", &client, "--advertise-client-urls", &client])
            .args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer])
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Server { port, flags: flags.to_vec(), process, _directory: directory }
    }

    pub(super) fn etcdctl(&self, arguments: &[&str]) {
        let output = self.try_etcdctl(arguments);
        assert!(output.status.success(), "etcdctl {arguments:?}: {output:?}");
    }

    fn try_etcdctl(&self, arguments: &[&str]) -> Output {
        let scheme = if self.flags.is_empty() { "http" } else { "https" };
        Command::new("etcdctl")
            .arg("--command-timeout=60s")
            .env("ETCDCTL_API", "3")
            .args(["--endpoints", &format!("{scheme}://127.0.0.1:{}", self.port)])
            .args(&self.flags)
            .args(arguments)
            .output()
            .unwrap()
    }

    pub(super) fn signal(&self, name: &str) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns a port that no process listens on at the moment.
pub(super) fn free_port() -> u16 {
    free_ports(1)[0]
}

/// Runs a test, and fails if it hangs.
pub(super) fn wait(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(4 * TIMEOUT, test).await.expect("the test does not hang");
    });
}
