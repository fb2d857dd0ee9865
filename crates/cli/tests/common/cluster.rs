//! The etcd cluster and the stores that the tests of one test program share, and helpers for tests of `hallpass run
//! --on`.
#![allow(dead_code, reason = "no test file uses all of it")]

use std::{fs, process::Output};

use hallpass_testbed::{EtcdCluster, Proxy};
use serde_json::Value;

use super::{Halls, Running, eventually, text};

/// Returns the cluster that all tests of this test program share. It has a single member. Returns `None` if etcd is
/// not installed.
pub fn cluster() -> Option<&'static EtcdCluster> {
    hallpass_testbed::etcd()?;
    Some(EtcdCluster::shared())
}

/// Returns the halls of one test on each store that is installed. On PostgreSQL, all tests share the halls.
pub fn stores(test: &str) -> Vec<Halls> {
    far_stores(test).into_iter().map(|far| far.near).collect()
}

/// Halls on a store that can be reached in two ways.
pub struct Far {
    /// The proxy between `halls` and the store.
    pub path: Proxy,
    pub halls: Halls,
    /// The same halls, without the proxy.
    pub near: Halls,
}

/// Returns the halls of one test on each store that is installed. On PostgreSQL, all tests share the halls.
pub fn far_stores(test: &str) -> Vec<Far> {
    let etcd = cluster().map(|etcd| {
        let path = Proxy::before(etcd.member(0));
        let halls = Halls::on(&format!("etcd://{}/{test}", path.address()));
        Far { halls, path, near: Halls::on(&format!("{}/{test}", etcd.url())) }
    });
    etcd.into_iter().chain(far_postgres()).collect()
}

#[cfg(feature = "postgres")]
fn far_postgres() -> Option<Far> {
    use hallpass_testbed::PostgresServer;
    hallpass_testbed::postgres()?;
    let server = PostgresServer::shared();
    let path = Proxy::before_address(server.address());
    let halls = Halls::on(&PostgresServer::url_through(&[path.address()]));
    Some(Far { halls, path, near: Halls::on(&server.url()) })
}

#[cfg(not(feature = "postgres"))]
fn far_postgres() -> Option<Far> {
    None
}

/// Returns the words of the command line of a process.
pub fn command_line(pid: i32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words =
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    words.collect()
}

impl Running {
    /// Returns the PID of the keeper of this `hallpass run`.
    pub fn keeper(&self) -> i32 {
        let path = format!("/proc/{0}/task/{0}/children", self.pid());
        let children = fs::read_to_string(path).expect("hallpass runs");
        let mut children = children.split_whitespace().map(|pid| pid.parse().expect("a number"));
        let is_keeper = |pid: &i32| command_line(*pid).get(1).is_some_and(|word| word == "keeper");
        children.find(is_keeper).expect("hallpass has a keeper")
    }
}

/// Returns the text that a command wrote to standard error.
pub fn stderr_of(output: &Output) -> String {
    text(&output.stderr)
}

/// Waits until the lease of the only holder of a hall is renewed once more. The ttl must be at least 12 s,
/// because hallpass renews the lease every `ttl / 10`, and etcd shows the remaining time in whole seconds.
pub fn await_renewal(cluster: &EtcdCluster, prefix: &str, hall: &str) {
    let lease = lease(cluster, &format!("{prefix}/{hall}/inside/"));
    let remaining = || {
        let shown = json(cluster, &["lease", "timetolive", &lease, "--write-out", "json"]);
        shown["ttl"].as_i64().expect("a number")
    };
    let mut lowest = remaining();
    eventually("the lease is renewed", || {
        let now = remaining();
        assert!(now > 0, "the lease has ended");
        lowest = lowest.min(now);
        now > lowest
    });
}

/// Returns the lease of the only key with this prefix, as `etcdctl` writes it.
fn lease(cluster: &EtcdCluster, prefix: &str) -> String {
    let found = json(cluster, &["get", "--prefix", prefix, "--write-out", "json"]);
    let lease = found["kvs"][0]["lease"].as_i64().expect("a holder has a lease");
    format!("{lease:x}")
}

fn json(cluster: &EtcdCluster, words: &[&str]) -> Value {
    let output = cluster.etcdctl(words).output().expect("etcdctl runs");
    assert!(output.status.success(), "{words:?}: {}", stderr_of(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}
