//! A cluster for the tests of one file, and the processes of `hallpass run --on`.
#![allow(dead_code, reason = "each test file uses its part")]

use std::{
    fs,
    process::Output,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use hallpass_testbed::EtcdCluster;

use super::Running;

/// All who test at the same time share one, of a single member. None if there is no etcd here.
pub fn cluster() -> Option<Arc<EtcdCluster>> {
    static SHARED: Mutex<Weak<EtcdCluster>> = Mutex::new(Weak::new());
    hallpass_testbed::etcd()?;
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let cluster = shared.upgrade().unwrap_or_else(|| Arc::new(EtcdCluster::start(1)));
    *shared = Arc::downgrade(&cluster);
    Some(cluster)
}

/// The words of the command line of a process.
pub fn command_line(pid: i32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words =
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    words.collect()
}

impl Running {
    /// The process that speaks to etcd for it.
    pub fn keeper(&self) -> i32 {
        let path = format!("/proc/{0}/task/{0}/children", self.pid());
        let children = fs::read_to_string(path).expect("it runs");
        let mut children = children.split_whitespace().map(|pid| pid.parse().expect("a number"));
        children.find(|pid| command_line(*pid)[1] == "keeper").expect("it has a keeper")
    }
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
